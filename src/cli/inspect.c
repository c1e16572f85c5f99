/* SPDX-License-Identifier: Apache-2.0 */
/* Inspects a profile without running it: --check, --params, --dump-plan. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/dialect.h"
#include "cli/judge.h"
#include "cli/stock.h"
#include "lib/load.h"
#include "report/common.h"
#include "report/report.h"
#include "report/table.h"

static const char *source_name(const struct nm_param *param)
{
	if (!param->value)
		return "missing";
	switch (param->source) {
	case NM_PARAM_ENVIRONMENT:
		return "environment";
	case NM_PARAM_DEFINED:
		return "-D";
	case NM_PARAM_DEFAULT:
		break;
	}
	return "default";
}

static int print_params(const struct nm_params *params, FILE *out)
{
	struct nm_table table = {.align = "lllll", .width = nm_cli_columns(fileno(out))};

	nm_table_head(&table, "name|type|value|from|meaning");
	for (size_t i = 0; i < params->count; i++) {
		const struct nm_param *param = &params->items[i];
		nm_table_text(&table, param->name);
		nm_table_text(&table, param->line ? nm_type_name(param->type) : "text");
		nm_table_text(&table, param->value ? param->value : "-");
		nm_table_text(&table, source_name(param));
		nm_table_text(&table, param->help ? param->help : "");
	}
	nm_table_end(&table, 0, out);
	return NM_EXIT_OK;
}

static int print_check(const struct nm_loaded *loaded, FILE *out)
{
	const struct nm_plan *plan = loaded->plan;
	uint64_t flows = nm_plan_flows(plan), workers = 0, instrs = 0;

	for (uint32_t i = 0; i < plan->n_groups; i++) {
		workers += plan->groups[i].n_workers;
		instrs += plan->groups[i].n_instrs - plan->groups[i].n_phases;
	}
	nm_print_line(out,
		      "%s: ok: %s: %" PRIu32 " group%s, %" PRIu64 " flow%s on %" PRIu64
		      " worker%s, "
		      "%" PRIu64 " flowop%s, %" PRIu32 " host%s",
		      loaded->name, plan->name, plan->n_groups, plan->n_groups == 1 ? "" : "s",
		      flows, flows == 1 ? "" : "s", workers, workers == 1 ? "" : "s", instrs,
		      instrs == 1 ? "" : "s", plan->n_hosts, plan->n_hosts == 1 ? "" : "s");
	return NM_EXIT_OK;
}

static int print_plan(const char *title, const struct nm_plan *plan, FILE *out)
{
	char *text = plan ? nm_plan_dump(plan) : NULL;

	if (!text)
		return NM_EXIT_INTERNAL;
	fprintf(out, "=== %s\n%s", title, text);
	free(text);
	return NM_EXIT_OK;
}

static int print_plans(const struct nm_loaded *loaded, FILE *out, struct nm_diags *diags)
{
	int code = print_plan("master", loaded->plan, out);

	for (uint32_t i = 0; i < loaded->plan->n_hosts && code == NM_EXIT_OK; i++) {
		const char *host = loaded->plan->hosts[i];
		char title[320];
		struct nm_plan *mirror =
			nm_plan_compile_mirror(loaded->root, loaded->name, host, diags);
		snprintf(title, sizeof(title), "slave %s", host);
		fputc('\n', out);
		code = print_plan(title, mirror, out);
		nm_plan_free(mirror);
	}
	return code;
}

/* A -D without a meaning for the profile is as wrong here as in a run. It is found when all values
 * are put in; of the errors of that step only those about -D are taken over. */
static void check_defines(const struct nm_loaded *loaded, const struct nm_param_values *values,
			  struct nm_diags *diags)
{
	struct nm_loaded whole = {0};
	struct nm_diags found = {.lenient = diags->lenient};

	if (nm_loaded_copy(&whole, loaded->name, loaded->text, loaded->length, &found) == 0)
		(void)nm_loaded_compile(&whole, values, &found);
	for (size_t i = 0; i < found.count; i++) {
		const struct nm_diag *diag = &found.items[i];
		if (diag->severity == NM_SEV_ERROR && diag->line == 0 &&
		    nm_diag_find_subject(diag, NM_SUBJECT_DEFINE))
			nm_diag_copy(diags, diag);
	}
	nm_diags_fini(&found);
	nm_loaded_fini(&whole);
}

int nm_cli_inspect(const struct nm_args *args, FILE *out, struct nm_diags *diags)
{
	struct nm_loaded loaded = {0};
	struct nm_param_values values = {
		.defines = args->defines,
		.n_defines = args->n_defines,
		.lookup = args->run.no_env ? NULL : nm_cli_lookup,
		.as_uperf = args->run.as_uperf,
	};
	struct nm_judge judge = {.requirements = {.count = 0}};
	int code = NM_EXIT_USAGE;

	char *path = nm_stock_find(args->master, diags);
	if (!path || nm_loaded_read(&loaded, path, diags) != 0)
		goto out;
	if (args->action == NM_ACTION_PARAMS) {
		/* The parameters that were found are shown also when a value is wrong. */
		(void)nm_loaded_params(&loaded, &values, diags);
		if (loaded.root) {
			print_params(&loaded.params, out);
			check_defines(&loaded, &values, diags);
		}
		code = diags->n_errors ? NM_EXIT_USAGE : NM_EXIT_OK;
		goto out;
	}
	if (nm_loaded_compile(&loaded, &values, diags) != 0 ||
	    nm_judge_read(&judge, args, &loaded, diags) != 0)
		goto out;
	if (args->action == NM_ACTION_DUMP_PLAN)
		code = print_plans(&loaded, out, diags);
	else if (args->action == NM_ACTION_OPTIONS)
		code = nm_dialect.print_options(args, &loaded.params, out) ? NM_EXIT_INTERNAL
									   : NM_EXIT_OK;
	else
		code = print_check(&loaded, out);
	if (loaded.plan->apart && args->action != NM_ACTION_OPTIONS)
		nm_diag_warn(diags, loaded.name, loaded.plan->apart_line, "%s", loaded.plan->apart);
out:
	nm_judge_fini(&judge);
	nm_loaded_fini(&loaded);
	free(path);
	return code;
}
