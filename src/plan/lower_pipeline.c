/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers the begin of passes of which several may be under way. */
#include "plan/lower_priv.h"

#include "app/app.h"
#include "app/command.h"
#include "flowop/queue.h"
#include "flowop/window.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/shape.h"

uint32_t nm_request_head_bytes(const struct nm_app_use *ask, int verb, uint64_t size)
{
	const uint32_t one = verb == NM_VERB_COMMAND ? NM_COMMAND_HEAD_MAX : ask->app->head_bytes;

	return (ask->batch ? ask->batch * (one + (uint32_t)size) : one) + NM_APP_TAIL_MAX;
}

/* The same of all requests of a phase, which has so many instructions. */
static uint32_t most_head_bytes(const struct nm_instr *first, uint32_t count)
{
	uint32_t most = 0;

	for (const struct nm_instr *i = first; i < first + count; i++) {
		uint32_t bytes =
			nm_instr_asks(i) ? nm_request_head_bytes(&i->ask, i->op->verb, i->size) : 0;

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
