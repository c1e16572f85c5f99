/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is of the requests that were recorded. */
#include "flowop/replay.h"

#include "flowop/ask.h"
#include "flowop/mix.h"
#include "flowop/pseudo_ops.h"

uint64_t nm_turns_next(struct nm_turns *turns, uint32_t n_flows)
{
	uint64_t turn = turns->base + turns->at;

	if (turns->by_arrival)
		return turns->arrival;
	turns->at += turns->n_workers;
	if (turns->at >= n_flows) {
		turns->at %= turns->n_workers;
		turns->base += n_flows;
	}
	return turn;
}

uint32_t nm_replay_next(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	const struct nm_mix *mix = nm_instr_mix(instr);
	uint64_t turn = nm_turns_next(&io->apps.turns, io->apps.n_flows) % mix->replays->count;
	uint32_t member = mix->replays->list[turn].member;
	const struct nm_instr *asks = instr + mix->members[member].at;

	while (asks->op == &nm_pseudo_select)
		asks++;
	flow->conn = nm_flow_conn(flow, asks->slot);
	nm_ask_replay(io, flow, asks, turn);
	return member;
}
