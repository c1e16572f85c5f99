/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers mixes, sequences and pipelines, and finds how much one call moves. */
#include "plan/lower_parts.h"

#include "app/command.h"
#include "flowop/mix.h"
#include "flowop/queue.h"
#include "flowop/rounds.h"
#include "flowop/window.h"
#include "plan/mixes.h"
#include "plan/plan.h"
#include "plan/shape.h"
#include "transport/transport.h"

/* --- mixes and sequences --- */

static struct nm_instr *emit(struct nm_group *group, const struct nm_flowop *op, unsigned line)
{
	struct nm_instr *instr = &group->instrs[group->n_instrs++];

	*instr = (struct nm_instr){.step = op->step, .op = op, .line = line};
	return instr;
}

/* All jumps of the mix lead behind it. */
static void end_mix(const struct nm_mix_lowering *at, const struct nm_ir_mix *mix,
		    struct nm_group *group)
{
	mix->table->length = group->n_instrs - at->draws;
	for (uint32_t i = at->draws; i < group->n_instrs; i++)
		if (group->instrs[i].op == &nm_pseudo_jump)
			group->instrs[i].count = group->n_instrs - i;
}

static void end_sequence(const struct nm_mix_lowering *at, const struct nm_ir_sequence *sequence,
			 struct nm_group *group)
{
	uint32_t length = group->n_instrs - at->begins;

	/* This side may have no part in it, and once is what it does anyhow. */
	if (!length || sequence->count->max == 1)
		return;
	struct nm_instr *rounds = emit(group, &nm_pseudo_rounds, sequence->line);

	rounds->opts = sequence->count;
	rounds->site = sequence->site.site;
	rounds->pass.site = sequence->site.own_site;
	rounds->count = length;
}

static void begin_mix(struct nm_mix_lowering *at, const struct nm_ir_mix *mix,
		      struct nm_group *group)
{
	at->draws = group->n_instrs;
	struct nm_instr *draws = emit(group, &nm_pseudo_mix, mix->node->line);

	draws->opts = mix->table;
	draws->site = mix->site.site;
	draws->pass.site = mix->site.own_site;
}

/* The same as nm_mix_lower, of mixes alone. */
static bool lower_member(struct nm_mix_lowering *at, const struct nm_ir_group *from,
			 uint32_t member, struct nm_group *group)
{
	const struct nm_ir_mix *last = nm_ir_mix_of(from, at->member),
			       *next = nm_ir_mix_of(from, member);

	if (member == at->member)
		return false;
	if (last && last == next)
		emit(group, &nm_pseudo_jump, last->node->line);
	else if (last)
		end_mix(at, last, group);
	if (next && next != last)
		begin_mix(at, next, group);
	if (next)
		next->table->members[member - 1 - next->first].at = group->n_instrs - at->draws;
	at->member = member;
	return true;
}

bool nm_mix_lower(struct nm_mix_lowering *at, const struct nm_ir_group *from,
		  const struct nm_ir_step *step, struct nm_group *group)
{
	uint32_t sequence = step ? step->in.sequence : 0;
	bool changes = sequence != at->sequence;

	if (changes && at->sequence)
		end_sequence(at, &from->sequences[at->sequence - 1], group);
	bool draws = lower_member(at, from, step ? step->in.member : 0, group);

	if (changes && sequence)
		at->begins = group->n_instrs;
	at->sequence = sequence;
	return changes || draws;
}

/* --- pipelines --- */

/* The most bytes of a request of the app, but for its payload. */
static uint32_t request_head_bytes(const struct nm_app *app, bool commands)
{
	return (commands ? NM_COMMAND_HEAD_MAX : app->head_bytes) + NM_APP_TAIL_MAX;
}

