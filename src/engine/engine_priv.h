/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's own types. The control thread is the one that made the engine; every member of a
 * worker belongs to the worker's thread once it runs, but for the atomics, whose writer is
 * noted. */
#ifndef NM_ENGINE_ENGINE_PRIV_H
#define NM_ENGINE_ENGINE_PRIV_H

#include <stdatomic.h>
#include <time.h>

#include "engine/accept/accept.h"
#include "engine/observe/observe.h"
#include "engine/commands.h"
#include "engine/engine.h"
#include "engine/loop/deadline.h"
#include "engine/loop/process.h"
#include "engine/phase/phase.h"
#include "engine/phase/reconnect.h"
#include "engine/phase/reopen.h"
#include "engine/memory.h"
#include "engine/timer.h"
#include "engine/wait/defer.h"
#include "engine/wait/waiter.h"
#include "stats/idle_path.h"
#include "host/clock.h"
#include "transport/peers.h"

/* The statistics of a worker in one phase. */
struct nm_phase_stats {
	/* `pass`: only where this end thinks; `response`: with a rate or arrivals */
	struct nm_tally tally;
	/* what came of passes that are counted by when they were due (flowop/due.h); NULL: none
	 * is. Behind them in memory are the distributions. */
	struct nm_due_part *parts;
	uint32_t n_parts;
	_Atomic uint64_t begin_ns, end_ns;
	struct nm_conn_summary conns; /* the worker writes before end_ns, others read after it */
	/* of solitary flows; the group's first worker writes, and others read when the phase is
	 * over */
	struct nm_idle_path idle;
};

/* The queue of flows that can go on, which have their turn one after the other: runq.h. */
struct nm_runq {
	struct nm_flow *first, *last;
};

struct nm_worker {
	struct nm_io io;
	struct nm_phase_run run;
	struct nm_waiter waiter;
	struct nm_defer defer;
	bool busy; /* the worker has more to do than to wait for events */
	struct nm_runq runq;
	struct nm_deadline lifted_deadline;
	int epoll_fd, wake_fd;
	const struct nm_phase_shape *shape; /* of the present phase, or the last */
	char *flows;			    /* each followed by its connections: nm_worker_flow */
	size_t flow_bytes;
	uint32_t n_flows;
	struct nm_timers timers;

	struct nm_engine *engine;
	struct nm_accept accept;
	struct nm_observe observe;
	const struct nm_group *group;
	uint32_t group_no, worker_no; /* in the group */
	struct nm_phase_stats *stats; /* by phase */
	struct nm_reconnect reconnect;
	struct nm_commands commands;
	struct nm_answers answers;
	struct nm_spawn spawn;
};

struct nm_engine_host {
	struct nm_addr peer, local;
	struct nm_peers peers; /* the addresses from which its data connections may come */
};

struct nm_engine_group {
	const struct nm_group *plan;
	/* n_workers of them; none when this side does not run the group */
	struct nm_worker *workers;
	uint32_t n_workers;
	struct nm_servers *servers; /* by opening; owned */
	/* Of a group that asks or serves; owned, the second by opening. */
	struct nm_pool *pool;
	struct nm_app_service *services;
	void **started; /* by opening: the state that its transport has made, NULL: none */
	/* how often its transports have told that its connections should be replaced */
	uint32_t renewals;
};

struct nm_engine {
	const struct nm_plan *plan;
	bool measures;
	uint64_t seed;
	uint64_t edges_ns[2]; /* warm-up and cool-down, which cut measured open arrivals */
	unsigned details;     /* enum nm_observe_flags */
	int awake_fd;	      /* while it is open no idle CPU sleeps; -1: they may */
	int event_fd;
	struct nm_engine_host *hosts;
	const struct nm_net *allowed; /* further peers of data connections; borrowed */
	size_t n_allowed;
	uint64_t timeout_ns; /* struct nm_engine_config */
	struct nm_engine_group *groups;
	struct nm_store **stores;    /* by number in nm_apps; owned; NULL: nothing asks or serves */
	const char *localhost_words; /* what messages call that option; NULL: localhost */
	unsigned char secret[NM_SECRET_BYTES];
	/* below which the profile's files must lie; NULL: anywhere */
	const struct nm_file_root *files;
	unsigned char nonce[NM_NONCE_BYTES];	 /* the nonce of connections to this side */
	unsigned char (*nonces)[NM_NONCE_BYTES]; /* of connections to each host of the plan */
	/* addresses that were turned away; shared with processes */
	struct nm_strangers *strangers;
	struct nm_buffers cut; /* the socket buffers that the kernel gives less of */
	struct nm_rendezvous *rendezvous;
	struct nm_events *events; /* NULL: no transport has any */
	uint32_t begun;		  /* phases */
	/* when workers that are processes must have ended; 0: they are not told to end yet */
	uint64_t processes_end_ns;
	struct {
		uint64_t passes;	/* of each flow, whose executions are kept */
		uint32_t group, worker; /* whose executions are taken next */
	} log;
};

