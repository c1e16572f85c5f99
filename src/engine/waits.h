/* SPDX-License-Identifier: Apache-2.0 */
/* Other ways to wait than to have epoll tell. A worker with one flow need not find out which flow
 * can go on; and a connection that soon is closed is not worth telling epoll of. All on the
 * worker's thread, in a phase. */
#ifndef NM_ENGINE_WAITS_H
#define NM_ENGINE_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct nm_conn;
struct nm_flow;
struct nm_instr;
struct nm_listen_fd;
struct nm_worker;

/* limit.c: a limit on a wait that something has ended, until the flow waits anew */
struct nm_limit {
	const struct nm_flow *flow; /* NULL: none */
	const struct nm_instr *at;
	uint64_t due_ns;
	uint64_t iterations_left, left; /* which wait it was */
	uint32_t repeated;
};

/* The flow waits at its step, which has a limit: from now on, or from when this very wait began. */
void nm_worker_limit_set(struct nm_worker *worker, struct nm_flow *flow);
/* Something has come for it: it is tried before anything else waits with a limit. */
void nm_worker_limit_lift(struct nm_worker *worker, struct nm_flow *flow);

/* An instruction of the present phase, by its number in the group, in the program that the worker
 * runs; NULL: none. */
const struct nm_instr *nm_worker_instr(const struct nm_worker *worker, uint32_t number);

/* lone.c: a worker with one flow that asks may wait in the receive itself */
void nm_worker_lone_begin(struct nm_worker *worker); /* in a phase, once it may be one */
void nm_worker_lone_end(struct nm_worker *worker);
bool nm_worker_waits_alone(const struct nm_worker *worker, const struct nm_flow *flow);
void nm_worker_run_lone(struct nm_worker *worker); /* between two waits for events */

/* ring.c: while io.ring is there, what the flows move is posted */
int nm_worker_ring_begin(struct nm_worker *worker); /* of the present phase: 0 or -errno */
void nm_worker_ring_end(struct nm_worker *worker);  /* may be called again */
/* The flow waits for input: 0 or -errno. */
int nm_worker_ring_await(struct nm_worker *worker, const struct nm_flow *flow);
/* As nm_worker_poll. */
int nm_worker_ring_wait(struct nm_worker *worker, struct epoll_event *events, int n_events,
			int64_t timeout_ns);
/* Its flow has failed, and it is closed. */
void nm_worker_ring_abandon(struct nm_worker *worker, struct nm_conn *conn);
/* level.c: of a group whose connections are level-triggered. In place of nm_worker_watch and
 * nm_worker_rewatch */
int nm_level_watch(struct nm_worker *worker, struct nm_flow *flow, bool output);
void nm_level_rewatch(struct nm_worker *worker, struct nm_flow *flow);
/* What has come for conn is taken, or its flow does not wait for it; also of one that is not
 * level-triggered. */
void nm_level_ignore(struct nm_worker *worker, struct nm_conn *conn);
/* Epoll does not tell of it any more; also where it never did. */
void nm_level_forget(const struct nm_worker *worker, struct nm_conn *conn);

/* polled.c: a worker with one flow, each pass of which has a connection of its own */
void nm_worker_polled_begin(
	struct nm_worker *worker); /* of the present phase, before its flow runs */
void nm_worker_polled_end(struct nm_worker *worker); /* may be called again */
/* The only socket that the flows of the present phase get their connections from, *ret NULL: they
 * open them themselves. False: there are several. */
bool nm_worker_only_listener(const struct nm_worker *worker, struct nm_listen_fd **ret);
/* What it waits for, as epoll_wait(2) tells it: of its epoll at most n_events, and events has room
 * for so many more. timeout_ns < 0 waits without limit. */
#define NM_POLLED_EVENTS 2
int nm_worker_poll(struct nm_worker *worker, struct epoll_event *events, int n_events,
		   int64_t timeout_ns);

/* spare.c: what a flow that is polled does while it waits for the other end, which need not wait
 * for it */
void nm_worker_spare_begin(struct nm_worker *worker); /* of the present phase, where it is polled */
void nm_worker_spare_end(struct nm_worker *worker);   /* may be called again */
void nm_worker_spare_time(struct nm_worker *worker);  /* its flow waits on its connection */

/* fleeting.c: several flows, each pass of which has a connection of its own. What a flow waits for
 * may well come while the others have their turn: it looks after that, and only then epoll is told
 * of its connection. */
struct nm_looks {
	bool on;
	uint8_t vain;		/* rounds before in which most found nothing: 0, 1, 3, 7 or 15 */
	uint32_t tried, missed; /* in the present round, or the last */
	uint32_t skips;		/* waits to come of which epoll is told at once */
};

void nm_worker_fleeting_begin(struct nm_worker *worker);
/* Whether the flow, which would wait at that instruction, looks later. */
bool nm_worker_looks_later(struct nm_worker *worker, const struct nm_flow *flow,
			   const struct nm_instr *instr);
void nm_worker_looks_begin(struct nm_worker *worker); /* a round of looks */
void nm_worker_looks_end(struct nm_worker *worker);

/* How many waits epoll is told of at once after one that was put off in vain, and so many had been
 * before: it hardly costs more then, and a bad start is soon forgotten. */
static inline uint8_t nm_more_vain(uint8_t vain)
{
	const uint8_t most = 15;

	return vain < most ? (uint8_t)(vain * 2 + 1) : most;
}

/* closing.c: the same at the end that accepts, where a connection is at last waited for to be
 * reset */
struct nm_closing {
	const struct nm_instr *at;     /* where that is; NULL: nowhere in this phase */
	struct nm_listen_fd *listener; /* the only one */
	struct nm_flow *first, *last;  /* flows that wait there, unknown to epoll */
	uint64_t looked_ns;	       /* when the first came, or they were last looked at */
	unsigned pending;	       /* turns for which flows have been lacked all the time */
	uint32_t added;		       /* flows since the last look */
	uint8_t vain;		       /* as in nm_looks */
	bool here;		       /* of a worker that polls: resets come in on its own CPU */
	uint32_t skips;		       /* waits to come of which epoll is told at once */
	uint32_t asks, asks_next;      /* waits until that is asked again, and from then on */
};

/* How long they may be left alone, and the longest sleep meanwhile; beyond the kernel's next tick,
 * so that it need not set its timer for that. */
#define NM_CLOSING_NS 10000000

/* loop/interp.c: the flow waits for its connection at its present step; epoll is told */
void nm_worker_wait_in(struct nm_worker *worker, struct nm_flow *flow);
void nm_worker_closing_begin(struct nm_worker *worker);
/* Whether the flow, which would wait there, is kept for a look. */
bool nm_worker_closes_later(struct nm_worker *worker, struct nm_flow *flow);
/* After each wait for events while there are such flows. */
void nm_worker_closing_turn(struct nm_worker *worker);
/* Whether a connection may wait while all that might take it are such flows: no time to sleep. */
bool nm_worker_lacks_flows(const struct nm_worker *worker);
/* Of a worker that polls: its connection was reset. */
void nm_worker_closing_seen(struct nm_worker *worker, const struct nm_conn *conn);
void nm_worker_closing_flush(struct nm_worker *worker); /* tells epoll of them all */

#endif
