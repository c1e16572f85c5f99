/* SPDX-License-Identifier: Apache-2.0 */
/* Makes notes on instructions that concern those around them. */
#include "plan/notes.h"

#include "flowop/disconnect.h"
#include "flowop/mix.h"
#include "flowop/pipeline.h"
#include "flowop/pseudo_ops.h"
#include "flowop/rounds.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/posts.h"
#include "plan/shape.h"
#include "transport/transport.h"

/* Notes the last of the replies that are read one after the other. */
static void note_last_replies(struct nm_group *group, const struct nm_phase *phase)
{
	uint32_t end = group->n_instrs;

	for (uint32_t i = phase->first; i < end; i++) {
		struct nm_instr *read = &group->instrs[i];
		uint32_t at = i;

		if (!read->datagram.is_reply)
			continue;
		/* The next pass begins with the first instruction. */
		do
			at = at + 1 == end ? phase->first : at + 1;
		while (!(group->instrs[at].op->flags & NM_FLOWOP_MOVES) ||
		       group->instrs[at].slot != read->slot);
		read->datagram.is_reply_last =
			group->instrs[at].op->flags & NM_FLOWOP_INITIATES &&
			(i + 1 == end || group->instrs[i + 1].step != nm_pseudo_repeat.step);
	}
}

/* Notes a write that is followed at once by the read of its answer. */
static void note_expected_replies(struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = phase->first; i + 1 < group->n_instrs; i++) {
		struct nm_instr *write = &group->instrs[i], *read = write + 1;
		const uint32_t moves = NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS;

		write->expects_reply =
			write->single_call && read->single_call && read->op->step == read->step &&
			write->op->step == write->step && !read->timeout_ns && !write->timeout_ns &&
			write->slot == read->slot && write->stride == read->stride &&
			(write->op->flags & NM_FLOWOP_INITIATES) &&
			(read->op->flags & moves) == moves;
	}
}

#define ACTS (NM_FLOWOP_FOLLOWS | NM_FLOWOP_INITIATES)

/* Whether this end waits for the other one before it does anything else, from an instruction on;
 * with some of what may be drawn there is enough. */
static bool awaits_next(const struct nm_instr *at, const struct nm_instr *end)
{
	while (at < end && !(at->op->flags & ACTS)) {
		const struct nm_mix *mix = nm_instr_mix(at);
		bool any = false;

		/* Each member acts. */
		for (uint32_t i = 0; mix && i < mix->n_members; i++)
			any |= awaits_next(at + mix->members[i].at, at + mix->length);
		if (mix || (at->op == &nm_pseudo_rounds && awaits_next(at - at->count, at)))
			return mix ? any : true;
		at += at->op == &nm_pseudo_jump ? at->count : 1;
	}
	return at < end && (at->op->flags & NM_FLOWOP_FOLLOWS);
}

/* Notes the thinks in which this end thinks while an answer may be on its way: what follows in the
 * pass waits for the other end. */
static void note_thinks_before_replies(struct nm_group *group, const struct nm_phase *phase)
{
	bool follows = false;

	for (uint32_t i = group->n_instrs; i-- > phase->first;) {
		struct nm_instr *instr = &group->instrs[i];

		if (!instr->op)
			continue;
		if (instr->op->flags & ACTS)
			follows = instr->op->flags & NM_FLOWOP_FOLLOWS;
		if (nm_instr_mix(instr) || instr->op == &nm_pseudo_jump ||
		    instr->op == &nm_pseudo_rounds)
			follows = awaits_next(instr, &group->instrs[group->n_instrs]);
		if (instr->op->flags & NM_FLOWOP_THINKS)
			instr->expects_reply = follows;
	}
}

static bool wants_more(const struct nm_instr *instr)
{
	const struct nm_opts_message *opts = instr->opts;

	return nm_flowop_sends_message(instr->op) && opts->more && instr->transport &&
	       (instr->transport->caps & NM_TRANSPORT_TCP);
}

/* Notes the writes after which more is sent: the next instruction on the connection, also in the
 * next pass, is a write as well. */
static void note_corks(struct nm_group *group, struct nm_phase *phase)
{
	const uint32_t concerns = NM_FLOWOP_MOVES | NM_FLOWOP_CLOSES;

	if (nm_phase_mixes(group, phase)) /* something else may be next each time */
		return;
	for (uint32_t i = phase->first; i < group->n_instrs; i++) {
		struct nm_instr *write = &group->instrs[i], *next = write;

		if (!wants_more(write))
			continue;
		do
			next = next + 1 == &group->instrs[group->n_instrs]
				       ? &group->instrs[phase->first]
				       : next + 1;
		while (!(next->op->flags & concerns) || next->slot != write->slot);
		write->message.cork = (next->op->flags & NM_FLOWOP_MOVES) &&
				      (next->op->flags & NM_FLOWOP_INITIATES) && !write->stride;
		phase->cork |= write->message.cork;
	}
}

/* Requests that are one message each, and all that is sent, may leave with one call. */
static void note_pipelined_request(const struct nm_group *group, const struct nm_phase *phase)
{
	const struct nm_instr *pipeline = &group->instrs[phase->first + phase->entry];
	struct nm_instr *write = &group->instrs[phase->first];

	write->message.joins = nm_flowop_sends_message(write->op) &&
			       pipeline->pipeline.n_asks == 1 && write->single_call &&
			       write->step == write->op->step && !write->timeout_ns;
}

