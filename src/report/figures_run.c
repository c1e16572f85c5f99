/* SPDX-License-Identifier: Apache-2.0 */
/* The document from the top: profile, run, totals, groups, intervals. */
#include "report/common.h"
#include "report/end_totals.h"
#include "report/figures.h"
#include "result/difference.h"
#include "result/load.h"
#include "result/replayed.h"

/* --- profile; the item is the result --- */

static json_t *make_params(const struct nm_at *at)
{
	const struct nm_params *list = &at->result->params;
	json_t *params = json_object();

	for (size_t i = 0; params && i < list->count; i++) {
		const struct nm_param *param = &list->items[i];
		if (json_object_set_new(params, param->name, nm_json_text(param->value)) != 0) {
			json_decref(params);
			params = NULL;
		}
	}
	return params;
}

static json_t *make_from_environment(const struct nm_at *at)
{
	const struct nm_params *list = &at->result->params;
	json_t *names = json_array();

	for (size_t i = 0; names && i < list->count; i++) {
		if (list->items[i].source == NM_PARAM_ENVIRONMENT &&
		    json_array_append_new(names, nm_json_text(list->items[i].name)) != 0) {
			json_decref(names);
			names = NULL;
		}
	}
	return names;
}

static const struct nm_figure profile_figures[] = {
	NM_FIGURE(TEXT, struct nm_result, profile.name, "name", .schema = "known_text"),
	NM_FIGURE(TEXT, struct nm_result, profile.path, "path",
		  .doc = "The file; null when the profile came from memory."),
	NM_FIGURE(CHARS, struct nm_result, profile.sha256, "sha256",
		  .schema = "{'anyOf': [{'type': 'string', 'pattern': '^[0-9a-f]{64}$'}, {'type': "
			    "'null'}]}",
		  .doc = "Of the profile's text as it was read."),
	NM_MADE("params", make_params,
		"{'type': 'object', 'additionalProperties': {'type': ['string', 'null']}}",
		.doc = "Every parameter and its value in force, as text."),
	NM_MADE("from_environment", make_from_environment,
		"{'type': 'array', 'items': {'type': 'string'}}",
		.doc = "The parameters that have their value from the environment."),
	NM_FIGURE_END,
};

const struct nm_object nm_profile_object = {.name = "profile", .figures = profile_figures};

/* --- run; the item is the result --- */

static json_t *make_start(const struct nm_at *at)
{
	const struct nm_result *result = at->item;
	char start[48];

	return json_string(nm_format_utc(result->wall.start_ns, start, sizeof(start)));
}

static double start_s(const void *item)
{
	return (double)((const struct nm_result *)item)->wall.start_ns / 1e9;
}

static bool skew_known(const void *item)
{
	const struct nm_result *result = item;

	return result->n_hosts > 1 && result->has_start_skew;
}

static bool fill_difference(const struct nm_at *at, void *ret)
{
	return nm_result_difference(at->item, ret);
}

static bool has_responses(const struct nm_at *at)
{
	return ((const struct nm_result *)at->item)->statistics & NM_STAT_RESPONSES;
}

static const struct nm_figure responses_figures[] = {
	NM_FIGURE(COUNT, struct nm_response_report, told, "told"),
	NM_FIGURE(COUNT, struct nm_response_report, lost, "lost",
		  .doc = "Came faster than they could be written."),
	NM_FIGURE_END,
};

static const struct nm_object responses_object = {.figures = responses_figures};

static json_t *make_reconciled(const struct nm_at *at)
{
	enum nm_reconciled reconciled = ((const struct nm_result *)at->item)->verdict.reconciled;

	if (reconciled == NM_RECONCILED_UNKNOWN || reconciled == NM_RECONCILED_FORGIVEN)
		return json_null();
	return json_boolean(reconciled == NM_RECONCILED_YES);
}

