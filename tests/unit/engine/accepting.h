/* SPDX-License-Identifier: Apache-2.0 */
/* An engine with one group whose connections come with preambles, over transports of the tests:
 * what the tests of accepting share. */
#ifndef NM_TESTS_UNIT_ENGINE_ACCEPTING_H
#define NM_TESTS_UNIT_ENGINE_ACCEPTING_H

#include <string.h>

#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "flowop/listening.h"
#include "transport/preamble.h"
#include "transport/prover.h"
#include "transport/transport.h"

#define N_FLOWS	  4
#define N_WORKERS 2

struct accepting {
	struct nm_instr instrs[4];
	struct nm_group group;
	struct nm_plan plan;
	struct nm_engine_host host;
	struct nm_worker workers[N_WORKERS];
	struct nm_engine_group engine_group;
	struct nm_engine engine;
	struct nm_flow flows[N_WORKERS][N_FLOWS / N_WORKERS];
	char texts[N_WORKERS][2][NM_ENDPOINT_TEXT];
	struct nm_listener listeners[N_WORKERS][2];
	struct nm_prover *prover;
};

/* Two openings: a connect, and an accept over the transport, behind something else. */
static inline void accepting_init(struct accepting *a, const struct nm_transport *transport)
{
	static const struct nm_opts_open none;

	nm_prover_free(a->prover);
	memset(a, 0, sizeof *a);
	a->prover = nm_prover_new(a->engine.secret);
	a->instrs[0] = (struct nm_instr){
		.op = nm_flowop_find("connect"), .transport = transport, .open.has_preamble = true};
	a->instrs[1] = (struct nm_instr){.op = nm_flowop_find("nop")};
	a->instrs[2] = (struct nm_instr){.op = nm_flowop_find("accept"),
					 .transport = transport,
					 .opts = &none,
					 .open.has_preamble = true,
					 .opening = 1,
					 .line = 7};
	a->group = (struct nm_group){.n_workers = N_WORKERS,
				     .n_flows = N_FLOWS,
				     .n_conns = 1,
				     .n_openings = 2,
				     .instrs = a->instrs,
				     .n_instrs = 4,
				     .runs = true};
	a->plan = (struct nm_plan){.groups = &a->group, .n_groups = 1};
	a->engine_group = (struct nm_engine_group){
		.plan = &a->group, .workers = a->workers, .n_workers = N_WORKERS};
	a->engine = (struct nm_engine){
		.plan = &a->plan, .groups = &a->engine_group, .hosts = &a->host, .nonce = {8, 8}};
	for (uint32_t w = 0; w < N_WORKERS; w++) {
		struct nm_worker *worker = &a->workers[w];

		worker->engine = &a->engine;
		worker->group = &a->group;
		worker->worker_no = w;
		worker->n_flows = N_FLOWS / N_WORKERS;
		worker->flows = (char *)a->flows[w];
		worker->flow_bytes = sizeof a->flows[w][0];
		worker->io.prover = a->prover;
		worker->io.own_nonce = a->engine.nonce;
		worker->epoll_fd = -1;
		worker->accept.texts = a->texts[w];
		worker->accept.listeners = a->listeners[w];
		worker->accept.handoff[0] = worker->accept.handoff[1] = -1;
		for (uint32_t i = 0; i < worker->n_flows; i++)
			a->flows[w][i].index = i * N_WORKERS + w;
	}
}

static inline struct nm_preamble accepting_preamble(uint32_t flow, uint32_t serial)
{
	return (struct nm_preamble){.opening = 1, .flow = flow, .serial = serial};
}

/* What is on the wire of a preamble that proves itself. */
static inline void accepting_pack(const struct accepting *a, const struct nm_preamble *preamble,
				  enum nm_preamble_kind kind, char wire[NM_PREAMBLE_BYTES])
{
	nm_preamble_pack(preamble, kind, a->prover, a->engine.nonce, wire);
}

#endif
