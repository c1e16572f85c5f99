/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline of a wait, by the timeout of its instruction. On the worker's thread. */
#ifndef NM_ENGINE_LOOP_DEADLINE_H
#define NM_ENGINE_LOOP_DEADLINE_H

#include <stdint.h>

struct nm_flow;
struct nm_instr;
struct nm_worker;

/* The deadline of a wait that some input has ended: it is kept until the flow waits anew. */
struct nm_deadline {
	const struct nm_flow *flow; /* NULL: none */
	const struct nm_instr *at;
	uint64_t due_ns;
	uint64_t iterations_left, left; /* these tell which wait it was */
	uint32_t repeated;
};

/* The flow waits at its step, which has a timeout: it counts from now on, or from when this very
 * wait began. */
void nm_deadline_set(struct nm_worker *worker, struct nm_flow *flow);
/* The same of a step that asks, whose request has one limit. */
void nm_deadline_of_request(struct nm_worker *worker, struct nm_flow *flow);
/* Something has come for the flow: lifts its deadline. The caller runs the flow before any other
 * flow begins to wait with a deadline. */
void nm_deadline_lift(struct nm_worker *worker, struct nm_flow *flow);

#endif
