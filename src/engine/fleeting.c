/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that live for one pass: epoll would be told of each for one or two waits only. */
#include <sched.h>

#include "engine/engine_priv.h"
#include "engine/waits.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

/* The kernel tells of such sends by an error that stays until it is taken. */
static bool is_uncopied(const struct nm_instr *instr)
{
	const uint32_t kind = instr->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_FILES);

	return kind == NM_FLOWOP_MOVES && ((const struct nm_opts_moving *)instr->opts)->zerocopy;
}

/* Whether nothing but the worker has to do with how its connection is waited for. */
static bool suits(const struct nm_instr *instr)
{
	const uint32_t others = NM_TRANSPORT_HUB | NM_TRANSPORT_WAITS | NM_TRANSPORT_NO_PEER |
				NM_TRANSPORT_RECONNECTS;

	if (!instr->op)
		return false;
	if (!instr->transport)
		return true;
	return (instr->transport->caps & NM_TRANSPORT_RELIABLE) && !instr->transport->send &&
	       !instr->transport->recv && !(instr->transport->caps & others) && !instr->greets &&
	       !instr->can_fail && !instr->later && !is_uncopied(instr);
}

/* Whether each pass opens a connection and closes it again. */
bool nm_worker_is_fleeting(const struct nm_worker *worker)
{
	const struct nm_instr *instr = worker->group->instrs + worker->run.phase->first;
	uint32_t seen = 0;

	for (uint32_t i = 0; i < worker->run.phase->n_instrs; i++, instr++) {
		if (!suits(instr))
			return false;
		seen |= instr->op->flags;
	}
	return (seen & NM_FLOWOP_OPENS) && (seen & NM_FLOWOP_CLOSES);
}

void nm_worker_fleeting_begin(struct nm_worker *worker)
{
	worker->look = (struct nm_looks){.on = worker->n_flows > 1 && !worker->run.phase->drains &&
					       nm_worker_is_fleeting(worker)};
}

/* The end that accepts waits for the close after it, and needs epoll anyway. */
bool nm_worker_looks_later(struct nm_worker *worker, const struct nm_flow *flow,
			   const struct nm_instr *instr)
{
	const uint32_t states =
		NM_CONN_OPEN | NM_CONN_REGISTERED | NM_CONN_LEVEL | NM_CONN_ACCEPTED;
	const uint32_t kinds = NM_FLOWOP_MOVES | NM_FLOWOP_BOTH | NM_FLOWOP_FILES;

	if (!worker->look.on || (flow->conn->flags & states) != NM_CONN_OPEN ||
	    (instr->op->flags & kinds) != NM_FLOWOP_MOVES)
		return false;
	if (!worker->look.skips)
		return true;
	worker->look.skips--;
	return false;
}

/* So many flows that look are worth that they leave the CPU once: who is to answer may need this
 * very one. */
#define MANY_LOOKS 8

void nm_worker_looks_begin(struct nm_worker *worker)
{
	struct nm_looks *look = &worker->look;
	bool many = look->tried >= MANY_LOOKS;

	look->tried = look->missed = 0;
	if (many && worker->run_first->state == NM_FLOW_LOOKING)
		(void)sched_yield();
}

void nm_worker_looks_end(struct nm_worker *worker)
{
	struct nm_looks *look = &worker->look;

	if (look->missed <= look->tried / 2) {
		look->vain = look->tried ? 0 : look->vain;
		return;
	}
	look->vain = nm_more_vain(look->vain);
	look->skips = look->missed * look->vain;
}
