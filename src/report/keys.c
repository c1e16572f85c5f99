/* SPDX-License-Identifier: Apache-2.0 */
#include "report/keys.h"

#include <inttypes.h>
#include <string.h>

#include "report/common.h"

/* The keys of the other lines, without those that begin with remote_, repeat_, param_ and warning. A key belongs here also where
 * a run gives it no line: what a script finds under it must not depend on that. */
static const char *const own_keys[] = {
	"VERSION",
	"bits_per_s",
	"bytes_received",
	"bytes_sent",
	"complete",
	"correlation_coefficient",
	"cpu_idle",
	"cpu_softirq",
	"cpu_system",
	"cpu_user",
	"errors",
	"incomplete_why",
	"interval",
	"invalid_secret_count",
	"local_throughput",
	"majflt_end",
	"majflt_start",
	"maxrss_end",
	"measured_time",
	"minflt_end",
	"minflt_start",
	"nivcsw_end",
	"nivcsw_start",
	"num_remote_hosts",
	"num_samples",
	"num_transactions",
	"nvcsw_end",
	"nvcsw_start",
	"percentiles",
	"throughput",
	"profile",
	"repeat",
	"run_id",
	"seed",
	"stime_end",
	"stime_start",
	"throughput_units",
	"time_end",
	"time_start",
	"total_flows",
	"total_transactions",
	"total_run_time",
	"total_threads",
	"transactions_per_s",
	"utime_end",
	"utime_start",
};

/* "min" or "p99.9", behind latency_ and response_. */
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
	/* Also "remote2_". */
	if (strncmp(name, "remote", 6) == 0 && name[6 + strspn(name + 6, "0123456789")] == '_')
		return true;
	if (strncmp(name, "warning", 7) == 0)
		return name[7 + strspn(name + 7, "0123456789")] == '\0';
	if (strncmp(name, "latency_", 8) == 0)
		return is_figure(name + 8);
	if (strncmp(name, "response_", 9) == 0)
		return is_figure(name + 9);
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(own_keys[0]); i++)
		if (strcmp(name, own_keys[i]) == 0)
			return true;
	return false;
}

void nm_keys_param(FILE *out, const char *name, const char *value)
{
	nm_print_line(out, "%s%s=%s", is_own_key(name) ? "param_" : "", name, value);
}

bool nm_is_stream(const struct nm_counts *counts)
{
	return (counts->bytes_sent == 0) != (counts->bytes_received == 0);
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
