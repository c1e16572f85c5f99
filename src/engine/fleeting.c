/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that live for one pass: epoll would be told of each for one or two waits only. */
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
	const uint32_t others =
		NM_TRANSPORT_HUB | NM_TRANSPORT_WAITS | NM_TRANSPORT_NO_PEER | NM_TRANSPORT_RENEWS;

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
	const struct nm_instr *instr = worker->group->instrs + worker->phase->first;
	uint32_t seen = 0;

	for (uint32_t i = 0; i < worker->phase->n_instrs; i++, instr++) {
		if (!suits(instr))
			return false;
		seen |= instr->op->flags;
	}
	return (seen & NM_FLOWOP_OPENS) && (seen & NM_FLOWOP_CLOSES);
}

void nm_worker_fleeting_begin(struct nm_worker *worker)
{
	worker->fleeting =
		worker->n_flows > 1 && !worker->phase->drains && nm_worker_is_fleeting(worker);
	worker->vain = worker->unlooked = 0;
}
