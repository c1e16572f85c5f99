/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the document that are there only when they were asked for: flowops, flows, events of
 * the hardware. */
#include <math.h>

#include "report/figures.h"
#include "result/difference.h"

const struct nm_object nm_operations_object = {
	.name = "operations",
	.raw = "{'$ref': '#/$defs/count', 'description': 'With statistics only: executions of "
	       "flowops.'}",
};

const struct nm_group_report *nm_group_report_of(const struct nm_result_host *host, size_t group)
{
	return host->report && group < host->report->n_groups ? &host->report->groups[group] : NULL;
}

const struct nm_transaction_report *nm_master_transaction(const struct nm_result *result,
							  size_t group, size_t phase)
{
	const struct nm_group_report *report =
		result->n_hosts ? nm_group_report_of(&result->hosts[0], group) : NULL;

	return report && phase < report->n_transactions ? &report->transactions[phase] : NULL;
}

/* --- flowops --- */

static json_t *make_cpu(const struct nm_at *at)
{
	const struct nm_flowop_report *flowop = at->item;

	return at->result->statistics & NM_STAT_FLOWOP_CPU ? nm_json_real(flowop->cpu_s)
							   : json_null();
}

static double operations_per_s(const void *item)
{
	const struct nm_flowop_report *flowop = item;

	return flowop->seconds > 0 ? (double)flowop->operations / flowop->seconds : NAN;
}

static const struct nm_figure flowop_figures[] = {
	NM_FIGURE(TEXT, struct nm_flowop_report, name, "flowop", .schema = NM_SCHEMA_TEXT),
	NM_FIGURE(COUNT32, struct nm_flowop_report, line, "line", .doc = "In the profile."),
	NM_FIGURE(COUNT, struct nm_flowop_report, operations, "operations"),
	NM_RATE("operations_per_s", operations_per_s,
		.doc = "Over the time of the transaction on this host."),
	NM_FIGURE(OBJECT, struct nm_flowop_report, outcomes, "outcomes",
		  .object = &nm_outcomes_object,
		  NM_HAS(struct nm_flowop_report, outcomes.requests)),
	NM_FIGURE(COUNT, struct nm_flowop_report, bytes_sent, "bytes_sent"),
	NM_FIGURE(COUNT, struct nm_flowop_report, bytes_received, "bytes_received"),
	NM_FIGURE(COUNT, struct nm_flowop_report, errors, "errors"),
	NM_MADE("cpu_s", make_cpu, NM_SCHEMA_REAL_OR_NULL,
		.doc = "CPU time of all of them; null: not measured."),
	NM_FIGURE(LATENCY, struct nm_flowop_report, time, "time_s", .doc = "Of an execution."),
	NM_FIGURE_END,
};

const struct nm_object nm_flowops_object = {
	.name = "flowops",
	.doc = "With statistics only: the flowops of the transaction, in their order.",
	.figures = flowop_figures,
	.is_list = true,
};

json_t *nm_flowops_json(const struct nm_at *at, const struct nm_transaction_report *transaction)
{
	return transaction ? nm_objects_json(&nm_flowops_object, at, transaction->flowops,
					     transaction->n_flowops, sizeof(*transaction->flowops))
			   : json_null();
}

/* --- flows --- */

static const struct nm_figure strand_figures[] = {
	{.json = "flow", .kind = NM_FIGURE_INDEX, .doc = "In the group, from 0."},
	NM_FIGURE(REAL, struct nm_strand_report, seconds, "seconds",
		  .doc = "In flowops: without waits for other flows, or for a rate."),
	NM_FIGURE(COUNT, struct nm_strand_report, operations, "operations"),
	NM_FIGURE(COUNT, struct nm_strand_report, bytes_sent, "bytes_sent"),
	NM_FIGURE(COUNT, struct nm_strand_report, bytes_received, "bytes_received"),
	NM_FIGURE(COUNT, struct nm_strand_report, errors, "errors"),
	NM_FIGURE_END,
};

const struct nm_object nm_strands_object = {
	.name = "flow_totals",
	.doc = "With statistics of flows (-T) only: each flow of the group, in all transactions.",
	.figures = strand_figures,
	.is_list = true,
};

json_t *nm_strands_json(const struct nm_at *at, const struct nm_group_report *report)
{
	return report && report->n_strands
		       ? nm_objects_json(&nm_strands_object, at, report->strands, report->n_strands,
					 sizeof(*report->strands))
		       : json_null();
}

