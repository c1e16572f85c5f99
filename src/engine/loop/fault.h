/* SPDX-License-Identifier: Apache-2.0 */
/* Failed steps: their flows go on, or end. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_FAULT_H
#define NM_ENGINE_LOOP_FAULT_H

struct nm_flow;
struct nm_instr;
struct nm_worker;

/* The flow's step at instr has failed with flow->error: where the profile expects failures the flow
 * goes on; otherwise it is done, and its connection closed. The worker keeps its first failure for
 * the control thread. The phase may end. */
void nm_worker_fail_flow(struct nm_worker *worker, struct nm_flow *flow,
			 const struct nm_instr *instr);

#endif