/* The same of all requests of a phase, which has so many instructions. */
static uint32_t most_head_bytes(const struct nm_instr *first, uint32_t count)
{
	uint32_t most = 0;

	for (const struct nm_instr *i = first; i < first + count; i++) {
		uint32_t bytes =
			nm_instr_asks(i)
				? request_head_bytes(i->ask.app, i->op->verb == NM_VERB_COMMAND)
				: 0;

		most = bytes > most ? bytes : most;
	}
	return most;
}

void nm_pipeline_lower(struct nm_group *group, const struct nm_ir_group *from,
		       const struct nm_ir_transaction *t, struct nm_phase *phase)
{
	uint32_t count = group->n_instrs - phase->first, asks = 0;
	struct nm_instr *first = &group->instrs[phase->first];

	while (asks < count && !(first[asks].op->flags & NM_FLOWOP_FOLLOWS))
		asks++;
	const bool window = nm_ir_is_window(from, t);

	phase->entry = count;
	struct nm_instr *pipeline = &group->instrs[group->n_instrs++];

	if (nm_ir_is_queue(from, t)) {
		*pipeline = (struct nm_instr){.step = nm_pseudo_queue.step,
					      .op = &nm_pseudo_queue,
					      .pipeline.places = nm_queue_places(phase->pipeline),
					      .pipeline.head_bytes = most_head_bytes(first, count),
					      .transport = first[count - 1].transport,
					      .opening = first[count - 1].opening,
					      .ask = first[count - 1].ask};
	} else {
		*pipeline = (struct nm_instr){
			.step = window ? nm_window_step : nm_pseudo_pipeline.step,
			.op = &nm_pseudo_pipeline,
			.lossy = window,
			.pipeline.places =
				window ? nm_window_places(phase->pipeline) : phase->pipeline};
	}
	pipeline->count = phase->pipeline;
	pipeline->pipeline.n_instrs = count;
	pipeline->pipeline.n_asks = asks;
	pipeline->slot = first[count - 1].slot;
	pipeline->line = phase->line;
	if (pipeline->pipeline.places > group->pipeline)
		group->pipeline = pipeline->pipeline.places;
}

/* --- one call --- */

#define CHUNK_MIN   4096u
#define CHUNK_MAX   (1024u * 1024u)
#define CHUNK_FILES (256u * 1024u)
#define CHUNK_QUEUE (64u * 1024u) /* of many requests or answers together */

/* Whether all that it moves may be moved in parts. */
static bool is_stream(const struct nm_ir_group *group)
{
	for (size_t i = 0; i < group->n_steps; i++)
		if ((group->steps[i].op->flags & NM_FLOWOP_FILES) ||
		    (group->steps[i].transport &&
		     (group->steps[i].transport->caps & NM_TRANSPORT_MESSAGES)))
			return false;
	return true;
}

uint64_t nm_chunk_of(const struct nm_ir_group *group)
{
	uint64_t chunk = CHUNK_MIN, whole = 0; /* whole: a head is put together in one piece */

	for (size_t k = 0; k < group->n_transactions; k++)
		if (group->transactions[k].attrs.pipeline > 1 &&
		    nm_ir_is_queue(group, &group->transactions[k]))
			chunk = CHUNK_QUEUE;
	for (size_t i = 0; i < group->n_steps; i++) {
		const struct nm_ir_step *step = &group->steps[i];
		uint64_t most = step->rsize > step->size ? step->rsize : step->size;

		if (step->op->flags & NM_FLOWOP_FILES)
			most = CHUNK_FILES;
		if (step->ask.app && (step->op->flags & NM_FLOWOP_ASKS)) {
			uint64_t head = request_head_bytes(step->ask.app,
							   step->op->verb == NM_VERB_COMMAND);

			most += head;
			head = head > CHUNK_MIN ? head : CHUNK_MIN;
			whole = head > whole ? head : whole;
		}
		if (most > chunk)
			chunk = most;
	}
	if (group->attrs.buffer_bytes && is_stream(group))
		return group->attrs.buffer_bytes > whole ? group->attrs.buffer_bytes : whole;
	return chunk < CHUNK_MAX ? chunk : CHUNK_MAX;
}
