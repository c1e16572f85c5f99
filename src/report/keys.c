/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the form key=value that the reports kv and neper have in common. */
#include "report/keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "host/cpus.h"
#include "report/common.h"
#include "report/throughput.h"

/* The keys of the other lines, without those that begin with remote_, repeat_, param_ and warning.
 * A key belongs here also where a run gives it no line: a script must never find a parameter under
 * it. */
static const char *const own_keys[] = {
	"VERSION",
	"achieved_per_s",
	"allowed_core_num",
	"allowed_cores",
	"bits_per_s",
	"bytes_mmaped",
	"bytes_received",
	"bytes_sent",
	"complete",
	"context_switches",
	"correlation_coefficient",
	"cpu_idle",
	"cpu_softirq",
	"cpu_system",
	"cpu_user",
	"elapsed_time",
	"errors",
	"incomplete_why",
	"interrupts",
	"interval",
	"invalid_secret_count",
	"load",
	"local_throughput",
	"majflt_end",
	"majflt_start",
	"maxrss_end",
	"maxrss_start",
	"measured_time",
	"min_rtt",
	"minflt_end",
	"minflt_start",
	"mss_asked",
	"mss_given",
	"nivcsw_end",
	"nivcsw_start",
	"num_remote_hosts",
	"num_samples",
	"num_transactions",
	"offered_per_s",
	"outstanding_max",
	"outstanding_mean",
	"nvcsw_end",
	"nvcsw_start",
	"percent_mmaped",
	"percentiles",
	"throughput",
	"profile",
	"rcvbuf_asked",
	"rcvbuf_given",
	"repeat",
	"retransmits",
	"rtt_transactions_logged",
	"run_id",
	"seed",
	"sndbuf_asked",
	"sndbuf_given",
	"softirqs",
	"stime_end",
	"stime_start",
	"tcp_retransmitted_segments",
	"throttled_periods",
	"throttling_periods",
	"throughput_received_bits_per_s",
	"throughput_sent_bits_per_s",
	"throughput_units",
	"time_end",
	"time_start",
	"total_flows",
	"total_transactions",
	"total_run_time",
	"total_threads",
	"transactions_after",
	"transactions_after_time",
	"transactions_per_s",
	"utime_end",
	"utime_start",
};

/* "min" or "p99.9", behind the name of a time. */
static bool is_figure(const char *text)
{
	static const char *const names[] = {"min", "max", "mean", "stddev"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0)
			return true;
	return text[0] == 'p' && text[1] && text[1 + strspn(text + 1, "0123456789.")] == '\0';
}

static bool is_own_key(const char *name)
{
	if (strncmp(name, "group.", 6) == 0 || strncmp(name, "param_", 6) == 0 ||
	    strncmp(name, "repeat_", 7) == 0)
		return true;
	/* Names such as "remote2_", too. */
	if (strncmp(name, "remote", 6) == 0 && name[6 + strspn(name + 6, "0123456789")] == '_')
		return true;
	if (strncmp(name, "messages_", 9) == 0 || strncmp(name, "softirqs_", 9) == 0)
		return true;
	if (strncmp(name, "warning", 7) == 0)
		return name[7 + strspn(name + 7, "0123456789")] == '\0';
	if (strncmp(name, "requirement", 11) == 0)
		return true;
	for (unsigned i = 0; i < NM_TIME__COUNT; i++) {
		size_t length = strlen(nm_time_names[i]);

		/* One name may begin with another: "slowdown" and "slowdown_10_100kb". */
		if (strncmp(name, nm_time_names[i], length) == 0 && name[length] == '_' &&
		    is_figure(name + length + 1))
			return true;
	}
	if (strncmp(name, "srtt_", 5) == 0)
		return is_figure(name + 5);
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
		if (strcmp(name, own_keys[i]) == 0)
			return true;
	return false;
}

void nm_keys_param(FILE *out, const char *name, const char *value)
{
	nm_print_line(out, "%s%s=%s", is_own_key(name) ? "param_" : "", name, value);
}

void nm_keys_duration(uint64_t ns, uint64_t unit_ns, char *text, size_t size)
{
	if (ns % unit_ns == 0)
		snprintf(text, size, "%" PRIu64, ns / unit_ns);
	else
		snprintf(text, size, "%.9g", (double)ns / (double)unit_ns);
}

