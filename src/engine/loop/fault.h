/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed step means for its flow. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_FAULT_H
#define NM_ENGINE_LOOP_FAULT_H

struct nm_flow;
struct nm_instr;
struct nm_worker;

/* The flow's step at instr has failed with flow->error: the flow goes on where the profile expects
 * that, and is otherwise done, with its connection closed. The first failure of a worker is kept
 * for the control thread. The phase may end. */
void nm_worker_fail_flow(struct nm_worker *worker, struct nm_flow *flow,
			 const struct nm_instr *instr);

#endif
