/* SPDX-License-Identifier: Apache-2.0 */
/* How the loop runs flows for whose accepts a connection has come. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_ACCEPTED_H
#define NM_ENGINE_LOOP_ACCEPTED_H

struct nm_flow;
struct nm_listen_fd;
struct nm_worker;

/* A connection has come to a listening socket: runs the flows that wait there, as long as one may
 * be queued. */
void nm_worker_listener_event(struct nm_worker *worker, struct nm_listen_fd *one);
/* Connections were handed over: takes them all, and runs the flows that wait for them. */
void nm_worker_handoff_event(struct nm_worker *worker);
/* The flow's peer has opened the next connection already. If the flow still waits for a message
 * that may be lost, it will hardly get it any more: shortens its wait. */
void nm_worker_shorten_wait(struct nm_worker *worker, struct nm_flow *flow);

#endif