static const struct nm_figure run_figures[] = {
	NM_FIGURE(TEXT, struct nm_result, id.run_id, "id",
		  .schema = "{'anyOf': [{'type': 'string', 'pattern': '^[0-9a-f]{32}$'}, {'type': "
			    "'null'}]}",
		  .doc = "Of this run alone."),
	NM_MADE("start", make_start,
		"{'type': 'string', 'pattern': "
		"'^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\\\.[0-9]{6}Z$'}",
		.doc = "Wall clock at the start, ISO 8601, UTC."),
	NM_RATE("start_s", start_s, .schema = "seconds",
		.doc = "Wall clock at the start, seconds since the epoch."),
	NM_FIGURE(REAL, struct nm_result, elapsed_s, "elapsed_s",
		  .doc = "From the start of the first transaction to the end of the last."),
	NM_FIGURE(COUNT, struct nm_result, id.seed, "seed", .doc = "Of all that was random."),
	NM_FIGURE(BOOL, struct nm_result, complete, "complete",
		  .doc = "Everything was run and every host delivered its results."),
	NM_FIGURE(BOOL, struct nm_result, verdict.interrupted, "interrupted",
		  .doc = "A user asked for its end; it is complete when all traffic had ended by "
			 "then."),
	NM_FIGURE(TEXT, struct nm_result, verdict.incomplete_why, "incomplete_why",
		  .doc = "One line, when not complete."),
	NM_FIGURE(REAL, struct nm_result, grid.warmup_s, "warmup_s"),
	NM_FIGURE(TEXT, struct nm_result, grid.warmup_until, "warmup_until",
		  NM_HAS(struct nm_result, grid.warmup_until),
		  .doc = "With --warmup plateau(...) only: the plateau. Each warm-up is a phase."),
	NM_FIGURE(REAL, struct nm_result, grid.cooldown_s, "cooldown_s"),
	NM_FIGURE(REAL, struct nm_result, grid.interval_s, "interval_s",
		  .doc = "The reporting interval; 0: there was none."),
	NM_FIGURE(COUNT, struct nm_result, grid.windows, "windows",
		  NM_HAS(struct nm_result, grid.windows),
		  .doc = "With --windows only: how many intervals each measured transaction with a "
			 "duration was to last."),
	NM_FIGURE(COUNT, struct nm_result, grid.after.transactions, "transactions_after",
		  NM_HAS(struct nm_result, grid.after.seconds),
		  .doc = "Only where a window closed with its time: transactions that ended so "
			 "long after that that the totals have them in the latency alone; 0 where "
			 "flows ended without one."),
	NM_FIGURE(REAL, struct nm_result, grid.after.seconds, "after_s",
		  NM_HAS(struct nm_result, grid.after.seconds),
		  .doc = "With transactions_after: how long after its time the last flow of a "
			 "group has left, at most."),
	NM_FIGURE(REAL, struct nm_result, start_skew_s, "start_skew_s", .known = skew_known,
		  .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "Between the first and the last host that entered the first measured "
			 "transaction."),
	NM_FILLED(
		"difference", fill_difference, struct nm_difference, nm_difference_object,
		NM_HAS(struct nm_result, statistics),
		.doc = "With statistics only: how much the slaves have done less than the master, "
		       "in per "
		       "cent of the master; a figure is null when the master has nothing of it, "
		       "all is "
		       "when a host delivered nothing."),
	NM_FIGURE(OBJECT, struct nm_result, responses, "responses", .has = has_responses,
		  .object = &responses_object,
		  .doc = "With a log of responses only: how many it has."),
	NM_FIGURE(COUNT, struct nm_result, stream.dropped, "stream_dropped",
		  NM_HAS(struct nm_result, stream.is_asked_for),
		  .doc = "With --stream only: lines about this run that its reader did not take in "
			 "time, or that had no reader. What a pipe holds counts as taken. In the "
			 "stream: so far."),
	NM_MADE("reconciled", make_reconciled, "{'type': ['boolean', 'null']}",
		.doc = "Whether the counts of both ends agree; null: this cannot be told."),
	NM_FIGURE(TEXT, struct nm_result, verdict.reconcile_text, "reconcile_text",
		  .doc = "What differs; or what has failed and was allowed to, so that nothing was "
			 "compared "
			 "after it."),
	NM_FIGURE(TEXTS, struct nm_result, warnings.items, "warnings",
		  .count_offset = offsetof(struct nm_result, warnings.count)),
	NM_FIGURE_END,
};

