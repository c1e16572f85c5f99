/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of single flowops and flows, when that is asked for. A worker with details runs a copy of the program
 * in which every flowop is called through one function that measures it: without details nothing is different. */
#ifndef NM_ENGINE_DETAIL_H
#define NM_ENGINE_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/hist.h"

struct nm_engine;

enum nm_detail_flags {
	NM_DETAIL_COUNTS = 1 << 0,  /* operations and bytes of each flowop */
	NM_DETAIL_TIMES = 1 << 1,   /* how long each took, and each pass of every transaction */
	NM_DETAIL_STRANDS = 1 << 2, /* the same sums for each flow */
	NM_DETAIL_CPU = 1 << 3,	    /* CPU time in each flowop */
	NM_DETAIL_LOG = 1 << 4,	    /* every single execution */
	NM_DETAIL_ALL = (1 << 5) - 1,
};

/* What was done in one flowop, or by one flow. An operation is one execution of a flowop, also one whose failure was
 * expected. */
struct nm_detail_sums {
	uint64_t operations, bytes_sent, bytes_received, errors;
	uint64_t cpu_ns;  /* with NM_DETAIL_CPU; of a flow: 0 */
	uint64_t busy_ns; /* with NM_DETAIL_TIMES: the elapsed times added up */
};

/* One execution of a flowop. */
struct nm_response {
	uint64_t end_ns, elapsed_ns;
	uint32_t group, flow;
	uint32_t instr; /* of the group */
	bool failed;
};

/* 0 when nothing is kept. */
unsigned nm_engine_details(const struct nm_engine *engine);
/* Of one instruction of the program, over all workers; of the compiler's own instructions all is 0. times: NULL, or
 * filled with NM_DETAIL_TIMES (else empty). */
void nm_engine_step_sums(const struct nm_engine *engine, uint32_t group, uint32_t instr,
			 struct nm_detail_sums *ret_sums, struct nm_hist_snap *ret_times);
/* Of one flow in all phases, with NM_DETAIL_STRANDS; else all is 0. */
void nm_engine_flow_sums(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			 struct nm_detail_sums *ret_sums);
/* Flowops executed by a group in a phase, with any detail. */
uint64_t nm_engine_operations(const struct nm_engine *engine, uint32_t group, uint32_t phase);
/* Takes executions that are not taken yet, with NM_DETAIL_LOG: how many of `room`, 0 when there are no more now. Those
 * of one worker come in their order. */
size_t nm_engine_take_responses(struct nm_engine *engine, struct nm_response *list, size_t room);
/* Executions that were not kept since they were not taken in time. */
uint64_t nm_engine_lost_responses(const struct nm_engine *engine);

#endif
