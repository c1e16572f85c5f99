/* SPDX-License-Identifier: Apache-2.0 */
/* Passes the samples of a run to the caller's callbacks, as structs of the public header. */
#include "lib/samples.h"

#include <stdlib.h>
#include <string.h>

#include "lib/netmodel_priv.h"
#include "report/common.h"
#include "report/hdr.h"

static void tell_interval(void *arg, const struct nm_result *so_far,
			  const struct nm_result_interval *row)
{
	struct netmodel *nm = arg;
	const struct nm_window *window = &row->window;

	(void)so_far;
	if (!nm->on.interval)
		return;
	struct netmodel_interval interval = {
		.size = sizeof(interval),
		.from_s = row->from_s,
		.to_s = row->to_s,
		.phase = row->phase + 1,
		.measured = row->part == NM_PART_MEASURED,
		.transactions = window->counts.iterations,
		.bytes_sent = window->counts.bytes_sent,
		.bytes_received = window->counts.bytes_received,
		.errors = window->counts.errors,
		.latency_count = window->latency.count,
		.latency_min_s = window->latency.min_s,
		.latency_mean_s = window->latency.mean_s,
		.latency_max_s = window->latency.max_s,
	};
	nm_locale_leave(nm);
	nm->on.interval(nm->on.interval_arg, &interval);
	nm_locale_enter(nm);
}

/* A flow runs on the worker that is its number modulo the workers. */
static uint32_t worker_of(const struct nm_group *group, uint32_t flow)
{
	return group->n_workers ? flow % group->n_workers : 0;
}

static void tell_flows(void *arg, const struct nm_flow_rows *rows)
{
	struct netmodel *nm = arg;

	nm_locale_leave(nm);
	for (size_t i = 0; i < rows->count; i++) {
		const struct nm_flow_row *row = &rows->rows[i];
		const struct nm_group *group = &rows->plan->groups[row->group];
		const struct netmodel_flow flow = {
			.size = sizeof(flow),
			.host = rows->host,
			.group = group->name,
			.flow = row->flow,
			.worker = worker_of(group, row->flow),
			.phase = rows->phase + 1,
			.at_s = (double)rows->at_ns / 1e9,
			.seconds = rows->seconds,
			.transactions = row->total.passes,
			.bytes_sent = row->total.bytes_sent,
			.bytes_received = row->total.bytes_received,
			.errors = row->total.errors,
			.new_transactions = row->delta.passes,
			.new_bytes_sent = row->delta.bytes_sent,
			.new_bytes_received = row->delta.bytes_received,
			.new_errors = row->delta.errors,
			.has_latency = row->has_latency,
			.latency_min_s = row->min_s,
			.latency_mean_s = row->mean_s,
			.latency_max_s = row->max_s,
			.latency_stddev_s = row->stddev_s,
		};

		nm->on.flow(nm->on.flow_arg, &flow);
	}
	nm_locale_enter(nm);
}

static void tell_tcp(void *arg, const struct nm_tcp_rows *rows)
{
	struct netmodel *nm = arg;

	nm_locale_leave(nm);
	for (size_t i = 0; i < rows->count; i++) {
		const struct nm_tcp_sample *row = &rows->rows[i];
		const struct nm_group *group = &rows->plan->groups[row->group];
		const uint64_t *value = row->values;
		struct netmodel_tcp_info info = {
			.size = sizeof(info),
			.connection =
				{
					.host = rows->host,
					.group = group->name,
					.flow = row->flow,
					.worker = worker_of(group, row->flow),
					.number = row->slot,
				},
			.phase = rows->phase + 1,
			.at_s = (double)row->at_ns / 1e9,
		};
#define TAKE(name, member) info.name = *value++;
		NM_TCP_FIELDS(TAKE)
#undef TAKE
		nm->on.tcp_info(nm->on.tcp_info_arg, &info);
	}
	nm_locale_enter(nm);
}

static void tell_passes(void *arg, const struct nm_response_row *rows, size_t count)
{
	struct netmodel *nm = arg;

	nm_locale_leave(nm);
	for (size_t i = 0; i < count; i++) {
		const struct netmodel_pass pass = {
			.size = sizeof(pass),
			.group = rows[i].group,
			.transaction = rows[i].transaction,
			.flow = rows[i].flow,
			.worker = rows[i].worker,
			.phase = rows[i].phase + 1,
			.end_s = (double)rows[i].since_ns / 1e9,
			.elapsed_s = (double)rows[i].elapsed_ns / 1e9,
		};

		nm->on.pass(nm->on.pass_arg, &pass);
	}
	nm_locale_enter(nm);
}