const struct nm_object nm_run_object = {.name = "run", .figures = run_figures};

/* --- totals; the item is the result --- */

static bool fill_datagrams(const struct nm_at *at, void *ret)
{
	struct nm_datagram_stats *stats = ret;

	nm_result_datagrams(at->result, stats);
	return stats->any;
}

static bool fill_ways(const struct nm_at *at, void *ret)
{
	nm_ways_of(at->result, ret);
	return true;
}

static const struct nm_figure totals_figures[] = {
	NM_FILLED("throughput", fill_ways, struct nm_ways, nm_ways_object, .key = "throughput"),
	NM_FILLED("messages", fill_datagrams, struct nm_datagram_stats, nm_datagrams_object,
		  .key = "messages", .omits_null = true),
	NM_FIGURE_END,
};

const struct nm_object nm_totals_object = {
	.name = "totals",
	.figures = totals_figures,
	.base = &nm_sum_object,
	.closing = NM_CLOSED_ALL,
};

/* --- phases of a group --- */

static bool fill_phase_datagrams(const struct nm_at *at, void *ret)
{
	struct nm_datagram_stats *stats = ret;

	nm_phase_datagrams(at->item, stats);
	return stats->any;
}

static bool fill_load(const struct nm_at *at, void *ret)
{
	return nm_phase_load(at->result, at->parent->item, at->item, ret);
}

static const struct nm_figure load_figures[] = {
	NM_FIGURE(COUNT, struct nm_load, due, "due",
		  .doc = "Passes that became due in the time of the transaction."),
	NM_FIGURE(COUNT, struct nm_load, unsent, "unsent",
		  .doc = "Those that had not begun when the time of drain (5 s, unless the profile "
			 "says otherwise) was over, or 1 s after an interrupt."),
	NM_FIGURE(
		COUNT, struct nm_load, dropped_queue, "dropped_queue",
		.doc = "Those that were dropped as soon as they were due, since as many waited as "
		       "queue allows."),
	NM_FIGURE(COUNT, struct nm_load, dropped_late, "dropped_late",
		  .doc = "Those that were dropped in their turn, since they had waited longer than "
			 "late allows."),
	NM_FIGURE(COUNT, struct nm_load, tardy, "tardy",
		  .doc = "Those that ended after that time."),
	NM_FIGURE(COUNT, struct nm_load, failed, "failed",
		  .doc = "Those without an answer, and flowops that failed."),
	NM_FIGURE(REAL, struct nm_load, offered_per_s, "offered_per_s",
		  .schema = "{'type': 'number', 'minimum': 0}",
		  .doc = "Passes that became due, a second."),
	NM_FIGURE(REAL, struct nm_load, achieved_per_s, "achieved_per_s",
		  .schema = "{'type': 'number', 'minimum': 0}",
		  .doc = "Passes that ended within the time, a second."),
	NM_FIGURE(REAL, struct nm_load, backlog_per_s, "backlog_per_s",
		  .schema = "{'type': 'number', 'minimum': 0}",
		  .doc = "Passes that became due, a second, and had not ended when the time was "
			 "over, nor were dropped: by that many the backlog has grown."),
	NM_FIGURE(REAL, struct nm_load, busy_s, "busy_s",
		  .doc = "How long a pass that was due waited for a free flow, on average."),
	NM_FIGURE(REAL, struct nm_load, kernel_s, "kernel_s",
		  .doc = "The same, where that flow was not free as the kernel took no more of "
			 "what it sent: its send buffer was full."),
	NM_FIGURE(REAL, struct nm_load, generator_s, "generator_s",
		  .doc = "How long it waited, with a flow free, for this end to begin it."),
	NM_FIGURE(REAL, struct nm_load, outstanding_mean, "outstanding_mean",
		  .schema = "{'type': 'number', 'minimum': 0}",
		  .doc = "How many passes were outstanding, begun and not ended, on average over "
			 "the time of the transaction."),
	NM_FIGURE(COUNT, struct nm_load, outstanding_max, "outstanding_max",
		  .doc = "The most that were at once: with several workers the most of each, added "
			 "up."),
	NM_FIGURE(NAME, struct nm_load, name, "verdict",
		  .schema = "{'enum': ['ok', 'connections', 'generator', 'overload', 'errors']}",
		  .doc = "What limited the load: ok, nothing; connections: all were busy, though "
			 "the other end answers as ever; generator: this end; overload: the other "
			 "end; errors: too many passes failed."),
	NM_FIGURE(STRING, struct nm_load, advice, "advice"),
	NM_FIGURE_END,
};

