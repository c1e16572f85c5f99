/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's observations: statistics of flowops and flows, the log of executions, and samples of
 * TCP_INFO. query.c reads them for the control thread. */
#ifndef NM_ENGINE_OBSERVE_OBSERVE_H
#define NM_ENGINE_OBSERVE_OBSERVE_H

#include "engine/flowop_stats.h"
#include "flowop/flow.h"

struct nm_conn_summary;
struct nm_exec_log;
struct nm_flowop_stats;
struct nm_group;
struct nm_tcp_sample;
struct nm_tcp_sampler;
struct nm_worker;

struct nm_observe {
	struct nm_flowop_stats *stats; /* owned; NULL: none is kept */
	struct nm_tcp_sampler *tcp;    /* owned; NULL: TCP_INFO is not asked for */
	struct nm_timer sampler_timer; /* while TCP_INFO is being read, a few flows at a time */
	bool counts_passes;	       /* the worker counts the passes of each flow */
};

/* --- flowop_stats.c: the worker's side --- */

/* Makes the statistics of a worker whose flows are made already. shared: with processes that are
 * forked later, whose writes this process sees. 0 with *ret_stats, which is NULL when flags ask for
 * none; or -ENOMEM. The control thread calls it. */
int nm_flowop_stats_new(struct nm_worker *worker, unsigned flags, bool shared,
			struct nm_flowop_stats **ret_stats);
struct nm_flowop_stats *
nm_flowop_stats_free(struct nm_flowop_stats *stats); /* accepts NULL, returns NULL */
/* The program that the worker runs: the group's, or a copy of it whose steps are measured. Any
 * thread. */
const struct nm_instr *nm_observe_program(const struct nm_observe *observe,
					  const struct nm_group *group);
/* The instruction of that program for which one stands that opens a connection anew
 * (phase/reconnect.h); any other is returned as it is. On the worker's thread. */
const struct nm_instr *nm_observe_original(const struct nm_worker *worker,
					   const struct nm_instr *instr);
/* The flow has made a pass, which has ended at now_ns; 0: passes are not timed. With
 * NM_OBSERVE_PASSES. On the worker's thread, as all below, and only where statistics are kept. */
void nm_flowop_stats_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* The flow's step has failed; the flow ends unless the profile expects the failure. */
void nm_flowop_stats_failed(struct nm_worker *worker, struct nm_flow *flow,
			    const struct nm_instr *instr);
/* The wait of the flow's step has ended by its limit, without an error. */
void nm_flowop_stats_expired(struct nm_worker *worker, struct nm_flow *flow,
			     const struct nm_instr *instr);
/* A request of the flowop has ended outside of its step: member is its offset in struct
 * nm_outcome_counters. */
void nm_flowop_stats_outcome(struct nm_worker *worker, const struct nm_instr *instr, size_t member);
/* Bytes have come over the connection after the last pass: they count for the flowop that reads
 * from it. */
void nm_flowop_stats_drained(struct nm_worker *worker, const struct nm_conn *conn, uint64_t bytes);
/* Bytes of abandoned messages have moved after the last pass. */
void nm_flowop_stats_settled(struct nm_worker *worker, const struct nm_conn *conn, uint64_t sent,
			     uint64_t received);

/* --- flowop_stats.c: the control thread's side, while the worker runs --- */

/* Adds the sums of one instruction of the program to *sums, and its times to *times if they are
 * kept and times is not NULL; nothing when there is no instruction with that number. */
void nm_flowop_stats_add_step(const struct nm_flowop_stats *stats, uint32_t instr,
			      struct nm_flowop_sums *sums, struct nm_hist_snap *times);
/* Adds the sums of one of the worker's flows, by its number there. */
void nm_flowop_stats_add_flow(const struct nm_flowop_stats *stats, uint32_t number,
			      struct nm_flowop_sums *sums);
/* Operations of n_instrs instructions, from `first` on. */
uint64_t nm_flowop_stats_operations(const struct nm_flowop_stats *stats, uint32_t first,
				    uint32_t n_instrs);
/* Begins a new epoch of extremes. */
void nm_flowop_stats_begin_epoch(struct nm_flowop_stats *stats);
/* Reads the work of one of the worker's flows, with the extremes of the epoch before. */
void nm_flowop_stats_sample(const struct nm_flowop_stats *stats, uint32_t number,
			    struct nm_flow_sample *ret);
/* The histogram of the passes of one of the worker's flows; NULL: it is not kept. */
const struct nm_hist *nm_flowop_stats_passes(const struct nm_flowop_stats *stats, uint32_t number);
/* The log; its size is 0 where none is kept. */
struct nm_exec_log *nm_flowop_stats_log(struct nm_flowop_stats *stats);

/* --- conn_summary.c --- */

/* Adds the state of the worker's open connections to the sum. On the worker's thread. */
void nm_worker_summarise_conns(const struct nm_worker *worker, struct nm_conn_summary *sum);

/* --- tcp_sampler.c --- */

/* Makes the sampler of a worker whose flows are made already; shared, NULL and errors as of
 * nm_flowop_stats_new. */
int nm_tcp_sampler_new(struct nm_worker *worker, unsigned flags, bool shared,
		       struct nm_tcp_sampler **ret_sampler);
/* shared: as when it was made. Accepts NULL, returns NULL. */
struct nm_tcp_sampler *nm_tcp_sampler_free(struct nm_tcp_sampler *sampler, bool shared);
/* Begins to sample (observe.sampler_timer) when the control thread asks. On the worker's thread,
 * as the next two, and only with a sampler. */
void nm_tcp_sampler_command(struct nm_worker *worker);
/* The timer has fired: reads a few flows; tells the control thread after the last of them. */
void nm_tcp_sampler_run(struct nm_worker *worker, uint64_t now_ns);
/* Keeps a last sample of each connection at the end of a measured phase. */
void nm_tcp_sampler_end(struct nm_worker *worker);
/* Asks the worker; false: it has not answered the last time. The control thread calls this and all
 * below. */
bool nm_tcp_sampler_ask(struct nm_tcp_sampler *sampler);
bool nm_tcp_sampler_has_answered(const struct nm_tcp_sampler *sampler);
/* The samples of the last answer, or (last) the samples at the end of the last measured phase.
 * Borrowed. */
const struct nm_tcp_sample *nm_tcp_sampler_samples(const struct nm_tcp_sampler *sampler, bool last,
						   uint32_t *ret_count);

#endif
