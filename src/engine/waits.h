/* SPDX-License-Identifier: Apache-2.0 */
/* Other ways to wait than to have epoll tell. A worker with one flow need not find out which flow can go
 * on; and a connection that soon is closed is not worth telling epoll of. All on the worker's thread, in a phase. */
#ifndef NM_ENGINE_WAITS_H
#define NM_ENGINE_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct nm_flow;
struct nm_instr;
struct nm_worker;

/* lone.c: a worker with one flow that asks may wait in the receive itself */
void nm_worker_lone_begin(struct nm_worker *worker); /* in a phase, once it may be one */
void nm_worker_lone_end(struct nm_worker *worker);
bool nm_worker_waits_alone(const struct nm_worker *worker, const struct nm_flow *flow);
void nm_worker_run_lone(struct nm_worker *worker); /* between two waits for events */

/* polled.c: a worker with one flow, each pass of which has a connection of its own */
void nm_worker_polled_begin(
	struct nm_worker *worker); /* of the present phase, before its flow runs */
void nm_worker_polled_end(struct nm_worker *worker); /* may be called again */
/* What it waits for, as epoll_wait(2) tells it. timeout_ns < 0 waits without limit. */
int nm_worker_poll(struct nm_worker *worker, struct epoll_event *events, int n_events,
		   int64_t timeout_ns);

/* fleeting.c: several flows, each pass of which has a connection of its own. What a flow waits for may well come while
 * the others have their turn: it looks after that, and only then epoll is told of its connection. */
struct nm_looks {
	bool on;
	uint8_t vain;		/* rounds before in which most found nothing: 0, 1, 3, 7 or 15 */
	uint32_t tried, missed; /* in the present round, or the last */
	uint32_t skips;		/* waits to come of which epoll is told at once */
};

bool nm_worker_is_fleeting(const struct nm_worker *worker); /* whether its present phase is */
void nm_worker_fleeting_begin(struct nm_worker *worker);
/* Whether the flow, which would wait at that instruction, looks later. */
bool nm_worker_looks_later(struct nm_worker *worker, const struct nm_flow *flow,
			   const struct nm_instr *instr);
void nm_worker_looks_begin(struct nm_worker *worker); /* a round of looks */
void nm_worker_looks_end(struct nm_worker *worker);

#endif