static void tell_traffic(void *arg, const struct nm_traffic *traffic)
{
	struct netmodel *nm = arg;
	const struct netmodel_traffic told = {
		.size = sizeof(told),
		.at_s = traffic->at_s,
		.seconds = traffic->seconds,
		.transactions = traffic->counts.iterations,
		.bytes_sent = traffic->counts.bytes_sent,
		.bytes_received = traffic->counts.bytes_received,
		.errors = traffic->counts.errors,
	};

	nm_locale_leave(nm);
	nm->on.traffic(nm->on.traffic_arg, &told);
	nm_locale_enter(nm);
}

/* By their tags readers can leave out the times that are not measured, and the total, which would
 * be counted twice, and tell the distributions apart: "", "warmup", "response", "response_warmup".
 */
static void put_tag(char *tag, size_t size, const struct nm_interval_times *times)
{
	const char *part = times->total			     ? "total"
			   : times->part == NM_PART_MEASURED ? ""
							     : nm_part_name(times->part);
	const char *name = times->time == NM_TIME_LATENCY ? "" : nm_time_names[times->time];

	(void)snprintf(tag, size, "%s%s%s", name, *name && *part ? "_" : "", part);
}

int nm_samples_hdr(FILE *out, uint64_t *begin_ns, const struct nm_interval_times *times)
{
	char tag[32];

	put_tag(tag, sizeof(tag), times);
	if (!*begin_ns) {
		*begin_ns = times->wall_ns;
		nm_hdr_head(out, *begin_ns);
	}
	return nm_hdr_line(out, tag, (double)(int64_t)(times->wall_ns - *begin_ns) / 1e9,
			   times->seconds, times->hist);
}

/* Without memory a line is left out, as a diagnostic would be. */
static void tell_times(void *arg, const struct nm_interval_times *times)
{
	struct netmodel *nm = arg;
	char *text = NULL, *line, *end;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	int error = nm_samples_hdr(out, &nm->hdr_begin_ns, times);

	if (fclose(out) != 0 || error) {
		free(text);
		return;
	}
	nm_locale_leave(nm);
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		nm->on.hdr(nm->on.hdr_arg, line);
	}
	nm_locale_enter(nm);
	free(text);
}

void nm_samples_ask(const struct netmodel *nm, struct nm_run_options *options)
{
	struct nm_run_events *events = &options->events;

	options->samples_flows = nm->on.flow != NULL;
	options->samples_tcp = nm->on.tcp_info != NULL;
	options->log_passes = nm->on.pass ? nm->settings.log_rtt_entries : 0;
	options->traffic_ns = nm->on.traffic ? nm->settings.iostat_ns : 0;
	events->interval = tell_interval;
	events->flows = nm->on.flow ? tell_flows : NULL;
	events->tcp = nm->on.tcp_info ? tell_tcp : NULL;
	events->responses = nm->on.pass ? tell_passes : NULL;
	events->traffic = nm->on.traffic ? tell_traffic : NULL;
	events->times = nm->on.hdr ? tell_times : NULL;
}

void netmodel_on_interval(struct netmodel *nm, netmodel_interval_fn fn, void *arg)
{
	nm->on.interval = fn;
	nm->on.interval_arg = arg;
}

void netmodel_on_flow(struct netmodel *nm, netmodel_flow_fn fn, void *arg)
{
	nm->on.flow = fn;
	nm->on.flow_arg = arg;
}

void netmodel_on_tcp_info(struct netmodel *nm, netmodel_tcp_info_fn fn, void *arg)
{
	nm->on.tcp_info = fn;
	nm->on.tcp_info_arg = arg;
}

void netmodel_on_pass(struct netmodel *nm, netmodel_pass_fn fn, void *arg)
{
	nm->on.pass = fn;
	nm->on.pass_arg = arg;
}

void netmodel_on_traffic(struct netmodel *nm, netmodel_traffic_fn fn, void *arg)
{
	nm->on.traffic = fn;
	nm->on.traffic_arg = arg;
}

void netmodel_on_hdr(struct netmodel *nm, netmodel_hdr_fn fn, void *arg)
{
	nm->on.hdr = fn;
	nm->on.hdr_arg = arg;
}
