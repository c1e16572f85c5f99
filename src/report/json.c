/* SPDX-License-Identifier: Apache-2.0 */
/* The result document, schema netmodel.result/1 (docs/netmodel-result.schema.json). Several runs
 * give the document of the last one with a member "repeat" that holds the totals of each and their
 * summary. */
#include "report/report.h"

#include <errno.h>
#include <math.h>

#include "report/common.h"
#include "report/json_parts.h"
#include "result/datagram_stats.h"

#define SCHEMA "netmodel.result/1"
/* Decimal digits that a double always keeps: 0.1 is written 0.1. */
#define DIGITS 15

/* What there is only when it was asked for. */
static json_t *asked_json(const struct nm_result *result)
{
	json_t *object = json_object();

	if (result->statistics)
		object = nm_json_join(object,
				      json_pack("{s:o}", "difference", nm_json_difference(result)));
	if (result->statistics & NM_STAT_RESPONSES)
		object = nm_json_join(object,
				      json_pack("{s:{s:o, s:o}}", "responses", "told",
						nm_json_count(result->responses.told), "lost",
						nm_json_count(result->responses.lost)));
	return object;
}

static json_t *profile_json(const struct nm_result *result)
{
	json_t *params = json_object();

	for (size_t i = 0; params && i < result->params.count; i++) {
		const struct nm_param *param = &result->params.items[i];
		if (json_object_set_new(params, param->name, nm_json_text(param->value)) != 0) {
			json_decref(params);
			params = NULL;
		}
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "name", nm_json_text(result->profile_name), "path",
			 nm_json_text(result->profile_path), "sha256",
			 nm_json_known(result->profile_sha256), "params", params);
}