/* --- transactions of a slave --- */

struct host_phase {
	const char *name;
	unsigned line;
	uint64_t operations;
	const struct nm_transaction_report *report;
	struct nm_window window;
};

static json_t *make_flowops(const struct nm_at *at)
{
	return nm_flowops_json(at, ((const struct host_phase *)at->item)->report);
}

static const struct nm_figure host_phase_figures[] = {
	{.json = "phase", .kind = NM_FIGURE_PLACE, .doc = "Its place in the group, from 1."},
	NM_FIGURE(NAME, struct host_phase, name, "name"),
	NM_FIGURE(COUNT32, struct host_phase, line, "line", .doc = "In the profile."),
	NM_FIGURE(COUNT, struct host_phase, operations, "operations", .schema = "operations"),
	NM_MADE("flowops", make_flowops, "flowops"),
	NM_FIGURE_END,
};

const struct nm_object nm_host_phase_object = {
	.name = "host_phase",
	.doc = "One transaction of a group on one slave: all of it.",
	.figures = host_phase_figures,
	.base = &nm_window_object,
	.base_offset = offsetof(struct host_phase, window),
	.closing = NM_CLOSED_ALL,
};

json_t *nm_host_phases_json(const struct nm_at *at, const struct nm_group_report *report,
			    size_t group)
{
	json_t *list = report ? json_array() : json_null();

	for (size_t i = 0; report && list && i < report->n_transactions; i++) {
		const struct nm_result_phase *of = &at->result->groups[group].phases[i];
		const struct nm_transaction_report *transaction = &report->transactions[i];
		const struct host_phase phase = {
			.name = of->name,
			.line = of->line,
			.operations = transaction->operations,
			.report = transaction,
			.window = transaction->window,
		};
		struct nm_at item = nm_at_item(at, &phase, i);

		if (json_array_append_new(list, nm_object_json(&nm_host_phase_object, &item)) !=
		    0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

/* --- events of the hardware and the kernel --- */

static json_t *make_unavailable(const struct nm_at *at)
{
	const struct nm_perf_value *value = at->item;

	return value->has_total ? json_null() : nm_json_text(value->why);
}

#define COUNT_OR_NULL "{'type': ['integer', 'null'], 'minimum': 0}"

static const struct nm_figure counter_figures[] = {
	NM_FIGURE(STRING, struct nm_perf_value, name, "name", .doc = "As it was asked for."),
	NM_FIGURE(COUNT, struct nm_perf_value, user, "user",
		  NM_KNOWN_BY(struct nm_perf_value, has_user), .schema = COUNT_OR_NULL,
		  .doc = "In the program; null: not known."),
	NM_FIGURE(COUNT, struct nm_perf_value, kernel, "kernel",
		  NM_KNOWN_BY(struct nm_perf_value, has_kernel), .schema = COUNT_OR_NULL,
		  .doc = "In the kernel; null: not known."),
	NM_FIGURE(COUNT, struct nm_perf_value, total, "total",
		  NM_KNOWN_BY(struct nm_perf_value, has_total), .schema = COUNT_OR_NULL,
		  .doc = "In both; where the kernel does not tell them apart, as with its software "
			 "clocks, "
			 "the only count."),
	NM_FIGURE(REAL, struct nm_perf_value, share, "counted_share", .schema = "share",
		  .doc = "Of the time in which it was counted; the counts are extrapolated to all "
			 "of it."),
	NM_MADE("unavailable", make_unavailable, NM_SCHEMA_ANY_TEXT,
		.doc = "Why there is no total."),
	NM_FIGURE_END,
};

const struct nm_object nm_counters_object = {
	.name = "counters",
	.doc = "With counters only: events of the hardware or the kernel, over the measured "
	       "window, "
	       "in the netmodel processes of the host.",
	.figures = counter_figures,
	.is_list = true,
};

/* --- how much less the slaves have done --- */

#define PERCENT(member)                                                                            \
	{                                                                                          \
		.json = #member "_percent", .kind = NM_FIGURE_REAL,                                \
		.offset = offsetof(struct nm_difference, member),                                  \
		.schema = "{'type': ['number', 'null']}"                                           \
	}

static const struct nm_figure difference_figures[] = {
	PERCENT(time),	     PERCENT(data),   PERCENT(throughput),
	PERCENT(operations), PERCENT(errors), NM_FIGURE_END,
};

const struct nm_object nm_difference_object = {.figures = difference_figures, .or_null = true};
