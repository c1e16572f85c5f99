/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the JSON document that are there only when they were asked for. */
#include "report/json_parts.h"

#include "report/common.h"

static json_t *or_nothing(json_t *array, int failed)
{
	if (!failed)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *flowop_json(const struct nm_result *result, const struct nm_flowop_report *flowop)
{
	bool has_cpu = result->statistics & NM_STAT_FLOWOP_CPU;

	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "flowop", flowop->name, "line",
		nm_json_count(flowop->line), "operations", nm_json_count(flowop->operations),
		"bytes_sent", nm_json_count(flowop->bytes_sent), "bytes_received",
		nm_json_count(flowop->bytes_received), "errors", nm_json_count(flowop->errors),
		"cpu_s", has_cpu ? nm_json_real(flowop->cpu_s) : json_null(), "time_s",
		nm_json_latency(&flowop->time, &result->percentiles));
}

json_t *nm_json_transaction_report(const struct nm_result *result,
				   const struct nm_transaction_report *transaction)
{
	json_t *flowops = json_array();
	int failed = 0;

	for (size_t i = 0; flowops && !failed && i < transaction->n_flowops; i++)
		failed = nm_json_append(flowops, flowop_json(result, &transaction->flowops[i]));
	return json_pack("{s:o, s:o}", "operations", nm_json_count(transaction->operations),
			 "flowops", or_nothing(flowops, failed));
}

static json_t *transactions_json(const struct nm_result *result, size_t g,
				 const struct nm_group_report *group)
{
	json_t *array = json_array();
	int failed = 0;

	for (size_t k = 0; array && !failed && k < group->n_transactions; k++) {
		const struct nm_transaction_report *transaction = &group->transactions[k];
		const struct nm_result_phase *phase = &result->groups[g].phases[k];
		const struct nm_window window = {.seconds = transaction->seconds,
						 .counts = transaction->counts,
						 .latency = transaction->latency};
		json_t *item =
			json_pack("{s:i, s:o, s:o}", "phase", (int)k, "name",
				  nm_json_known(phase->name), "line", nm_json_count(phase->line));

		item = nm_json_join(item, nm_json_window(&window, &result->percentiles));
		item = nm_json_join(item, nm_json_transaction_report(result, transaction));
		failed = nm_json_append(array, item);
	}
	return or_nothing(array, failed);
}

static json_t *strands_json(const struct nm_group_report *group)
{
	json_t *array = json_array();
	int failed = 0;

	for (size_t i = 0; array && !failed && i < group->n_strands; i++) {
		const struct nm_strand_report *strand = &group->strands[i];

		failed = nm_json_append(
			array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "strand",
					 nm_json_count(i), "seconds", nm_json_real(strand->seconds),
					 "operations", nm_json_count(strand->operations),
					 "bytes_sent", nm_json_count(strand->bytes_sent),
					 "bytes_received", nm_json_count(strand->bytes_received),
					 "errors", nm_json_count(strand->errors)));
	}
	return or_nothing(array, failed);
}

json_t *nm_json_group_report(const struct nm_result *result, const struct nm_result_host *host,
			     size_t group)
{
	const struct nm_group_report *report = host->report && group < host->report->n_groups
						       ? &host->report->groups[group]
						       : NULL;

	if (!report)
		return json_object();
	json_t *object = json_pack("{s:o}", "operations", nm_json_count(report->operations));
	if (report->n_strands)
		object = nm_json_join(object, json_pack("{s:o}", "strands", strands_json(report)));
	if (!host->is_master)
		object = nm_json_join(object, json_pack("{s:o}", "phases",
							transactions_json(result, group, report)));
	return object;
}

const struct nm_transaction_report *nm_master_transaction(const struct nm_result *result,
							  size_t group, size_t k)
{
	const struct nm_host_report *report = result->n_hosts ? result->hosts[0].report : NULL;

	if (!report || group >= report->n_groups || k >= report->groups[group].n_transactions)
		return NULL;
	return &report->groups[group].transactions[k];
}

static json_t *counter_json(const struct nm_perf_value *value)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", value->name, "user",
			 value->has_user ? nm_json_count(value->user) : json_null(), "kernel",
			 value->has_kernel ? nm_json_count(value->kernel) : json_null(), "total",
			 value->has_total ? nm_json_count(value->total) : json_null(),
			 "counted_share", nm_json_real(value->share), "unavailable",
			 value->has_total ? json_null() : nm_json_text(value->why));
}

json_t *nm_json_counters(const struct nm_result_host *host)
{
	json_t *array = json_array();
	int failed = 0;

	for (size_t i = 0; array && !failed && i < host->counters.count; i++)
		failed = nm_json_append(array, counter_json(&host->counters.items[i]));
	return or_nothing(array, failed);
}

json_t *nm_json_difference(const struct nm_result *result)
{
	struct nm_difference d;

	if (!nm_result_difference(result, &d))
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "time_percent", nm_json_real(d.time),
			 "data_percent", nm_json_real(d.data), "throughput_percent",
			 nm_json_real(d.throughput), "operations_percent",
			 nm_json_real(d.operations), "errors_percent", nm_json_real(d.errors));
}
