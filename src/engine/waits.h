/* SPDX-License-Identifier: Apache-2.0 */
/* Other ways to wait for input than to have epoll tell it. A worker with one flow need not find out which flow can go
 * on; and a connection that soon is closed is not worth telling epoll of. All on the worker's thread, in a phase. */
#ifndef NM_ENGINE_WAITS_H
#define NM_ENGINE_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct nm_flow;
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

/* fleeting.c: several flows, each pass of which has a connection of its own */
bool nm_worker_is_fleeting(const struct nm_worker *worker); /* in the present phase */
void nm_worker_fleeting_begin(struct nm_worker *worker);

#endif