/* The answers of several requests may be taken with one call, where each has one. */
static void note_pipelined_answer(const struct nm_group *group, const struct nm_phase *phase)
{
	const struct nm_instr *pipeline = &group->instrs[phase->first + phase->entry];
	struct nm_instr *read = &group->instrs[phase->first + pipeline->pipeline.n_asks];

	if (pipeline->pipeline.n_instrs - pipeline->pipeline.n_asks != 1)
		return;
	uint64_t more = read->size * (phase->pipeline - 1);

	if (!read->single_call || !(read->op->flags & NM_FLOWOP_FOLLOWS))
		return;
	if (more > group->messages.chunk_bytes - read->size)
		more = group->messages.chunk_bytes - read->size;
	read->ahead = more ? (uint32_t)more : 1;
	read->single_call = read->ahead == 1;
}

/* Openings whose handshake is a flowop of its own. */
static void note_handshakes(struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = phase->first; i + 1 < group->n_instrs; i++)
		group->instrs[i].open.defer_handshake =
			(group->instrs[i].op->flags & NM_FLOWOP_OPENS) &&
			(group->instrs[i + 1].op->flags & NM_FLOWOP_HANDSHAKES);
}

/* How often something opens the connection of an instruction. */
static unsigned openings_of(const struct nm_group *group, const struct nm_instr *instr)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < group->n_instrs; i++)
		count += group->instrs[i].op && (group->instrs[i].op->flags & NM_FLOWOP_OPENS) &&
			 group->instrs[i].slot == instr->slot && !group->instrs[i].stride;
	return count;
}

/* Notes the resets that this side waits for, and connections of which a lost packet may leave no
 * trace at the end that accepts. */
static void note_resets(const struct nm_group *group, struct nm_phase *phase)
{
	const struct nm_instr *first = &group->instrs[phase->first];

	for (const struct nm_instr *i = first; i < &group->instrs[group->n_instrs]; i++) {
		const struct nm_instr *user = i;

		if (!nm_instr_closes(i))
			continue;
		do
			user--;
		while (user >= group->instrs && (!user->transport || user->slot != i->slot));
		phase->waits.may_miss |= user >= first && nm_instr_opens(user) &&
					 nm_disconnect_awaits_reset(i, true);
		while (user >= group->instrs && (!nm_instr_opens(user) || user->slot != i->slot))
			user--;
		/* With a stride the opening may have begun with another slot. */
		bool accepted = user < group->instrs || nm_instr_accepts(user);

		phase->waits.resets |= nm_disconnect_awaits_reset(i, accepted);
	}
}

/* Whether a pass moves nothing but messages over the connection, the first one from the leader. */
static bool can_reconnect(const struct nm_group *group, const struct nm_phase *phase,
			  struct nm_instr *instr)
{
	const struct nm_opts_message *opts = instr->opts;
	bool first = true;

	if (!nm_flowop_moves_message(instr->op) || opts->discard || opts->rx_zerocopy)
		return false;

	for (const struct nm_instr *i = &group->instrs[phase->first]; i < instr; i++)
		first &= !i->transport || i->slot != instr->slot;
	instr->pass.rekey_point = first && !instr->message.law &&
				  (instr->op->flags & NM_FLOWOP_FOLLOWS) &&
				  (instr->transport->caps & NM_TRANSPORT_RECONNECTS);
	return (instr->transport->caps & NM_TRANSPORT_RECONNECTS) && !instr->stride &&
	       !instr->message.law && !instr->can_fail &&
	       (!first || phase->leads != instr->pass.rekey_point) &&
	       openings_of(group, instr) == 1;
}

/* Connections can be replaced between two passes when there is one other end, and both know where a
 * pass begins. */
static void note_reconnects(struct nm_group *group, const struct nm_ir_group *from,
			    struct nm_phase *phase)
{
	uint32_t host = NM_NO_HOST;

	phase->anew.between_passes = phase->n_instrs > 0 && !phase->open_sender && !phase->drains &&
				     !nm_phase_mixes(group, phase);
	for (size_t i = 0; i < from->n_steps; i++) {
		if (!nm_ir_has_conn(&from->steps[i]))
			continue;
		phase->anew.between_passes &= host == NM_NO_HOST || host == from->steps[i].host;
		host = from->steps[i].host;
	}
	for (uint32_t i = phase->first; i < group->n_instrs && phase->anew.between_passes; i++)
		if (group->instrs[i].transport && !can_reconnect(group, phase, &group->instrs[i]))
			phase->anew.between_passes = false;
}

void nm_phase_note(struct nm_group *group, const struct nm_ir_group *from, struct nm_phase *phase)
{
	if (phase->pipeline) {
		note_pipelined_request(group, phase);
		note_pipelined_answer(group, phase);
	} else {
		note_expected_replies(group, phase);
	}
	note_last_replies(group, phase);
	note_thinks_before_replies(group, phase);
	note_corks(group, phase);
	note_handshakes(group, phase);
	note_resets(group, phase);
	note_reconnects(group, from, phase);
	nm_phase_note_posts(group, phase);
}