const struct nm_object nm_load_object = {
	.name = "load",
	.doc = "Only with arrivals: whether the load was as asked for.",
	.figures = load_figures,
};

static const struct nm_figure idle_size_figures[] = {
	NM_FIGURE(COUNT, struct nm_idle_size, bytes, "bytes", .is_label = true),
	NM_FIGURE(REAL, struct nm_idle_size, seconds, "ideal_s",
		  .doc = "The least time that a flow of this size has taken."),
	NM_FIGURE_END,
};

const struct nm_object nm_idle_size_object = {
	.name = "idle_size",
	.doc = "How long flows of one size took on the idle path.",
	.figures = idle_size_figures,
	.closing = NM_CLOSED_ALL,
};

static bool fill_replay(const struct nm_at *at, void *ret)
{
	return nm_phase_replayed(at->item, ret);
}

static const struct nm_transaction_report *report_of(const struct nm_at *at)
{
	return nm_master_transaction(at->result, at->parent->index, at->index);
}

static json_t *make_operations(const struct nm_at *at)
{
	return report_of(at) ? nm_json_count(report_of(at)->operations) : json_null();
}

static json_t *make_flowops(const struct nm_at *at)
{
	return nm_flowops_json(at, report_of(at));
}

static const struct nm_figure phase_figures[] = {
	{.json = "phase", .kind = NM_FIGURE_PLACE, .doc = "Its place in the group, from 1."},
	NM_FIGURE(NAME, struct nm_result_phase, name, "name"),
	NM_FIGURE(COUNT32, struct nm_result_phase, line, "line", .is_label = true,
		  .doc = "In the profile."),
	NM_FIGURE(BOOL, struct nm_result_phase, measured, "measured",
		  .doc = "It is part of the totals."),
	NM_FIGURE(REAL, struct nm_result_phase, begin_s, "begin_s", .is_label = true,
		  .schema = "{'type': 'number'}", .doc = "Since the run began."),
	NM_FILLED("messages", fill_phase_datagrams, struct nm_datagram_stats, nm_datagrams_object,
		  .omits_null = true),
	NM_FIGURE(REAL, struct nm_result_phase, planned_per_s, "planned_per_s",
		  NM_HAS(struct nm_result_phase, planned_per_s),
		  .schema = "{'type': 'number', 'exclusiveMinimum': 0}",
		  .doc = "Passes a second of all flows together, when the transaction has a rate "
			 "or arrivals."),
	NM_FILLED("load", fill_load, struct nm_load, nm_load_object, .omits_null = true),
	NM_MADE("steps", nm_steps_json, NM_SCHEMA_LIST("step"), .omits_null = true,
		.doc = "Only with arrivals=steps(...), of a measured transaction: each step, in "
		       "the order of time. Their counts add up to those of load, but for tardy."),
	NM_ARRAY(struct nm_result_phase, idle.sizes, idle.count, "idle_path", nm_idle_size_object,
		 NM_HAS(struct nm_result_phase, idle.count),
		 .doc = "Only with slowdown=\"auto\": by which the ideal times of its flows are "
			"reckoned."),
	NM_FILLED("replay", fill_replay, struct nm_replayed, nm_replay_object, .omits_null = true),
	NM_MADE("operations", make_operations, "operations", .omits_null = true),
	NM_MADE("flowops", make_flowops, "flowops", .omits_null = true),
	NM_FIGURE_END,
};

