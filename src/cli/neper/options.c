/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a workload as neper prints them, with the values that are in force. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/neper/neper.h"
#include "report/keys.h"

struct work {
	struct nm_tool_options *options;
	const struct nm_args *args;
	const struct nm_params *params;
	bool no_memory;
};

/* --- values --- */

/* A number as neper has it: ns in the unit of the option, all others as they are. */
static void print_number(enum nm_neper_value kind, uint64_t number, char *text, size_t size)
{
	uint64_t unit = nm_neper_unit_ns(kind);

	if (kind == NM_NEPER_REAL_S)
		snprintf(text, size, "%.6f", (double)number / (double)unit);
	else
		nm_keys_duration(number, unit, text, size);
}

/* --- lines --- */

/* A line of netmodel's own has no origins. */
static const struct nm_neper_line *line_of(const struct work *work)
{
	static const struct nm_neper_line none = {.n_origins = 0};

	return work->args->line ? work->args->line : &none;
}

static struct nm_tool_option *find(const struct nm_tool_options *options, const char *name)
{
	for (size_t i = 0; i < options->count; i++)
		if (strcmp(options->items[i].name, name) == 0)
			return &options->items[i];
	return NULL;
}

static void add(struct work *work, const char *name, const char *value)
{
	struct nm_tool_option *item = &work->options->items[work->options->count++];
	char *key = strdup(name);

	for (char *c = key; c && *c; c++)
		if (*c == '-')
			*c = '_';
	item->name = key;
	item->value = value ? strdup(value) : NULL;
	work->no_memory |= !key || (value && !item->value);
}

static void add_number(struct work *work, const struct nm_neper_opt *opt, uint64_t number)
{
	char text[32];

	print_number(opt->value, number, text, sizeof(text));
	add(work, opt->name, number == 0 && opt->in_force ? opt->in_force : text);
}

static const struct nm_param *find_param(const struct work *work, const char *name, size_t length)
{
	for (size_t i = 0; i < work->params->count; i++) {
		const struct nm_param *param = &work->params->items[i];

		if (strncmp(param->name, name, length) == 0 && !param->name[length] && param->value)
			return param;
	}
	return NULL;
}

/* How many transactions were asked for; 0: a time. */
static uint64_t count_asked(const struct work *work)
{
	const struct nm_param *param =
		find_param(work, NM_NEPER_BY_COUNT, strlen(NM_NEPER_BY_COUNT));
	uint64_t count = 0;

	if (param)
		(void)nm_parse_count(param->value, param->reading, &count);
	return count;
}

static void add_length(struct work *work, const struct nm_neper_opt *opt)
{
	char text[32];

	snprintf(text, sizeof(text), "-%" PRIu64, count_asked(work));
	add(work, opt->name, text);
}

/* The first of "a|b=c" that the profile has; NULL: none. *ret_fixed: the value that is the flag of
 * neper's. */
static const struct nm_param *choose_param(const struct work *work, const char *here,
					   const char **ret_fixed)
{
	const struct nm_param *param = NULL;

	while (!param && *here) {
		size_t length = strcspn(here, "|"), bare = strcspn(here, "|=");

		param = find_param(work, here, bare);
		*ret_fixed = bare < length ? here + bare + 1 : NULL;
		here += length + (here[length] == '|');
	}
	return param;
}

/* A parameter that the profile does not have gets no line. */
static void add_param(struct work *work, const struct nm_neper_opt *opt)
{
	const char *fixed = NULL, *value;
	const struct nm_param *param = choose_param(work, opt->here, &fixed);
	char text[32];

	if (!param)
		return;
	if (opt->value == NM_NEPER_LENGTH && count_asked(work)) {
		add_length(work, opt);
	} else if (fixed) {
		add_number(work, opt, strcmp(param->value, fixed) == 0);
	} else {
		bool plain =
			nm_keys_number(param, nm_neper_unit_ns(opt->value), text, sizeof(text));

		value = plain ? text : param->value;
		add(work, opt->name,
		    strcmp(value, "0") == 0 && opt->in_force ? opt->in_force : value);
	}
}

static void add_option(struct work *work, const struct nm_neper_opt *opt)
{
	const struct nm_arg *arg = nm_arg_find(opt->here);
	/* The field is only read. */
	const void *field = nm_arg_field(arg, (struct nm_args *)(uintptr_t)work->args);
	char list[NM_KEYS_PERCENTILES] = "";

	if (opt->value == NM_NEPER_PERCENTILES) {
		nm_keys_percentiles(&work->args->run.percentiles, list, sizeof(list));
		add(work, opt->name, list);
	} else if (arg->opt.type == NM_TYPE_STRING) {
		const char *text = *(char *const *)field;

		add(work, opt->name, text ? text : opt->in_force ? opt->in_force : "");
	} else if (arg->opt.type == NM_TYPE_FLAG) {
		add_number(work, opt, *(const bool *)field);
	} else {
		add_number(work, opt, *(const uint64_t *)field);
	}
}

