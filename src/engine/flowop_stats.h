/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of single flowops and flows, for runs that ask for them. A worker with details runs a
 * copy of the program in which every flowop is called through one function that measures it: a
 * worker without details runs the program itself. */
#ifndef NM_ENGINE_FLOWOP_STATS_H
#define NM_ENGINE_FLOWOP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/counters.h"
#include "stats/hist.h"

struct nm_engine;

enum nm_observe_flags {
	NM_OBSERVE_COUNTS = 1 << 0, /* operations and bytes of each flowop */
	NM_OBSERVE_TIMES = 1 << 1,  /* how long each took, and each pass of every transaction */
	NM_OBSERVE_FLOWS = 1 << 2,  /* operations and bytes of each flow */
	NM_OBSERVE_CPU = 1 << 3,    /* CPU time in each flowop */
	NM_OBSERVE_EXECS = 1 << 4,  /* every single execution */
	NM_OBSERVE_PASSES =
		1 << 5, /* passes of each flow, and on the measuring side how long they took */
	NM_OBSERVE_TCP =
		1 << 6, /* TCP_INFO of each connection, when it is asked for: tcp_sampler.h */
	NM_OBSERVE_PASS_LOG = 1 << 7, /* the first passes of each flow, one by one */
	NM_OBSERVE_PASS_TIMES =
		1 << 8, /* a histogram of the passes of each flow, with NM_OBSERVE_PASSES */
	NM_OBSERVE_ALL = (1 << 9) - 1,
	/* The details that are kept in the step of every flowop. */
	NM_OBSERVE_STEPS = NM_OBSERVE_ALL & ~NM_OBSERVE_TCP,
	/* The details that slaves never keep. */
	NM_OBSERVE_OWN = NM_OBSERVE_EXECS | NM_OBSERVE_PASS_LOG,
	/* The details that a report of the whole run has. */
	NM_OBSERVE_REPORT =
		NM_OBSERVE_COUNTS | NM_OBSERVE_TIMES | NM_OBSERVE_FLOWS | NM_OBSERVE_CPU,
};

/* The work of one flowop, or of one flow. An operation is one execution of a flowop, also one whose
 * failure was expected. */
struct nm_flowop_sums {
	uint64_t operations, bytes_sent, bytes_received, errors;
	uint64_t cpu_ns;	     /* with NM_OBSERVE_CPU; of a flow: 0 */
	uint64_t busy_ns;	     /* with NM_OBSERVE_TIMES: the elapsed times added up */
	struct nm_outcomes outcomes; /* of a flowop that asks */
};

/* The work of a flow since the engine was made, with NM_OBSERVE_PASSES. */
struct nm_flow_sample {
	uint64_t passes, bytes_sent, bytes_received, errors;
	/* The time of measured passes; 0 on the side that does not measure. */
	uint64_t sum_ns;
	double squares; /* of seconds */
	/* The extremes of the epoch before this one; max 0: no pass has ended in it. */
	uint64_t min_ns, max_ns;
};

/* One execution of a flowop, or one pass. */
struct nm_exec_record {
	uint64_t end_ns, elapsed_ns;
	uint32_t group, flow;
	uint32_t instr; /* by its number in the group; of a pass: its first instruction */
	bool failed;
	bool is_pass; /* with NM_OBSERVE_PASS_LOG */
};

/* The control thread may call all of these at any time after the engine was made. */

/* enum nm_observe_flags; 0 when nothing is kept. */
unsigned nm_engine_details(const struct nm_engine *engine);
/* The sums of one instruction of the program, over all workers; all 0 for the compiler's own
 * instructions. times: NULL, or filled with NM_OBSERVE_TIMES (else empty). */
void nm_engine_step_sums(const struct nm_engine *engine, uint32_t group, uint32_t instr,
			 struct nm_flowop_sums *ret_sums, struct nm_hist_snap *ret_times);
/* The sums of one flow in all phases, with NM_OBSERVE_FLOWS; else all 0. */
void nm_engine_flow_sums(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			 struct nm_flowop_sums *ret_sums);
/* Begins a new epoch of extremes; then the caller reads the flows. */
void nm_engine_flow_epoch(const struct nm_engine *engine);
/* Reads the work of a flow, with the extremes of the epoch before. */
void nm_engine_flow_sample(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			   struct nm_flow_sample *ret_sample);
/* How long the measured passes of a flow took since the engine was made, as nm_hist_copy_buckets
 * has it; false without NM_OBSERVE_PASS_TIMES. */
bool nm_engine_flow_times(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			  struct nm_hist_snap *ret_times);
/* Flowops executed by a group in a phase, with any detail. */
uint64_t nm_engine_operations(const struct nm_engine *engine, uint32_t group, uint32_t phase);
/* Takes executions and passes that are not taken yet, with NM_OBSERVE_EXECS or _PASS_LOG: at most
 * `room`, and answers how many; 0: there are no more now. The executions of one worker come in
 * their order. */
size_t nm_engine_take_execs(struct nm_engine *engine, struct nm_exec_record *list, size_t room);
/* How many executions are lost because the control thread did not take them in time. */
uint64_t nm_engine_lost_execs(const struct nm_engine *engine);

#endif