const struct nm_object nm_phase_object = {
	.name = "phase",
	.doc = "One transaction of a group: all of it.",
	.figures = phase_figures,
	.base = &nm_window_object,
	.base_offset = offsetof(struct nm_result_phase, whole),
	.closing = NM_CLOSED_ALL,
};

/* --- groups --- */

static const struct nm_group_report *group_report(const struct nm_at *at)
{
	return at->result->n_hosts ? nm_group_report_of(&at->result->hosts[0], at->index) : NULL;
}

static json_t *make_group_operations(const struct nm_at *at)
{
	return group_report(at) ? nm_json_count(group_report(at)->operations) : json_null();
}

static json_t *make_strands(const struct nm_at *at)
{
	return nm_strands_json(at, group_report(at));
}

static const struct nm_figure group_figures[] = {
	NM_FIGURE(TEXT, struct nm_result_group, name, "name", .schema = "known_text"),
	NM_FIGURE(COUNT32, struct nm_result_group, n_flows, "flows", .key = "flows"),
	NM_FIGURE(COUNT32, struct nm_result_group, n_workers, "workers", .key = "threads"),
	NM_FIGURE(COUNT, struct nm_result_group, after.transactions, "transactions_after",
		  NM_HAS(struct nm_result_group, after.seconds),
		  .doc = "This group's part of the run's."),
	NM_FIGURE(REAL, struct nm_result_group, after.seconds, "after_s",
		  NM_HAS(struct nm_result_group, after.seconds)),
	NM_LIST(struct nm_result_group, phases, n_phases, "phases", nm_phase_object),
	NM_MADE("operations", make_group_operations, "operations", .omits_null = true),
	NM_MADE("flow_totals", make_strands, "flow_totals", .omits_null = true),
	NM_FIGURE_END,
};

const struct nm_object nm_group_object = {
	.name = "group",
	.doc = "The measured transactions of one group.",
	.figures = group_figures,
	.base = &nm_window_object,
	.base_offset = offsetof(struct nm_result_group, totals),
	.closing = NM_CLOSED_ALL,
};

/* --- rows of the grid --- */

static json_t *make_part(const struct nm_at *at)
{
	return json_string(nm_part_name(((const struct nm_result_interval *)at->item)->part));
}

static bool fill_row_datagrams(const struct nm_at *at, void *ret)
{
	nm_interval_datagrams(at->result, at->index, ret);
	return true;
}

static json_t *make_name_of_group(const struct nm_at *at)
{
	return nm_json_text(at->result->groups[at->index].name);
}

static const struct nm_figure interval_group_figures[] = {
	NM_MADE("name", make_name_of_group, "known_text"),
	NM_FIGURE_END,
};

const struct nm_object nm_group_row_object = {
	.name = "interval_group",
	.doc = "What one group has done in an interval.",
	.figures = interval_group_figures,
	.base = &nm_window_object,
	.closing = NM_CLOSED_ALL,
};

static const struct nm_figure interval_figures[] = {
	NM_FIGURE(REAL, struct nm_result_interval, from_s, "from_s",
		  .doc = "Since the transaction began."),
	NM_FIGURE(REAL, struct nm_result_interval, to_s, "to_s"),
	NM_FIGURE(NUMBER, struct nm_result_interval, phase, "phase", .doc = "From 1."),
	NM_MADE("part", make_part, "{'enum': ['warmup', 'measured', 'cooldown']}"),
	NM_FILLED("messages", fill_row_datagrams, struct nm_datagram_stats, nm_datagrams_object,
		  .has = nm_has_datagrams),
	NM_LIST(struct nm_result_interval, groups, n_groups, "groups", nm_group_row_object,
		NM_HAS(struct nm_result_interval, n_groups),
		.doc = "Of 2 to 16 groups what each has done, in the order of `groups`."),
	NM_FIGURE_END,
};