/* neper as it is published has no --pin-numa. */
static void add_cpus(struct work *work, const struct nm_neper_opt *opt)
{
	const char *cpus = work->args->cpus;
	bool nodes = cpus && strcmp(cpus, "nodes") == 0;

	if (opt->letter == 'U')
		add_number(work, opt, cpus && !nodes);
	else if (nodes)
		add_number(work, opt, 1);
}

static void add_role(struct work *work, const struct nm_neper_opt *opt)
{
	if (opt->letter == 'c')
		add_number(work, opt, !line_of(work)->server);
	else if (opt->letter == 'n')
		add_number(work, opt, work->args->action == NM_ACTION_OPTIONS);
}

static void add_fixed(struct work *work, const struct nm_neper_opt *opt)
{
	if (opt->server && line_of(work)->server)
		add_number(work, opt, line_of(work)->sessions);
	else
		add(work, opt->name, opt->in_force);
}

static void add_line(struct work *work, const struct nm_neper_opt *opt)
{
	switch (opt->means) {
	case NM_NEPER_ROLE:
		add_role(work, opt);
		break;
	case NM_NEPER_PARAM:
		add_param(work, opt);
		break;
	case NM_NEPER_OPTION:
		add_option(work, opt);
		break;
	case NM_NEPER_CPUS:
		add_cpus(work, opt);
		break;
	case NM_NEPER_FAMILY:
		add_number(work, opt,
			   (line_of(work)->family &
			    (opt->letter == '4' ? NM_NEPER_IPV4 : NM_NEPER_IPV6)) != 0);
		break;
	case NM_NEPER_NONE:
		add_fixed(work, opt);
		break;
	}
}

/* --- options that follow from others --- */

static void replace(struct work *work, const char *name, const char *value)
{
	struct nm_tool_option *item = find(work->options, name);
	char *copy = strdup(value);

	work->no_memory |= !copy;
	if (item && copy) {
		free(item->value);
		item->value = copy;
	} else {
		free(copy);
	}
}

static bool is_on(const struct work *work, const char *name)
{
	const struct nm_tool_option *item = find(work->options, name);

	return item && item->value && strcmp(item->value, "1") == 0;
}

/* Derives the options that depend on the directions of a stream, and the number of flows of both
 * directions. */
static void derive(struct work *work)
{
	const struct nm_tool_option *flows = find(work->options, "num_flows");
	char twice[32];

	if (work->no_memory)
		return;
	if (is_on(work, "enable_tcp_maerts")) {
		replace(work, "enable_write", "0");
		replace(work, "enable_read", "1");
	} else if (is_on(work, "split_bidir")) {
		replace(work, "enable_write", "1");
		replace(work, "enable_read", "1");
	}
	if (!is_on(work, "split_bidir") || !flows)
		return;
	snprintf(twice, sizeof(twice), "%llu", 2 * strtoull(flows->value, NULL, 10));
	replace(work, "num_flows", twice);
}

/* Whether an option of the workload stands for the parameter. */
static bool is_option(const struct work *work, unsigned workload, const struct nm_param *param)
{
	const char *ignored;

	if (strcmp(param->name, NM_NEPER_BY_COUNT) == 0)
		return true;
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
		if (opt->means == NM_NEPER_PARAM && (opt->workloads & workload) &&
		    choose_param(work, opt->here, &ignored) == param)
			return true;
	return false;
}

static void add_others(struct work *work, unsigned workload)
{
	for (size_t i = 0; i < work->params->count; i++) {
		const struct nm_param *param = &work->params->items[i];

		if (param->value && (!param->def || strcmp(param->value, param->def) != 0) &&
		    !is_option(work, workload, param) && !find(work->options, param->name))
			add(work, param->name, param->value);
	}
}

int nm_neper_options(const struct nm_args *args, const struct nm_params *params,
		     struct nm_tool_options *ret_options)
{
	struct work work = {.options = ret_options, .args = args, .params = params};
	unsigned workload = args->master ? nm_neper_workload(args->master) : 0;

	*ret_options = (struct nm_tool_options){.count = 0};
	if (!workload)
		return 0;
	ret_options->items =
		calloc(NM_NEPER_MAX_OPTIONS + params->count, sizeof(*ret_options->items));
	if (!ret_options->items)
		return -ENOMEM;
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name && !work.no_memory; opt++)
		if (opt->workloads & workload)
			add_line(&work, opt);
	derive(&work);
	if (!work.no_memory)
		add_others(&work, workload);
	return work.no_memory ? -ENOMEM : 0;
}

void nm_neper_free_options(struct nm_tool_options *options)
{
	for (size_t i = 0; i < options->count; i++) {
		free(options->items[i].name);
		free(options->items[i].value);
	}
	free(options->items);
	*options = (struct nm_tool_options){.count = 0};
}