bool nm_keys_number(const struct nm_param *param, uint64_t unit_ns, char *text, size_t size)
{
	static const struct nm_opt flag = {.name = "flag", .type = NM_TYPE_FLAG};
	uint64_t number = 0;
	double bits_per_s;
	bool on = false;
	char why[64];

	switch (param->type) {
	case NM_TYPE_FLAG:
		if (nm_opt_set(&flag, &on, param->value, why, sizeof(why)) != 0)
			return false;
		number = on;
		break;
	case NM_TYPE_SIZE:
		if (nm_parse_size(param->value, param->reading, &number) < 0)
			return false;
		break;
	case NM_TYPE_COUNT:
		if (nm_parse_count(param->value, param->reading, &number) < 0)
			return false;
		break;
	case NM_TYPE_BITRATE:
		if (nm_parse_bitrate(param->value, &bits_per_s) < 0)
			return false;
		snprintf(text, size, "%.0f", bits_per_s / 8);
		return true;
	case NM_TYPE_DURATION:
		if (nm_parse_duration(param->value, param->reading, &number) < 0)
			return false;
		nm_keys_duration(number, unit_ns, text, size);
		return true;
	default:
		return false;
	}
	snprintf(text, size, "%" PRIu64, number);
	return true;
}

void nm_keys_percentiles(const struct nm_percentiles *list, char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < list->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%.10g,", list->pct[i]);
}

void nm_keys_latency(FILE *out, const char *prefix, const struct nm_latency *latency,
		     const struct nm_percentiles *percentiles)
{
	char key[32];

	if (latency->count == 0)
		return;
	fprintf(out, "%s_min=%.9f\n%s_max=%.9f\n%s_mean=%.9f\n%s_stddev=%.9f\n", prefix,
		latency->min_s, prefix, latency->max_s, prefix, latency->mean_s, prefix,
		latency->stddev_s);
	for (size_t i = 0; i < percentiles->count; i++)
		fprintf(out, "%s_%s=%.9f\n", prefix,
			nm_percentile_key(percentiles->pct[i], key, sizeof(key)),
			latency->pct_s[i]);
}

void nm_keys_time(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, "%s=%" PRIu64 ".%09" PRIu64 "\n", key, ns / 1000000000u, ns % 1000000000u);
}

void nm_keys_run_options(FILE *out, const struct nm_result *result)
{
	char list[NM_KEYS_PERCENTILES] = "";

	nm_keys_percentiles(&result->percentiles, list, sizeof(list));
	fprintf(out, "interval=%.6f\npercentiles=%s\n", result->grid.interval_s, list);
}

/* The port that the kernel has chosen, where the option leaves it to the kernel; 0: it is no such
 * option, or not known. */
static unsigned chosen_port(const struct nm_tool_option *option, const struct nm_result *result)
{
	if (strcmp(option->name, "port") != 0 || strcmp(option->value, "0") != 0)
		return 0;
	for (size_t i = 0; i < result->n_hosts; i++)
		if (result->hosts[i].data_port)
			return result->hosts[i].data_port;
	return 0;
}

void nm_keys_neper_option(FILE *out, const struct nm_tool_option *option,
			  const struct nm_result *result)
{
	char half[9] = "";

	if (option->value && chosen_port(option, result)) {
		fprintf(out, "%s=%u\n", option->name, chosen_port(option, result));
		return;
	}
	if (option->value) {
		nm_print_line(out, "%s=%s", option->name, option->value);
		return;
	}
	/* neper has an int here. */
	snprintf(half, sizeof(half), "%.8s", result->id.run_id ? result->id.run_id : "");
	fprintf(out, "%s=%lu\n", option->name, strtoul(half, NULL, 16) & INT32_MAX);
}

void nm_keys_other_neper_options(FILE *out, const struct nm_view *view,
				 const struct nm_result *result)
{
	for (size_t i = 0; i < view->n_tool_options; i++) {
		const struct nm_tool_option *option = &view->tool_options[i];

		if (!is_own_key(option->name) && !nm_result_param(result, option->name))
			nm_keys_neper_option(out, option, result);
	}
}