const struct nm_object nm_interval_object = {
	.name = "interval",
	.figures = interval_figures,
	.base = &nm_window_object,
	.base_offset = offsetof(struct nm_result_interval, window),
	.closing = NM_CLOSED_ALL,
};

/* --- the document; the item is the result --- */

static json_t *make_schema(const struct nm_at *at)
{
	(void)at;
	return json_string(NM_RESULT_SCHEMA);
}

static bool is_repeated(const struct nm_at *at)
{
	return at->runs->n_runs > 1;
}

static const struct nm_figure server_figures[] = {
	NM_FIGURE(STRING, struct nm_result_server, server, "server", .is_label = true,
		  .doc = "As server= has it."),
	NM_FIGURE(COUNT32, struct nm_result_server, port, "port", .is_label = true,
		  .doc = "Of server=, of port=, or that of the protocol; 0: it has none."),
	NM_FIGURE(TEXT, struct nm_result_server, app, "app", .is_label = true),
	NM_FIGURE(CHARS, struct nm_result_server, version, "version",
		  .doc = "As the server says; null: it does not."),
	NM_FIGURE(NAME, struct nm_result_server, why, "why",
		  .doc = "Why it does not say, or is not asked."),
	NM_FIGURE_END,
};

const struct nm_object nm_server_object = {
	.name = "server",
	.doc = "A server that is not netmodel, asked before the run over a connection of its own.",
	.figures = server_figures,
};

static const struct nm_figure document_figures[] = {
	NM_MADE("schema", make_schema, "{'const': '" NM_RESULT_SCHEMA "'}",
		.doc = "Name and version of this schema."),
	NM_FIGURE(TEXT, struct nm_result, id.version, "version",
		  .doc = "Version of netmodel that made the result."),
	{.json = "profile", .kind = NM_FIGURE_OBJECT, .object = &nm_profile_object},
	{.json = "run", .kind = NM_FIGURE_OBJECT, .object = &nm_run_object},
	{.json = "totals",
	 .kind = NM_FIGURE_OBJECT,
	 .object = &nm_totals_object,
	 .doc = "The measured transactions of all groups, warm-up and cool-down cut, as the master "
		"saw them."},
	NM_LIST(struct nm_result, groups, n_groups, "groups", nm_group_object),
	NM_LIST(struct nm_result, hosts, n_hosts, "hosts", nm_host_object,
		.doc = "The master first, then each slave."),
	NM_LIST(struct nm_result, id.servers, id.n_servers, "servers", nm_server_object,
		NM_HAS(struct nm_result, id.n_servers), .doc = "With server= only."),
	NM_LIST(struct nm_result, intervals, n_intervals, "intervals", nm_interval_object,
		.doc = "The reporting intervals, seen by the master: all groups together and "
		       "each group."),
	NM_MADE("requirements", nm_requirements_json, NM_SCHEMA_LIST("requirement"),
		.omits_null = true),
	NM_MADE("comparison", nm_comparison_json, "comparison", .omits_null = true),
	NM_MADE("sweep", nm_sweep_json, "sweep", .omits_null = true),
	{.json = "repeat",
	 .has = is_repeated,
	 .kind = NM_FIGURE_OBJECT,
	 .object = &nm_repeat_object},
	NM_FIGURE_END,
};

const struct nm_object nm_document_object = {
	.doc = "What one execution of netmodel found (netmodel --format json). Names carry their "
	       "unit: _s seconds, _per_s a second, bytes. A value that could not be collected is "
	       "null, or an object that says why; it is never 0. Later versions of netmodel may "
	       "add "
	       "members under the same schema name; none is removed or changes its meaning.",
	.figures = document_figures,
};
