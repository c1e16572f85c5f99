/* SPDX-License-Identifier: Apache-2.0 */
/* The document's rows of the steps of arrivals; the item is a struct nm_step_row. */
#include "report/common.h"
#include "report/figures.h"
#include "report/steps.h"
#include "result/pool.h"

#define RATE_SCHEMA "{'type': 'number', 'minimum': 0}"

static bool has_failing(const struct nm_at *at)
{
	return nm_failing_most(((const struct nm_step_row *)at->item)->step.window.failing);
}

static const struct nm_figure step_figures[] = {
	NM_FIGURE(NUMBER, struct nm_step_row, step.number, "step", .is_label = true,
		  .doc = "Its place in the order of time, from 1. Where the steps come again it "
			 "has all that was due in it."),
	NM_FIGURE(REAL, struct nm_step_row, step.begin_s, "begin_s", .is_label = true,
		  .doc = "When it begins first, from the begin of the transaction."),
	NM_FIGURE(REAL, struct nm_step_row, step.window.seconds, "seconds", .key = "seconds",
		  .doc = "How long it lasted in the measured window, each time added up."),
	NM_FIGURE(REAL, struct nm_step_row, step.planned_per_s, "planned_per_s",
		  .key = "planned_per_s", .schema = RATE_SCHEMA,
		  .doc = "The rate that was asked for."),
	NM_FIGURE(COUNT, struct nm_step_row, load.due, "due", .key = "due",
		  .doc = "Passes that became due in it. All that follows is of these, whenever "
			 "they begin and end."),
	NM_FIGURE(COUNT, struct nm_step_row, step.window.counts.arrivals, "sent", .key = "sent",
		  .doc = "Those that were begun."),
	NM_FIGURE(COUNT, struct nm_step_row, step.window.counts.iterations, "answered",
		  .key = "answered", .doc = "Those that came to their end, as transactions do."),
	NM_FIGURE(COUNT, struct nm_step_row, load.unsent, "unsent", .key = "unsent",
		  .doc = "As in load, as the others of these names."),
	NM_FIGURE(COUNT, struct nm_step_row, load.dropped_queue, "dropped_queue",
		  .key = "dropped_queue"),
	NM_FIGURE(COUNT, struct nm_step_row, load.dropped_late, "dropped_late",
		  .key = "dropped_late"),
	NM_FIGURE(COUNT, struct nm_step_row, load.tardy, "tardy", .key = "tardy",
		  .doc = "Those that ended after the step."),
	NM_FIGURE(COUNT, struct nm_step_row, load.failed, "failed", .key = "failed"),
	NM_FIGURE(REAL, struct nm_step_row, load.offered_per_s, "offered_per_s",
		  .key = "offered_per_s", .schema = RATE_SCHEMA,
		  .doc = "Passes that became due, a second."),
	NM_FIGURE(REAL, struct nm_step_row, load.achieved_per_s, "achieved_per_s",
		  .key = "achieved_per_s", .schema = RATE_SCHEMA,
		  .doc = "Those that ended within the step, a second."),
	NM_FIGURE(REAL, struct nm_step_row, load.busy_s, "busy_s", .key = "busy"),
	NM_FIGURE(REAL, struct nm_step_row, load.kernel_s, "kernel_s", .key = "kernel"),
	NM_FIGURE(REAL, struct nm_step_row, load.generator_s, "generator_s", .key = "generator"),
	NM_FIGURE(NAME, struct nm_step_row, load.name, "verdict",
		  .schema = "{'enum': ['ok', 'connections', 'generator', 'overload', 'errors']}",
		  .doc = "As in load: whether the rate was reached in the step, and if not, what "
			 "has limited it."),
	/* The counts from there on are a struct nm_outcomes. */
	NM_FIGURE(OBJECT, struct nm_step_row, step.window.counts.requests, "outcomes",
		  .key = "outcomes", .object = &nm_outcomes_object,
		  NM_KNOWN_BY(struct nm_step_row, step.window.counts.requests),
		  NM_HAS(struct nm_step_row, step.window.counts.requests)),
	NM_LIST(struct nm_step_row, step.window.verbs, step.window.n_verbs, "verbs", nm_verb_object,
		NM_HAS(struct nm_step_row, step.window.n_verbs)),
#define TIME(more, NAME, member, label, what)                                                      \
	NM_FIGURE(LATENCY, struct nm_step_row, step.window.member, #member "_s", .key = #member,   \
		  .has_if = {offsetof(struct nm_step_row, step.window.member.count),               \
			     NM_TIME_##NAME == NM_TIME_PASS ? sizeof(uint64_t) : 0, false}),
	NM_TIMES(TIME, )
#undef TIME
		NM_FIGURE(FAILING, struct nm_step_row, step.window.failing, "with_failures",
			  .key = "with_failures", .schema = "with_failures", .has = has_failing),
	NM_FIGURE_END,
};

const struct nm_object nm_step_object = {
	.name = "step",
	.doc = "What came of the passes that were due in a step of arrivals=steps(...).",
	.figures = step_figures,
};

static json_t *rows_json(const struct nm_at *at, const struct nm_result *result,
			 const struct nm_result_group *group, const struct nm_result_phase *phase)
{
	json_t *rows = json_array();

	for (size_t i = 0; rows && i < phase->n_steps; i++) {
		struct nm_step_row row;
		struct nm_at item = nm_at_item(at, &row, i);

		if (!nm_step_row(result, group, &phase->steps[i], &row))
			continue;
		if (json_array_append_new(rows, nm_object_json(&nm_step_object, &item)) != 0) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}

json_t *nm_steps_json(const struct nm_at *at)
{
	json_t *rows = rows_json(at, at->result, at->parent->item, at->item);

	if (!rows || json_array_size(rows))
		return rows;
	json_decref(rows);
	return json_null();
}

/* Adds those of a transaction, if it has some. */
static int add_pooled(json_t *list, const struct nm_at *at, const struct nm_result *pool, size_t g,
		      size_t k)
{
	const struct nm_result_group *group = &pool->groups[g];
	json_t *rows;

	if (!group->phases[k].n_steps)
		return 0;
	rows = rows_json(at, pool, group, &group->phases[k]);
	return json_array_append_new(list, json_pack("{s:o, s:I, s:o}", "group",
						     nm_json_text(group->name), "phase",
						     (json_int_t)k + 1, "steps", rows));
}

json_t *nm_steps_of_series_json(const struct nm_at *at)
{
	json_t *list;
	struct nm_result pool;
	int error;

	if (!nm_has_step_rows(nm_runs_last(at->runs)))
		return json_null();
	list = json_array();
	error = nm_steps_pool(at->runs, &pool);
	for (size_t g = 0; list && !error && g < pool.n_groups; g++)
		for (size_t k = 0; !error && k < pool.groups[g].n_phases; k++)
			error = add_pooled(list, at, &pool, g, k);
	nm_pool_fini(&pool);
	if (!list || (!error && json_array_size(list)))
		return list;
	json_decref(list);
	return error ? NULL : json_null();
}
