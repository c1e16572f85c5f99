/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options: the rows of arg_rows.def, and between them the files of the logs. */
#include <stdio.h>
#include <string.h>

#include "cli/arg_validate.h"
#include "cli/args.h"
#include "cli/log/log.h"
#include "lib/settings.h"
#include "report/help.h"
#include "report/report.h"

#define RUN_OR_LOOK   (NM_MODE_RUN | NM_MODE_LOOK)
#define RUN_SLAVE_TOO (NM_MODE_RUN | NM_MODE_SLAVE_TOO)
#define RUN_OR_SLAVE  (NM_MODE_RUN | NM_MODE_SLAVE)

#define AT(field) .offset = offsetof(struct nm_args, field)

/* clang-format off */
#define ROW(l, arg, m, a, check, ...)                                                              \
	{.opt = {__VA_ARGS__}, .letter = l, .argument = arg, .heading = HEADING, .modes = m,       \
	 .action = a, .validate = check},
#define FLAG(l, n, f, m, h)                                                                        \
	ROW(l, NULL, m, NM_ACTION_NONE, NULL, .name = n, .type = NM_TYPE_FLAG, AT(f), .help = h)
#define ASKS(l, n, f, m, a, h)                                                                     \
	ROW(l, NULL, m, a, NULL, .name = n, .type = NM_TYPE_FLAG, AT(f), .help = h)
#define ASKS_WITH(n, arg, f, m, a, h)                                                              \
	ROW(0, arg, m, a, NULL, .name = n, .type = NM_TYPE_STRING, AT(f), .help = h)
#define TEXT(l, n, arg, f, m, check, h)                                                            \
	ROW(l, arg, m, NM_ACTION_NONE, check, .name = n, .type = NM_TYPE_STRING, AT(f), .help = h)
#define ONE_OF(n, arg, f, d, m, check, list, h)                                                    \
	{.opt = {.name = n, .type = NM_TYPE_STRING, AT(f), .def = d, .help = h}, .argument = arg,  \
	 .heading = HEADING, .modes = m, .validate = check, .choices = list},
#define HOST(n, arg, f, m, check, h)                                                               \
	ROW(0, arg, m, NM_ACTION_NONE, check, .name = n, .type = NM_TYPE_HOST, AT(f),              \
	    .with_port = true, .help = h)
#define TIME_WITH(l, n, f, m, check, h)                                                            \
	ROW(l, "TIME", m, NM_ACTION_NONE, check, .name = n, .type = NM_TYPE_DURATION, AT(f),       \
	    .help = h)
#define TIME(l, n, f, m, h) TIME_WITH(l, n, f, m, NULL, h)
#define NUMBER(n, t, f, least, most, d, m, h)                                                      \
	ROW(0, "N", m, NM_ACTION_NONE, NULL, .name = n, .type = t, AT(f), .min = least,            \
	    .max = most, .def = d, .help = h)
#define SETTING(l, setting, arg, f, m, check)                                                      \
	ROW(l, arg, m, NM_ACTION_NONE, check, setting, AT(f))
#define SETTING_FOR(l, setting, arg, f, m, check, h)                                               \
	ROW(l, arg, m, NM_ACTION_NONE, check, setting, AT(f), .help = h)
#define LOGS {.opt = {.name = NULL}},
/* clang-format on */

/* The row without a name is the place of the logs. */
static const struct nm_arg rows[] = {
#include "cli/arg_rows.def"
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static size_t logs_at(void)
{
	size_t at = 0;

	while (rows[at].opt.name)
		at++;
	return at;
}

const struct nm_arg *nm_arg_at(size_t index)
{
	size_t before = logs_at(), logs = nm_log_count();

	if (index < before)
		return &rows[index];
	if (index < before + logs)
		return &nm_logs[index - before]->arg;
	index = index - logs + 1; /* the place itself is no option */
	return index < N_ROWS ? &rows[index] : NULL;
}

const struct nm_arg *nm_arg_find(const char *name)
{
	const struct nm_arg *arg;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		if (strcmp(arg->opt.name, name) == 0)
			return arg;
	return NULL;
}

char *nm_arg_help(const struct nm_arg *arg, char *buf, size_t size)
{
	char choices[256] = "";

	if (arg->choices)
		arg->choices(choices, sizeof choices);
	snprintf(buf, size, "%s%s%s%s%s%s", arg->opt.help, *choices ? ": " : "", choices,
		 arg->opt.def ? " (default " : "", arg->opt.def ? arg->opt.def : "",
		 arg->opt.def ? ")" : "");
	return buf;
}

void *nm_arg_field(const struct nm_arg *arg, struct nm_args *args)
{
	for (size_t i = 0; nm_logs[i]; i++)
		if (arg == &nm_logs[i]->arg)
			return &args->output.logs[i];
	return (char *)args + arg->opt.offset;
}
