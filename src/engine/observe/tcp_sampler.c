/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of TCP_INFO of a worker's connections, for the control thread: the worker reads them
 * between its other work, a few flows at a time. */
#include "engine/tcp_sampler.h"

#include <errno.h>

#include "engine/engine_priv.h"
#include "engine/tune.h"
#include "engine/observe/observe.h"
#include "host/clock.h"
#include "transport/transport.h"

struct list {
	uint32_t count;
	struct nm_tcp_sample *items; /* room for all connections */
};

/* The worker writes `now` from the question until its answer; the control thread reads `now` from
 * the answer until its next question. */
struct nm_tcp_sampler {
	_Atomic uint32_t asked, answered;
	uint32_t next; /* the flow to read next */
	struct list now, last;
	size_t bytes; /* of all this */
};

int nm_tcp_sampler_new(struct nm_worker *worker, unsigned flags, bool shared,
		       struct nm_tcp_sampler **ret_sampler)
{
	size_t room = (size_t)worker->n_flows * worker->group->n_conns;
	size_t head = (sizeof(struct nm_tcp_sampler) + 63) & ~(size_t)63;
	size_t bytes = head + 2 * room * sizeof(struct nm_tcp_sample);

	*ret_sampler = NULL;
	if (!(flags & NM_OBSERVE_TCP))
		return 0;
	char *block = nm_engine_alloc(bytes, shared);

	if (!block)
		return -ENOMEM;
	struct nm_tcp_sampler *sampler = (void *)block;

	sampler->bytes = bytes;
	sampler->now.items = (void *)(block + head);
	sampler->last.items = sampler->now.items + room;
	*ret_sampler = sampler;
	return 0;
}

struct nm_tcp_sampler *nm_tcp_sampler_free(struct nm_tcp_sampler *sampler, bool shared)
{
	if (sampler)
		nm_engine_release(sampler, sampler->bytes, shared);
	return NULL;
}

/* --- the worker's side --- */

static void read_flow(const struct nm_worker *worker, uint32_t number, struct list *list)
{
	struct nm_flow *flow = nm_worker_flow(worker, number);

	for (uint32_t c = 0; c < worker->group->n_conns; c++) {
		const struct nm_conn *conn = nm_flow_conn(flow, c);
		struct nm_tcp_sample *sample = &list->items[list->count];

		if (!(conn->flags & NM_CONN_OPEN) || !conn->transport->tcp_fields ||
		    conn->transport->tcp_fields(conn, sample->values) < 0)
			continue;
		sample->at_ns = nm_clock_ns();
		sample->group = worker->group_no;
		sample->flow = flow->index;
		sample->slot = c;
		list->count++;
	}
}

/* Has the sampler read some more flows as soon as the loop comes round, after other flows have had
 * their turn. */
static void go_on(struct nm_worker *worker, uint64_t now_ns)
{
	nm_worker_arm(worker, &worker->observe.sampler_timer, NM_TIMER_SAMPLER, now_ns + 1);
}

void nm_tcp_sampler_command(struct nm_worker *worker)
{
	struct nm_tcp_sampler *sampler = worker->observe.tcp;

	if (worker->observe.sampler_timer.at_ns ||
	    atomic_load_explicit(&sampler->asked, memory_order_acquire) ==
		    atomic_load_explicit(&sampler->answered, memory_order_relaxed))
		return;
	sampler->now.count = 0;
	sampler->next = 0;
	go_on(worker, nm_clock_ns());
}

void nm_tcp_sampler_run(struct nm_worker *worker, uint64_t now_ns)
{
	struct nm_tcp_sampler *sampler = worker->observe.tcp;

	for (uint32_t i = 0; i < NM_TUNE_SAMPLED_FLOWS && sampler->next < worker->n_flows; i++)
		read_flow(worker, sampler->next++, &sampler->now);
	if (sampler->next < worker->n_flows) {
		go_on(worker, now_ns);
		return;
	}
	atomic_fetch_add_explicit(&sampler->answered, 1, memory_order_release);
	nm_worker_notify_owner(worker);
}

void nm_tcp_sampler_end(struct nm_worker *worker)
{
	struct nm_tcp_sampler *sampler = worker->observe.tcp;

	sampler->last.count = 0;
	for (uint32_t i = 0; i < worker->n_flows; i++)
		read_flow(worker, i, &sampler->last);
}

/* --- the control thread's side --- */

bool nm_tcp_sampler_has_answered(const struct nm_tcp_sampler *sampler)
{
	return atomic_load_explicit(&sampler->answered, memory_order_acquire) ==
	       atomic_load_explicit(&sampler->asked, memory_order_relaxed);
}

bool nm_tcp_sampler_ask(struct nm_tcp_sampler *sampler)
{
	if (!nm_tcp_sampler_has_answered(sampler))
		return false;
	atomic_fetch_add_explicit(&sampler->asked, 1, memory_order_release);
	return true;
}

const struct nm_tcp_sample *nm_tcp_sampler_samples(const struct nm_tcp_sampler *sampler, bool last,
						   uint32_t *ret_count)
{
	const struct list *list = last ? &sampler->last : &sampler->now;

	*ret_count = list->count;
	return list->items;
}
