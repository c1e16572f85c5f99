/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter of flows' programs: what the loop calls when a flow can go on. On the worker's
 * thread. */
#ifndef NM_ENGINE_LOOP_INTERP_H
#define NM_ENGINE_LOOP_INTERP_H

#include "engine/engine_priv.h"

/* Runs the flow until it must wait, or has had its turn. */
void nm_worker_run_flow(struct nm_worker *worker, struct nm_flow *flow);
/* The step that the flow has waited for, and no further. True when it is done, and the flow is to
 * go on. */
bool nm_worker_run_step(struct nm_worker *worker, struct nm_flow *flow);
/* A flow whose wait was put off for a turn tries its step again. */
void nm_worker_retry_flow(struct nm_worker *worker, struct nm_flow *flow);

#endif