/* Whose means they are. */
static inline struct nm_worker *nm_worker_of(struct nm_io *io)
{
	return (struct nm_worker *)(void *)((char *)io - offsetof(struct nm_worker, io));
}

static inline struct nm_flow *nm_worker_flow(const struct nm_worker *worker, uint32_t i)
{
	return (struct nm_flow *)(void *)(worker->flows + i * worker->flow_bytes);
}

/* Whether the instruction is of a program that opens a connection anew. */
static inline bool nm_is_reopening(const struct nm_worker *worker, const struct nm_instr *instr)
{
	const struct nm_instr *first = worker->reconnect.openings;

	return first && instr >= first &&
	       instr < first + (size_t)NM_REOPEN__COUNT * worker->group->n_openings;
}

/* The worker's own number of a flow. */
static inline uint32_t nm_worker_number_of(const struct nm_worker *worker,
					   const struct nm_flow *flow)
{
	return (uint32_t)((size_t)((const char *)flow - worker->flows) / worker->flow_bytes);
}

/* The instruction of the present phase with that number in the group, in the program that the
 * worker runs; NULL: none. */
static inline const struct nm_instr *nm_worker_instr(const struct nm_worker *worker,
						     uint32_t number)
{
	return number == NM_NO_INSTR
		       ? NULL
		       : worker->run.body + number -
				 (worker->run.phase->first + worker->run.phase->entry);
}

/* The timer, which is the worker's own, fires at at_ns: see fire in loop/loop.c. */
static inline void nm_worker_arm(struct nm_worker *worker, struct nm_timer *timer,
				 enum nm_timer_kind kind, uint64_t at_ns)
{
	/* While there are timers the loop keeps the time. */
	if (!worker->timers.count)
		worker->io.now_ns = nm_clock_ns();
	timer->kind = kind;
	timer->at_ns = at_ns;
	nm_timers_add(&worker->timers, timer);
	worker->busy = true;
}

/* The timer does not fire any more. */
static inline void nm_worker_disarm(struct nm_worker *worker, struct nm_timer *timer)
{
	nm_timers_remove(&worker->timers, timer);
	timer->at_ns = 0;
}

/* Passes at which the present phase ends. */
static inline void nm_worker_set_end(struct nm_worker *worker, uint64_t end_at)
{
	uint64_t others = nm_counter_read(&worker->io.count->unanswered);
	worker->run.end_at = end_at;
	worker->run.check_at =
		end_at == UINT64_MAX ? end_at : end_at - (end_at < others ? end_at : others);
	if (worker->observe.counts_passes || worker->io.asks.stop || worker->reconnect.pending ||
	    (worker->run.phase && worker->run.phase->anew.lives))
		worker->run.check_at = 0;
}

/* worker.c */
int nm_worker_init(struct nm_worker *worker, struct nm_engine *engine, uint32_t group,
		   uint32_t number);
void nm_worker_fini(struct nm_worker *worker);
int nm_worker_start(struct nm_worker *worker);
void nm_worker_join(struct nm_worker *worker); /* after quit */

/* loop/process.c */
int nm_process_start(struct nm_worker *worker);	 /* before any thread */
void nm_process_join(struct nm_worker *worker);	 /* after quit */
void nm_process_check(struct nm_worker *worker); /* notes that the process has died */

/* loop/loop.c */
void *nm_worker_main(void *worker); /* the thread */

/* Tags in the low bits of an epoll event's pointer. */
#define NM_TAG_CONN    0u
#define NM_TAG_LISTEN  1u
#define NM_TAG_WAKE    2u
#define NM_TAG_HANDOFF 3u
#define NM_TAG_MASK    3u

/* Has the transport make what connections of the opening share; the caller has said in *how who is
 * at the other end. 0, or -errno with a phrase in why. */
int nm_engine_start_opening(struct nm_engine *engine, struct nm_engine_group *group,
			    const struct nm_instr *instr, struct nm_start *how, char *why,
			    size_t why_size);

#endif
