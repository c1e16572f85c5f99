/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_ENGINE_OBSERVE_OBSERVE_H
#define NM_ENGINE_OBSERVE_OBSERVE_H

#include "engine/flowop_stats.h"
#include "flowop/flow.h"

struct nm_worker;
struct nm_flowop_stats;

/* The details of a worker whose flows are made already. shared: they are seen by processes that are
 * forked later, and by this one what those write. NULL in *ret_detail when no details are asked
 * for. 0 or -ENOMEM. */
int nm_flowop_stats_new(struct nm_worker *worker, unsigned flags, bool shared,
			struct nm_flowop_stats **ret_detail);
struct nm_flowop_stats *
nm_flowop_stats_free(struct nm_flowop_stats *detail); /* accepts NULL, returns NULL */
/* The program that the worker runs: the one that measures. */
const struct nm_instr *nm_flowop_stats_instrs(const struct nm_flowop_stats *detail);
/* The flow has made a pass, which has ended at now_ns; 0: passes are not timed. With
 * NM_OBSERVE_PASSES. */
void nm_flowop_stats_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* The flow's step has not done its work: it has failed, and unless that was expected the flow ends;
 * or its wait has ended without an error. */
void nm_flowop_stats_failed(struct nm_worker *worker, struct nm_flow *flow,
			    const struct nm_instr *instr);
void nm_flowop_stats_expired(struct nm_worker *worker, struct nm_flow *flow,
			     const struct nm_instr *instr);
/* So many bytes have come over the connection after the last pass: they count for the flowop that
 * reads from it. */
void nm_flowop_stats_drained(struct nm_worker *worker, const struct nm_conn *conn, uint64_t bytes);
/* What was given up has moved after the last pass. */
void nm_flowop_stats_settled(struct nm_worker *worker, const struct nm_conn *conn, uint64_t sent,
			     uint64_t received);

/* tcp_info.c: new and free as above; the others on the worker's thread, and only with a watch */
struct nm_tcp_sampler;
int nm_tcp_sampler_new(struct nm_worker *worker, unsigned flags, bool shared,
		       struct nm_tcp_sampler **ret_watch);
struct nm_tcp_sampler *nm_tcp_sampler_free(struct nm_tcp_sampler *watch, bool shared);
void nm_tcp_sampler_command(struct nm_worker *worker); /* sees whether main asks */
void nm_tcp_sampler_run(struct nm_worker *worker);     /* at a few of its flows, while watching */
void nm_tcp_sampler_end(struct nm_worker *worker);     /* of a measured phase */

/* What a worker keeps of what is observed. */
struct nm_observe {
	struct nm_flowop_stats *stats; /* owned; NULL: none is kept */
	struct nm_tcp_sampler *tcp;    /* owned; NULL: TCP_INFO is not asked for */
	bool sampling;		       /* it is being read */
	bool counts_passes;	       /* of each flow */
};

#endif
