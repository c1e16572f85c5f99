/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of plans and options against this host. */
#include "control/preflight.h"

#include "app/command.h"
#include "app/http.h"
#include "base/units.h"
#include "host/cpu_latency.h"

static void check_awake(const struct nm_group *group, const char *file, struct nm_diags *diags)
{
	char why[192];

	if (group->runs && group->awake && nm_cpu_latency_check(why, sizeof why) < 0)
		nm_diag_error(diags, file, group->line, "<group> wait=\"awake\": %s", why);
}

void nm_preflight_check(const struct nm_plan *plan, const char *file, struct nm_diags *diags)
{
	(void)nm_plan_check_protocols(plan, file, diags);
	for (uint32_t g = 0; g < plan->n_groups; g++)
		check_awake(&plan->groups[g], file, diags);
}

/* A figure cannot settle in fewer intervals. */
static void check_plateau(const struct nm_phase *phase, const struct nm_run_options *options,
			  const char *file, struct nm_diags *diags)
{
	uint64_t interval_ns = options->interval_ns ? options->interval_ns : NM_PLATEAU_INTERVAL_NS;
	char least[32], length[32], interval[32];

	if (!phase->waits.until.figure || phase->duration_ns >= NM_PLATEAU_ROWS * interval_ns)
		return;
	nm_diag_error(
		diags, file, phase->line,
		"a warm-up of at most %s (max= of --warmup, or the duration of a <transaction> "
		"with until) is too short for a plateau: with intervals of %s (--interval) it "
		"takes %s at least",
		nm_format_duration((double)phase->duration_ns / 1e9, length, sizeof length),
		nm_format_duration((double)interval_ns / 1e9, interval, sizeof interval),
		nm_format_duration((double)(NM_PLATEAU_ROWS * interval_ns) / 1e9, least,
				   sizeof least));
}

void nm_preflight_windows(const struct nm_plan *plan, const struct nm_run_options *options,
			  const char *file, struct nm_diags *diags)
{
	uint64_t cut_ns = options->warmup_ns + options->cooldown_ns;
	char cut[32], length[32];
	bool any = false, timed = false;

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (uint32_t k = 0; group->runs && k < group->n_phases; k++) {
			const struct nm_phase *phase = &group->phases[k];

			check_plateau(phase, options, file, diags);
			if (!phase->measured)
				continue;
			any = true;
			timed |= phase->duration_ns > 0;
			if (!phase->duration_ns || cut_ns == 0 || cut_ns < phase->duration_ns)
				continue;
			nm_diag_error(
				diags, file, phase->line,
				"<transaction> lasts %s, and --warmup and --cooldown cut %s from "
				"it: they must leave something to measure",
				nm_format_duration((double)phase->duration_ns / 1e9, length,
						   sizeof length),
				nm_format_duration((double)cut_ns / 1e9, cut, sizeof cut));
		}
	}
	if (options->cooldown_ns && any && !timed)
		nm_diag_error(diags, file, 0,
			      "--cooldown needs a measured transaction with a duration: when one "
			      "with iterations will end is not known before");
}

void nm_preflight_destruction(const struct nm_plan *plan, const struct nm_run_options *options,
			      const char *file, struct nm_diags *diags)
{
	for (uint32_t g = 0; g < plan->n_groups && !options->trust.yes_destroy; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (const struct nm_instr *i = group->instrs; i < group->instrs + group->n_instrs;
		     i++)
			if (nm_instr_asks(i) && !nm_instr_serves(i) && i->host == NM_NO_HOST &&
			    nm_instr_destroys(i))
				nm_diag_error(diags, file, i->line,
					      "<flowop %s>: %s may take away what a server has "
					      "that netmodel has not started: needs --yes-destroy",
					      i->op->name, plan->verbs[i->ask.verb].name);
	}
}

void nm_preflight_cpus(const struct nm_run_options *options, struct nm_cpu_list *ret_cpus,
		       struct nm_diags *diags)
{
	if (options->cpus) {
		int error = nm_cpu_list_parse(options->cpus, ret_cpus);

		if (error) {
			char why[384];

			nm_cpu_list_explain(options->cpus, error, why, sizeof why);
			nm_diag_error(diags, NULL, 0, "--cpus \"%s\": %s", options->cpus, why);
		}
	}
	if (options->slave_cpus && nm_cpu_list_check_form(options->slave_cpus))
		nm_diag_error(diags, NULL, 0, "--slave-cpus \"%s\": not a list of CPUs like 0-3,8",
			      options->slave_cpus);
}
