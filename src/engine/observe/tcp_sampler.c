/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tcp_sampler.h"

#include <errno.h>
#include <linux/tcp.h> /* glibc's has not all of it */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "engine/flowop_stats.h"
#include "engine/engine_priv.h"
#include "host/clock.h"

#define SLICE 32u /* flows at a time: about 20 us in which others wait */

struct list {
	uint32_t count;
	struct nm_tcp_sample *items; /* room for all connections */
};

/* The worker writes `now` after it was asked and until it has answered, main reads it after that
 * and until it asks. */
struct nm_tcp_sampler {
	_Atomic uint32_t asked, answered;
	uint32_t next; /* flow to be looked at */
	struct list now, last;
	size_t bytes; /* of all this */
};

int nm_tcp_sampler_new(struct nm_worker *worker, unsigned flags, bool shared,
		       struct nm_tcp_sampler **ret_watch)
{
	size_t room = (size_t)worker->n_flows * worker->group->n_conns;
	size_t head = (sizeof(struct nm_tcp_sampler) + 63) & ~(size_t)63;
	size_t bytes = head + 2 * room * sizeof(struct nm_tcp_sample);

	*ret_watch = NULL;
	if (!(flags & NM_OBSERVE_TCP))
		return 0;
	char *block = nm_engine_alloc(bytes, shared);

	if (!block)
		return -ENOMEM;
	struct nm_tcp_sampler *watch = (void *)block;

	watch->bytes = bytes;
	watch->now.items = (void *)(block + head);
	watch->last.items = watch->now.items + room;
	*ret_watch = watch;
	return 0;
}

struct nm_tcp_sampler *nm_tcp_sampler_free(struct nm_tcp_sampler *watch, bool shared)
{
	if (watch)
		nm_engine_release(watch, watch->bytes, shared);
	return NULL;
}

static bool read_conn(const struct nm_conn *conn, struct nm_tcp_sample *sample)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;

	if (!(conn->flags & NM_CONN_OPEN) || conn->fd < 0 ||
	    getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		return false;
#define VALUE(name, member) info.tcpi_##member,
	const uint64_t values[] = {NM_TCP_FIELDS(VALUE)};
#undef VALUE

	memcpy(sample->values, values, sizeof values);
	return true;
}

static void read_flow(const struct nm_worker *worker, uint32_t number, struct list *list)
{
	const struct nm_flow *flow = nm_worker_flow(worker, number);

	for (uint32_t c = 0; c < worker->group->n_conns; c++) {
		struct nm_tcp_sample *sample = &list->items[list->count];

		if (!read_conn(&flow->conns[c], sample))
			continue;
		sample->at_ns = nm_clock_ns();
		sample->group = worker->group_no;
		sample->flow = flow->index;
		sample->slot = c;
		list->count++;
	}
}

void nm_tcp_sampler_command(struct nm_worker *worker)
{
	struct nm_tcp_sampler *watch = worker->observe.tcp;

	if (worker->observe.sampling ||
	    atomic_load_explicit(&watch->asked, memory_order_acquire) ==
		    atomic_load_explicit(&watch->answered, memory_order_relaxed))
		return;
	watch->now.count = 0;
	watch->next = 0;
	worker->observe.sampling = true;
}

void nm_tcp_sampler_run(struct nm_worker *worker)
{
	struct nm_tcp_sampler *watch = worker->observe.tcp;

	for (uint32_t i = 0; i < SLICE && watch->next < worker->n_flows; i++)
		read_flow(worker, watch->next++, &watch->now);
	if (watch->next < worker->n_flows)
		return;
	worker->observe.sampling = false;
	atomic_fetch_add_explicit(&watch->answered, 1, memory_order_release);
	nm_worker_notify_owner(worker);
}

void nm_tcp_sampler_end(struct nm_worker *worker)
{
	struct nm_tcp_sampler *watch = worker->observe.tcp;

	watch->last.count = 0;
	for (uint32_t i = 0; i < worker->n_flows; i++)
		read_flow(worker, i, &watch->last);
}

/* --- main --- */

/* Calls fn for the watch of each worker while it answers true. */
static bool each_watch(const struct nm_engine *engine, bool (*fn)(struct nm_worker *worker))
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++)
			if (engine->groups[g].workers[w].observe.tcp &&
			    !fn(&engine->groups[g].workers[w]))
				return false;
	return true;
}

static bool has_answered(struct nm_worker *worker)
{
	return atomic_load_explicit(&worker->observe.tcp->answered, memory_order_acquire) ==
	       atomic_load_explicit(&worker->observe.tcp->asked, memory_order_relaxed);
}

static bool ask(struct nm_worker *worker)
{
	if (!has_answered(worker))
		return true;
	atomic_fetch_add_explicit(&worker->observe.tcp->asked, 1, memory_order_release);
	nm_worker_wake(worker);
	return true;
}

void nm_engine_tcp_ask(const struct nm_engine *engine)
{
	(void)each_watch(engine, ask);
}

bool nm_engine_tcp_answered(const struct nm_engine *engine)
{
	return each_watch(engine, has_answered);
}

static void read_lists(const struct nm_engine *engine, bool last, nm_tcp_sample_fn fn, void *arg)
{
	for (uint32_t g = 0; g < engine->plan->n_groups; g++) {
		for (uint32_t w = 0; w < engine->groups[g].n_workers; w++) {
			const struct nm_tcp_sampler *watch =
				engine->groups[g].workers[w].observe.tcp;

			if (!watch)
				continue;
			const struct list *list = last ? &watch->last : &watch->now;

			for (uint32_t i = 0; i < list->count; i++)
				fn(arg, &list->items[i]);
		}
	}
}

void nm_engine_tcp_read(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg)
{
	read_lists(engine, false, fn, arg);
}

void nm_engine_tcp_read_last(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg)
{
	read_lists(engine, true, fn, arg);
}
