/* SPDX-License-Identifier: Apache-2.0 */
/* The document's part about repetitions; the item is the series of runs. */
#include "report/common.h"
#include "report/costs.h"
#include "report/figures.h"

static bool spread_known(const void *item)
{
	return ((const struct nm_summary *)item)->n > 1;
}

static const struct nm_figure summary_figures[] = {
	NM_FIGURE(SIZE, struct nm_summary, n, "n", .doc = "Runs that have the figure."),
	NM_FIGURE(REAL, struct nm_summary, mean, "mean", NM_KNOWN_BY(struct nm_summary, n),
		  .schema = "{'type': ['number', 'null']}"),
	NM_FIGURE(REAL, struct nm_summary, stddev, "stddev", .known = spread_known,
		  .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "Of the sample; null for fewer than two."),
	NM_FIGURE(
		REAL, struct nm_summary, ci95, "ci95", .known = spread_known,
		.schema = NM_SCHEMA_REAL_OR_NULL,
		.doc = "Half the width of the 95 % confidence interval of the mean (Student's t)."),
	NM_FIGURE_END,
};

const struct nm_object nm_summary_object = {
	.name = "summary",
	.doc = "One figure over the complete runs.",
	.figures = summary_figures,
};

#define OVER_RUNS(name)                                                                            \
	{                                                                                          \
		.json = #name, .kind = NM_FIGURE_OBJECT,                                           \
		.offset = offsetof(struct nm_runs_summary, name), .object = &nm_summary_object     \
	}

/* Of measured flows, in a series that has some. */
#define OVER_FLOWS(name)                                                                           \
	{                                                                                          \
		.json = #name, .kind = NM_FIGURE_OBJECT, NM_HAS(struct nm_runs_summary, name.n),   \
		.offset = offsetof(struct nm_runs_summary, name), .object = &nm_summary_object     \
	}
static const struct nm_figure summaries_figures[] = {
	OVER_RUNS(transactions_per_s), OVER_RUNS(bits_per_s),	 OVER_RUNS(latency_mean_s),
	OVER_RUNS(latency_p50_s),      OVER_RUNS(latency_p99_s), OVER_FLOWS(slowdown_mean),
	OVER_FLOWS(slowdown_p50),      OVER_FLOWS(slowdown_p99), NM_FIGURE_END,
};

static const struct nm_object summaries_object = {.figures = summaries_figures};

static bool fill_summaries(const struct nm_at *at, void *ret)
{
	nm_runs_summarise(at->runs, ret);
	return true;
}

/* What each host has cost; the item is a struct nm_costs_summary. */
static const struct nm_figure costs_figures[] = {
#define OVER_COSTS(word, its_name, label, format, its_doc)                                         \
	{.json = its_name,                                                                         \
	 .kind = NM_FIGURE_OBJECT,                                                                 \
	 .offset = offsetof(struct nm_costs_summary, value[NM_COST_##word]),                       \
	 .object = &nm_summary_object},
	NM_COSTS(OVER_COSTS)
#undef OVER_COSTS
		NM_FIGURE_END,
};

static const struct nm_object costs_object = {.figures = costs_figures};

static bool fill_costs(const struct nm_at *at, void *ret)
{
	nm_costs_summarise(at->runs, at->index, ret);
	return true;
}

static const struct nm_figure host_figures[] = {
	NM_FIGURE(TEXT, struct nm_result_host, name, "name", .schema = NM_SCHEMA_TEXT),
	NM_FILLED("costs", fill_costs, struct nm_costs_summary, costs_object),
	NM_FIGURE_END,
};

static const struct nm_object hosts_object = {.figures = host_figures, .is_list = true};

static json_t *make_hosts(const struct nm_at *at)
{
	const struct nm_result *last = nm_runs_last(at->runs);

	return nm_objects_json(&hosts_object, at, last->hosts, last->n_hosts,
			       sizeof(last->hosts[0]));
}

static const struct nm_figure run_of_series_figures[] = {
	{.json = "run", .kind = NM_FIGURE_OBJECT, .object = &nm_run_object},
	{.json = "totals", .kind = NM_FIGURE_OBJECT, .object = &nm_totals_object},
	NM_FIGURE_END,
};

static const struct nm_object runs_object = {.figures = run_of_series_figures, .is_list = true};

static json_t *make_runs(const struct nm_at *at)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < at->runs->n_runs; i++) {
		struct nm_at item = nm_at_item(at, at->runs->runs[i], i);

		item.result = at->runs->runs[i];
		if (json_array_append_new(list, nm_object_json(&runs_object, &item)) != 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *make_n_runs(const struct nm_at *at)
{
	return nm_json_count(at->runs->n_runs);
}

static const struct nm_figure repeat_figures[] = {
	NM_MADE("n", make_n_runs, "{'type': 'integer', 'minimum': 2}"),
	NM_MADE("runs", make_runs, NULL, .object = &runs_object),
	NM_FILLED("summary", fill_summaries, struct nm_runs_summary, summaries_object),
	NM_MADE("hosts", make_hosts, NULL, .object = &hosts_object,
		.doc = "What each has cost, over the complete runs."),
	NM_MADE("steps", nm_steps_of_series_json,
		"{'type': 'array', 'items': {'type': 'object', 'required': ['group', 'phase', "
		"'steps'], 'properties': {'group': {'$ref': '#/$defs/known_text'}, 'phase': "
		"{'$ref': '#/$defs/count'}, 'steps': " NM_SCHEMA_LIST(
			"step") "}, 'additionalProperties': false}}",
		.omits_null = true,
		.doc = "Only with arrivals=steps(...): the steps of each transaction that has "
		       "some, of the complete runs together."),
	NM_FIGURE_END,
};

const struct nm_object nm_repeat_object = {
	.name = "repeat",
	.doc = "With --repeat: every run in short. The rest of the document is the last run's.",
	.figures = repeat_figures,
};