static json_t *warnings_json(const struct nm_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < result->n_warnings; i++) {
		if (nm_json_append(array, nm_json_text(result->warnings[i])) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *reconciled_json(enum nm_reconciled reconciled)
{
	if (reconciled == NM_RECONCILED_UNKNOWN || reconciled == NM_RECONCILED_FORGIVEN)
		return json_null();
	return json_boolean(reconciled == NM_RECONCILED_YES);
}

static json_t *run_json(const struct nm_result *result)
{
	char start[48];

	nm_format_utc(result->start_wall_ns, start, sizeof(start));
	json_t *object = json_pack(
		"{s:o, s:s, s:o, s:o, s:o, s:b, s:b, s:o}", "id", nm_json_text(result->run_id),
		"start", start, "start_s", nm_json_real((double)result->start_wall_ns / 1e9),
		"elapsed_s", nm_json_real(result->elapsed_s), "seed", nm_json_count(result->seed),
		"complete", (int)result->complete, "interrupted", (int)result->interrupted,
		"incomplete_why", nm_json_text(result->incomplete_why));
	object = nm_json_join(object, json_pack("{s:o, s:o, s:o, s:o}", "warmup_s",
						nm_json_real(result->warmup_s), "cooldown_s",
						nm_json_real(result->cooldown_s), "interval_s",
						nm_json_real(result->interval_s), "start_skew_s",
						result->n_hosts > 1 && result->has_start_skew
							? nm_json_real(result->start_skew_s)
							: json_null()));
	object = nm_json_join(object, asked_json(result));
	return nm_json_join(object, json_pack("{s:o, s:o, s:o}", "reconciled",
					      reconciled_json(result->reconciled), "reconcile_text",
					      nm_json_text(result->reconcile_text), "warnings",
					      warnings_json(result)));
}

static json_t *phases_json(const struct nm_result *result, size_t g)
{
	const struct nm_result_group *group = &result->groups[g];
	json_t *array = json_array();
	struct nm_datagram_stats messages;

	for (size_t i = 0; array && i < group->n_phases; i++) {
		const struct nm_result_phase *phase = &group->phases[i];
		const char *name = phase->name && *phase->name ? phase->name : NULL;
		json_t *item = json_pack("{s:i, s:o, s:o, s:b, s:o}", "phase", (int)i, "name",
					 nm_json_text(name), "line", nm_json_count(phase->line),
					 "measured", (int)phase->measured, "begin_s",
					 nm_json_real(phase->begin_s));
		const struct nm_transaction_report *report = nm_master_transaction(result, g, i);

		item = nm_json_join(item, nm_json_window(&phase->whole, &result->percentiles));
		nm_phase_datagrams(phase, &messages);
		item = nm_json_join(item, nm_json_datagrams(&messages));
		if (phase->planned_per_s > 0)
			item = nm_json_join(item, json_pack("{s:o}", "planned_per_s",
							    nm_json_real(phase->planned_per_s)));
		if (report)
			item = nm_json_join(item, nm_json_transaction_report(result, report));
		if (nm_json_append(array, item) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *groups_json(const struct nm_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < result->n_groups; i++) {
		const struct nm_result_group *group = &result->groups[i];
		json_t *item = json_pack("{s:o, s:o, s:o}", "name", nm_json_text(group->name),
					 "flows", nm_json_count(group->n_flows), "workers",
					 nm_json_count(group->n_workers));
		item = nm_json_join(item, nm_json_window(&group->totals, &result->percentiles));
		item = nm_json_join(item, json_pack("{s:o}", "phases", phases_json(result, i)));
		if (result->n_hosts)
			item = nm_json_join(item,
					    nm_json_group_report(result, &result->hosts[0], i));
		if (nm_json_append(array, item) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *hosts_json(const struct nm_result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < result->n_hosts; i++) {
		if (nm_json_append(array, nm_json_host(result, &result->hosts[i])) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *intervals_json(const struct nm_result *result)
{
	struct nm_datagram_stats messages;
	json_t *array = json_array();

	nm_result_datagrams(result, &messages);
	bool any = messages.any;

	for (size_t i = 0; array && i < result->n_intervals; i++) {
		const struct nm_result_interval *row = &result->intervals[i];
		json_t *item =
			json_pack("{s:o, s:o, s:o, s:s}", "from_s", nm_json_real(row->from_s),
				  "to_s", nm_json_real(row->to_s), "phase",
				  nm_json_count(row->phase), "part", nm_part_name(row->part));
		item = nm_json_join(item, nm_json_window(&row->window, &result->percentiles));
		nm_interval_datagrams(result, i, &messages);
		messages.any = any;
		item = nm_json_join(item, nm_json_datagrams(&messages));
		if (nm_json_append(array, item) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *totals_json(const struct nm_result *result)
{
	struct nm_datagram_stats messages;

	nm_result_datagrams(result, &messages);
	return nm_json_join(nm_json_window(&result->totals, &result->percentiles),
			    nm_json_datagrams(&messages));
}

static json_t *result_json(const struct nm_result *result)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SCHEMA, "version",
			 nm_json_text(result->version), "profile", profile_json(result), "run",
			 run_json(result), "totals", totals_json(result), "groups",
			 groups_json(result), "hosts", hosts_json(result), "intervals",
			 intervals_json(result));
}

/* One value has a mean but no spread. */
static json_t *summary_json(const struct nm_summary *summary)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "n", nm_json_count(summary->n), "mean",
			 summary->n ? nm_json_real(summary->mean) : json_null(), "stddev",
			 summary->n > 1 ? nm_json_real(summary->stddev) : json_null(), "ci95",
			 summary->n > 1 ? nm_json_real(summary->ci95) : json_null());
}

static json_t *repeat_json(const struct nm_runs *series)
{
	struct nm_runs_summary summary;
	json_t *runs = json_array();

	for (size_t i = 0; runs && i < series->n_runs; i++) {
		const struct nm_result *run = series->runs[i];
		json_t *item = json_pack("{s:o, s:o}", "run", run_json(run), "totals",
					 nm_json_window(&run->totals, &run->percentiles));
		if (nm_json_append(runs, item) != 0) {
			json_decref(runs);
			runs = NULL;
		}
	}
	nm_runs_summarise(series, &summary);
	return json_pack("{s:o, s:o, s:{s:o, s:o, s:o, s:o, s:o}}", "n",
			 nm_json_count(series->n_runs), "runs", runs, "summary",
			 "transactions_per_s", summary_json(&summary.transactions_per_s),
			 "bits_per_s", summary_json(&summary.bits_per_s), "latency_mean_s",
			 summary_json(&summary.latency_mean_s), "latency_p50_s",
			 summary_json(&summary.latency_p50_s), "latency_p99_s",
			 summary_json(&summary.latency_p99_s));
}

static int write_json(const struct nm_runs *series, FILE *out)
{
	const struct nm_result *last = nm_runs_last(series);

	if (!last)
		return -EINVAL;
	json_t *document = result_json(last);
	if (series->n_runs > 1)
		document =
			nm_json_join(document, json_pack("{s:o}", "repeat", repeat_json(series)));
	if (!document)
		return -ENOMEM;
	int failed = json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
	json_decref(document);
	fputc('\n', out);
	int error = nm_stream_status(out);
	return error ? error : failed ? -ENOMEM : 0;
}

const struct nm_report nm_report_json = {
	.name = "json",
	.help = "the whole result as one JSON document, schema " SCHEMA,
	.write = write_json,
};