const char *nm_keys_count_asked(const struct nm_result *result)
{
	const char *count = nm_result_param(result, "num_transactions");

	return count && strcmp(count, "0") != 0 ? count : NULL;
}

void nm_keys_total(FILE *out, const struct nm_result *result)
{
	if (nm_keys_count_asked(result))
		fprintf(out, "total_transactions=%" PRIu64 "\n", result->totals.counts.iterations);
}

static int compare_cpus(const void *a, const void *b)
{
	unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;

	return (left > right) - (left < right);
}

/* Each once, ascending; how many are left. */
static size_t sort_cpus(struct nm_cpu_list *list)
{
	size_t count = 0;

	qsort(list->cpus, list->count, sizeof(*list->cpus), compare_cpus);
	for (size_t i = 0; i < list->count; i++)
		if (count == 0 || list->cpus[i] != list->cpus[count - 1])
			list->cpus[count++] = list->cpus[i];
	return count;
}

void nm_keys_cores(FILE *out, const char *prefix, const char *cpus)
{
	struct nm_cpu_list list = {.cpus = NULL};

	if (!cpus || nm_cpu_list_parse(cpus, &list) != 0 || list.count == 0)
		return;
	size_t count = sort_cpus(&list), first = 0;

	fprintf(out, "%sallowed_core_num=%zu\n%sallowed_cores=", prefix, count, prefix);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && list.cpus[i] == list.cpus[i - 1] + 1)
			continue;
		fprintf(out, "%s%u", first ? "," : "", list.cpus[first]);
		if (i - 1 > first)
			fprintf(out, "-%u", list.cpus[i - 1]);
		first = i;
	}
	fputc('\n', out);
	nm_cpu_list_fini(&list);
}

/* True also when nothing has been mapped after all. */
static bool maps(const struct nm_result *result)
{
	bool asked = false;

	for (size_t g = 0; g < result->n_groups; g++)
		asked = asked || result->groups[g].maps;
	return asked;
}

void nm_keys_mapped(FILE *out, const char *prefix, const struct nm_result *result,
		    const struct nm_end_totals *end)
{
	double share = end->bytes_received
			       ? 100 * (double)end->bytes_mapped / (double)end->bytes_received
			       : 0;

	if (maps(result))
		fprintf(out, "%sbytes_mmaped=%" PRIu64 "\n%spercent_mmaped=%.0f\n", prefix,
			end->bytes_mapped, prefix, share);
}

static void print_bits(FILE *out, double bits_per_s, const struct nm_view *view)
{
	const char *word = view->throughput_unit ? view->throughput_unit : NM_THROUGHPUT_DEFAULT;
	const struct nm_throughput_unit *unit = nm_throughput_unit(word, bits_per_s / 8);

	if (unit)
		fprintf(out, "throughput=%.2f\nthroughput_units=%s\n",
			bits_per_s / 8 / unit->bytes_per_s, unit->printed);
}

/* The other end: for a slave its master. */
static struct nm_end_totals remote_of(const struct nm_result *result, const struct nm_view *view)
{
	if (view->of_slave && result->n_hosts > 1)
		return nm_slave_totals(&result->hosts[1]);
	return nm_slaves_totals(result);
}

void nm_keys_ends(FILE *out, const struct nm_result *result, const struct nm_view *view,
		  bool stream)
{
	struct nm_end_totals local = nm_master_totals(result), remote = remote_of(result, view);
	const struct nm_end_totals *reader = local.bytes_received ? &local : &remote;

	if (!local.known)
		return;
	if (!stream)
		fprintf(out, "throughput=%.2f\n", local.transactions_per_s);
	else if (reader->known)
		print_bits(out, reader->received_bits_per_s, view);
	if (reader->known)
		nm_keys_mapped(out, "", result, reader);
	fprintf(out, "local_throughput=%.0f\n",
		floor(stream ? local.received_bits_per_s : local.transactions_per_s));
	if (remote.known)
		fprintf(out, "remote_throughput=%.0f\n",
			floor(stream ? remote.received_bits_per_s : remote.transactions_per_s));
}
