/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter of flows' programs: what the loop calls when a flow can go on. On the worker's
 * thread. */
#ifndef NM_ENGINE_LOOP_INTERP_H
#define NM_ENGINE_LOOP_INTERP_H

#include <sys/epoll.h>

#include "engine/engine_priv.h"

/* Runs the flow until it must wait, or has had its turn. */
void nm_worker_run_flow(struct nm_worker *worker, struct nm_flow *flow);
/* Runs the flows for whose connections something has come, as the waiter reports it; other events
 * are passed on. */
void nm_worker_dispatch(struct nm_worker *worker, struct epoll_event *events, int n);
/* loop.c: the event of a listening socket, of connections that are handed over, or a command. */
void nm_worker_dispatch_other(struct nm_worker *worker, const struct epoll_event *event);
/* A flow whose wait was put off for a turn tries its step again. */
void nm_worker_retry_flow(struct nm_worker *worker, struct nm_flow *flow);

#endif
