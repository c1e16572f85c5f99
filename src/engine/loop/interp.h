/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter of flows' programs, which the loop calls when a flow can go on. On the worker's
 * thread. */
#ifndef NM_ENGINE_LOOP_INTERP_H
#define NM_ENGINE_LOOP_INTERP_H

#include <sys/epoll.h>

#include "engine/engine_priv.h"

/* Runs the flow until it must wait, or has had its turn. */
void nm_worker_run_flow(struct nm_worker *worker, struct nm_flow *flow);
/* Runs the flows for whose connections something has come, as the waiter reports it; gives events
 * of any other kind to waiter.events->other. */
void nm_worker_dispatch(struct nm_worker *worker, struct epoll_event *events, int n);
/* Something has come for conn, by a mask of epoll's: runs its flow if the flow has waited for
 * that. */
void nm_worker_conn_event(struct nm_worker *worker, struct nm_conn *conn, uint32_t events);
/* A flow whose wait was put off for a turn tries its step again. */
void nm_worker_retry_flow(struct nm_worker *worker, struct nm_flow *flow);

#endif
