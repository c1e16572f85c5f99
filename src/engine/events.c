/* SPDX-License-Identifier: Apache-2.0 */
/* Events of transports while a run goes on: connections should be replaced, or all of them are
 * lost. On the control thread: a transport's descriptor becomes readable beside the engine's own,
 * and its event is passed on to the workers of its group. */
#include "engine/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine/engine_priv.h"
#include "plan/shape.h"
#include "transport/transport.h"

/* An opening whose transport has events at times. */
struct source {
	uint32_t group;
	const struct nm_instr *instr;
	void *started;
};

struct nm_events {
	int epoll_fd;
	struct source *sources;
	size_t count;
	struct nm_engine_error lost; /* the first loss */
	bool has_lost;
};

static int add_source(struct nm_engine *engine, uint32_t group, const struct nm_instr *instr)
{
	struct nm_events *events = engine->events;
	struct epoll_event event = {.events = EPOLLIN};
	void *started = engine->groups[group].started[instr->opening];

	events->sources[events->count++] =
		(struct source){.group = group, .instr = instr, .started = started};
	return epoll_ctl(events->epoll_fd, EPOLL_CTL_ADD, instr->transport->events->fd(started),
			 &event) < 0
		       ? -errno
		       : 0;
}

static bool has_events(const struct nm_engine *engine, uint32_t g, const struct nm_instr *instr)
{
	return engine->groups[g].started && nm_instr_opens(instr) && instr->transport->events &&
	       engine->groups[g].started[instr->opening];
}

int nm_events_open(struct nm_engine *engine)
{
	struct epoll_event event = {.events = EPOLLIN};
	size_t needed = 0;
	int r = 0;

	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t i = 0; i < engine->plan->groups[g].n_instrs; i++)
			needed += has_events(engine, g, &engine->plan->groups[g].instrs[i]);
	if (!needed)
		return 0;
	engine->events = calloc(1, sizeof *engine->events);
	if (!engine->events)
		return -ENOMEM;
	engine->events->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	engine->events->sources = calloc(needed, sizeof *engine->events->sources);
	if (!engine->events->sources)
		return -ENOMEM;
	if (engine->events->epoll_fd < 0 ||
	    epoll_ctl(engine->events->epoll_fd, EPOLL_CTL_ADD, engine->event_fd, &event) < 0)
		return -errno;
	for (uint32_t g = 0; g < engine->plan->n_groups; g++)
		for (uint32_t i = 0; r == 0 && i < engine->plan->groups[g].n_instrs; i++)
			if (has_events(engine, g, &engine->plan->groups[g].instrs[i]))
				r = add_source(engine, g, &engine->plan->groups[g].instrs[i]);
	return r;
}

struct nm_events *nm_events_free(struct nm_events *events)
{
	if (!events)
		return NULL;
	if (events->epoll_fd >= 0)
		(void)close(events->epoll_fd);
	free(events->sources);
	free(events);
	return NULL;
}

int nm_events_fd(const struct nm_engine *engine)
{
	return engine->events ? engine->events->epoll_fd : engine->event_fd;
}

void nm_events_read(struct nm_engine *engine)
{
	for (size_t i = 0; engine->events && i < engine->events->count; i++) {
		const struct source *source = &engine->events->sources[i];
		enum nm_transport_event told;
		char why[192] = "";
		bool renew = false;

		while ((told = source->instr->transport->events->next(source->started, why,
								      sizeof why))) {
			renew |= told == NM_TRANSPORT_EVENT_RENEW;
			if (told != NM_TRANSPORT_EVENT_LOST || engine->events->has_lost)
				continue;
			engine->events->has_lost = true;
			engine->events->lost = (struct nm_engine_error){
				.group = source->group,
				.line = source->instr->line,
				.flowop = source->instr->op->name,
				.site = (uint32_t)(source->instr -
						   engine->plan->groups[source->group].instrs),
				.error = ENODEV,
				.count = engine->plan->groups[source->group].n_flows};
			snprintf(engine->events->lost.why, sizeof engine->events->lost.why, "%s",
				 why);
		}
		if (renew) {
			engine->groups[source->group].renewals++;
			nm_engine_reconnect(engine, source->group);
		}
	}
}

bool nm_events_lost(const struct nm_engine *engine, struct nm_engine_error *ret_error)
{
	if (!engine->events || !engine->events->has_lost)
		return false;
	*ret_error = engine->events->lost;
	return true;
}

uint32_t nm_engine_reconnects(const struct nm_engine *engine, uint32_t group)
{
	return engine->groups[group].renewals;
}

void nm_engine_reconnect(struct nm_engine *engine, uint32_t group)
{
	for (uint32_t w = 0; w < engine->groups[group].n_workers; w++) {
		struct nm_worker *worker = &engine->groups[group].workers[w];

		atomic_fetch_add_explicit(&worker->commands.reconnect, 1, memory_order_release);
		nm_worker_wake(worker);
	}
}
