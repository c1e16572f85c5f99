/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's own listeners: one for each accept of its group, but for accepts whose connections
 * come with a preamble to a rendezvous listener. */
#ifndef NM_ENGINE_ACCEPT_LISTENER_H
#define NM_ENGINE_ACCEPT_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flowop/flow.h"
#include "flowop/listening.h"

struct nm_worker;

/* Opens all listeners of the worker, and notes their texts in worker->accept.texts. 0, or -errno
 * with a phrase in why; then nm_listeners_close closes the open ones. The control thread calls
 * it. */
int nm_listeners_open(struct nm_worker *worker, char *why, size_t why_size);
/* Closes the open listeners. The control thread calls it, when the worker has ended. */
void nm_listeners_close(struct nm_worker *worker);

/* Sets whether epoll reports connections that come to the socket; at first it does. 0 or -errno. On
 * the worker's thread, as all below. */
int nm_listener_watch(struct nm_worker *worker, struct nm_listen_fd *one, bool watch);
/* The flow that has been parked longest, taken off the queue, while a connection may be queued at
 * the socket (one->ready, which an accept clears when it finds none); NULL: none. */
struct nm_flow *nm_listener_next(struct nm_listen_fd *one);
/* Takes the flow off the queue; does nothing when it is not queued. */
void nm_listener_unpark(struct nm_listener *listener, struct nm_flow *flow);
/* Empties the queue. */
void nm_listener_unpark_all(struct nm_listener *listener);

#endif
