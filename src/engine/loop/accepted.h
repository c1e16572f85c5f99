/* SPDX-License-Identifier: Apache-2.0 */
/* What the loop does with what accept/ finds. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_ACCEPTED_H
#define NM_ENGINE_LOOP_ACCEPTED_H

struct nm_flow;
struct nm_listen_fd;
struct nm_worker;

/* Something has come to a listening socket: runs the flows that wait there while it lasts. */
void nm_worker_listener_event(struct nm_worker *worker, struct nm_listen_fd *one);
/* Connections were handed over: takes them all, and runs the flows that wait for them. */
void nm_worker_handoff_event(struct nm_worker *worker);
/* A flow that waits for a message that may be lost will hardly get it any more when its peer has
 * opened the next connection already: shortens its wait. Does nothing to any other flow. */
void nm_worker_shorten_wait(struct nm_worker *worker, struct nm_flow *flow);

#endif
