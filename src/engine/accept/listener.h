/* SPDX-License-Identifier: Apache-2.0 */
/* The listeners that a worker has of its own: one for each accept of its group, but for those whose
 * connections come with a preamble to a rendezvous listener. */
#ifndef NM_ENGINE_ACCEPT_LISTENER_H
#define NM_ENGINE_ACCEPT_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flowop/flow.h"

struct nm_worker;

/* Opens all of the worker, and notes in worker->accept.texts what they are called. 0, or -errno
 * with a phrase in why; what is open then is closed by nm_listeners_close. The control thread. */
int nm_listeners_open(struct nm_worker *worker, char *why, size_t why_size);
/* Closes what is open. The control thread, when the worker has ended. */
void nm_listeners_close(struct nm_worker *worker);

/* Whether epoll tells what comes to the socket, as it does at first. 0 or -errno. On the worker's
 * thread, as all below. */
int nm_listener_watch(struct nm_worker *worker, struct nm_listen_fd *one, bool watch);
/* The flow that has been parked longest, taken off the queue, while a connection may be queued at
 * the socket (one->ready, which an accept clears when it finds none); NULL: none. */
struct nm_flow *nm_listener_next(struct nm_listen_fd *one);
/* Takes the flow off the queue; does nothing when it is not on it. */
void nm_listener_unpark(struct nm_listener *listener, struct nm_flow *flow);
/* Empties the queue. */
void nm_listener_unpark_all(struct nm_listener *listener);

#endif
