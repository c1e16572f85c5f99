/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the values of options that need more than their type, and keeps the parsed values in the
 * args. */
#include "cli/arg_validate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_port.h"
#include "host/perf.h"
#include "lib/settings.h"
#include "report/report.h"
#include "report/throughput.h"
#include "transport/peers.h"

int nm_validate_define(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value) {
		snprintf(why, why_size, "must be NAME=VALUE");
		return -EINVAL;
	}
	struct nm_define *defines =
		realloc(args->defines, (args->n_defines + 1) * sizeof(*defines));
	if (!defines) {
		snprintf(why, why_size, "out of memory");
		return -EINVAL;
	}
	args->defines = defines;
	/* The text is taken over: the name is its first part, cut off here. */
	char *text = args->define;
	args->define = NULL;
	text[equals - value] = '\0';
	defines[args->n_defines++] =
		(struct nm_define){.name = text, .value = text + (equals - value) + 1};
	return 0;
}

int nm_validate_sweep(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)args;
	if (strchr(value, '=') && *value != '=')
		return 0;
	snprintf(why, why_size, "must be NAME=RANGE, as num_flows=1..64");
	return -EINVAL;
}

int nm_validate_max_duration(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)value, (void)why, (void)why_size;
	args->has_max_duration = true;
	return 0;
}

int nm_validate_bind(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	char host[NM_HOST_MAX + 1];
	uint16_t port;

	if (nm_host_port_split(value, host, &port) < 0 || !port)
		return 0;
	free(args->as_slave.bind);
	args->as_slave.bind = strdup(host);
	args->port = port;
	if (args->as_slave.bind)
		return 0;
	snprintf(why, why_size, "out of memory");
	return -EINVAL;
}

int nm_validate_allow_peer(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	struct nm_args_slave *slave = &args->as_slave;
	char one[64];

	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");
		struct nm_net net, *allowed = realloc(slave->allowed,
						      (slave->n_allowed + 1) * sizeof *allowed);

		if (!allowed) {
			snprintf(why, why_size, "out of memory");
			return -EINVAL;
		}
		slave->allowed = allowed;
		snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : 0), at);
		if (nm_net_parse(one, &net, why, why_size) < 0)
			return -EINVAL;
		allowed[slave->n_allowed++] = net;
		at += length;
		if (!*at)
			return 0;
	}
}

int nm_validate_guard(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)value;
	if (args->key.guard_ns)
		return 0;
	(void)snprintf(why, why_size, "must be more than 0");
	return -EINVAL;
}

int nm_validate_interval(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)args;
	return nm_settings_check_interval(value, why, why_size);
}

int nm_validate_warmup(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	return nm_warmup_parse(value, &args->run.warmup, why, why_size);
}

int nm_validate_cpus(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)args;
	return nm_settings_check_cpus(value, why, why_size);
}

int nm_validate_slave_cpus(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)args;
	return nm_settings_check_slave_cpus(value, why, why_size);
}

int nm_validate_percentiles(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	args->run.has_percentiles = true;
	return nm_settings_check_percentiles(value, &args->run.percentiles, why, why_size);
}

int nm_validate_seed(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)value, (void)why, (void)why_size;
	args->run.has_seed = true;
	return 0;
}

int nm_validate_counters(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	int error = nm_perf_check_form(value);

	(void)args;
	if (error == -ERANGE)
		snprintf(why, why_size, "at most %d counters, with names of at most %d characters",
			 NM_PERF_MAX, NM_PERF_NAME - 1);
	else if (error)
		snprintf(why, why_size,
			 "not a list of counters: names and commas, as cycles,context-switches");
	return error ? -EINVAL : 0;
}

int nm_validate_format(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	size_t used;

	(void)args;
	if (nm_report_find(value))
		return 0;
	used = (size_t)snprintf(why, why_size, "must be");
	for (size_t i = 0; nm_reports[i] && used < why_size; i++)
		used += (size_t)snprintf(why + used, why_size - used, "%s %s",
					 i == 0		     ? ""
					 : nm_reports[i + 1] ? ","
							     : " or",
					 nm_reports[i]->name);
	return -EINVAL;
}

int nm_validate_throughput(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)args;
	if (nm_throughput_unit(value, 0))
		return 0;
	snprintf(why, why_size, "must be one of %s", nm_throughput_words());
	return -EINVAL;
}

/* Takes the text over; what is wrong with it is known when the profile is. */
static int add_required(struct nm_args *args, char **text, bool negated, char *why, size_t why_size)
{
	struct nm_required *required = realloc(
		args->run.judge.required, (args->run.judge.n_required + 1) * sizeof(*required));

	if (!required) {
		snprintf(why, why_size, "out of memory");
		return -EINVAL;
	}
	args->run.judge.required = required;
	required[args->run.judge.n_required++] =
		(struct nm_required){.text = *text, .negated = negated};
	*text = NULL;
	return 0;
}

int nm_validate_require(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)value;
	return add_required(args, &args->run.judge.require, false, why, why_size);
}

int nm_validate_fail_if(struct nm_args *args, const char *value, char *why, size_t why_size)
{
	(void)value;
	return add_required(args, &args->run.judge.fail_if, true, why, why_size);
}
