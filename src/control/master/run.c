/* SPDX-License-Identifier: Apache-2.0 */
#include "control/master/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "control/preflight.h"
#include "control/master/details.h"
#include "control/master/master.h"
#include "host/clock.h"
#include "host/priority.h"

#define FAILURE_GRACE_NS  200000000u /* in which a failure may show its cause */
#define OTHER_DESCRIPTORS 64u	     /* that a process needs besides those of its plan */

void nm_master_log(const struct nm_master *master, const char *fmt, ...)
{
	char line[512];
	va_list args;

	if (!master->options->events.log)
		return;
	va_start(args, fmt);
	(void)vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	nm_make_plain(line); /* peers have a part in it */
	master->options->events.log(master->options->events.arg, line);
}

void nm_master_fail(struct nm_master *master, struct nm_link *link, enum nm_failure_rank rank,
		    const char *fmt, ...)
{
	struct nm_result_host *host = link ? link->result : &master->result->hosts[0];
	char text[NM_WIRE_MAX_TEXT - 300];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	/* A slave that has told why it leaves does not tell more by leaving. */
	if (rank == NM_FAILURE_LOSS && host->error)
		rank = NM_FAILURE_EFFECT;
	if (!host->error)
		host->error = strdup(text);
	host->complete = false;
	nm_master_log(master, "%s%s: %s", link ? "slave " : "", host->name, text);
	if (rank <= master->failure || (master->settled && master->failure))
		return;
	if (!master->failure)
		master->failed_at_ns = nm_clock_ns();
	master->failure = rank;
	(void)snprintf(master->why, sizeof master->why, "%s%.255s: %s", link ? "slave " : "",
		       host->name, text);
}

bool nm_master_leaves(const struct nm_master *master, uint64_t now_ns)
{
	if (master->interrupts >= 2 || master->failure == NM_FAILURE_LOSS)
		return true;
	return master->failure && now_ns >= master->failed_at_ns + FAILURE_GRACE_NS;
}

/* Warm-up and cool-down are cut from every measured transaction: they must leave something of
 * it. */
static void check_windows(struct nm_master *master)
{
	const struct nm_run_options *options = master->options;
	uint64_t cut_ns = options->warmup_ns + options->cooldown_ns;
	char cut[32], length[32];
	bool any = false, timed = false;

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];

		for (uint32_t k = 0; group->runs && k < group->n_phases; k++) {
			const struct nm_phase *phase = &group->phases[k];

			if (!phase->measured)
				continue;
			any = true;
			timed |= phase->duration_ns > 0;
			if (!phase->duration_ns || cut_ns == 0 || cut_ns < phase->duration_ns)
				continue;
			nm_diag_error(
				master->diags, master->file, phase->line,
				"<transaction> lasts %s, and --warmup and --cooldown cut %s from "
				"it: they must leave something to measure",
				nm_format_duration((double)phase->duration_ns / 1e9, length,
						   sizeof length),
				nm_format_duration((double)cut_ns / 1e9, cut, sizeof cut));
		}
	}
	if (options->cooldown_ns && any && !timed)
		nm_diag_error(master->diags, master->file, 0,
			      "--cooldown needs a measured transaction with a duration: when one "
			      "with iterations will end is not known before");
}

static void check_cpus(struct nm_master *master)
{
	const struct nm_run_options *options = master->options;

	if (options->cpus) {
		int error = nm_cpu_list_parse(options->cpus, &master->cpus);

		if (error) {
			char why[384];

			nm_cpu_list_explain(options->cpus, error, why, sizeof why);
			nm_diag_error(master->diags, NULL, 0, "--cpus \"%s\": %s", options->cpus,
				      why);
		}
	}
	if (options->slave_cpus && nm_cpu_list_check_form(options->slave_cpus))
		nm_diag_error(master->diags, NULL, 0,
			      "--slave-cpus \"%s\": not a list of CPUs like 0-3,8",
			      options->slave_cpus);
}

/* Compiles what each slave will run: to know what to wait for, and to find mistakes while nothing
 * is sent. */
static int make_links(struct nm_master *master)
{
	const struct nm_plan *plan = master->plan;

	master->links = calloc(plan->n_hosts + 1u, sizeof *master->links);
	if (!master->links)
		return -ENOMEM;
	for (uint32_t h = 0; h < plan->n_hosts; h++) {
		struct nm_link *link = &master->links[h];

		link->peer.fd = -1;
		link->host = h;
		link->name = plan->hosts[h];
		master->n_links = h + 1;
		link->mirror = nm_plan_compile_mirror(master->job->root, master->file, link->name,
						      master->diags);
		if (!link->mirror)
			return 0; /* the diagnostics say why */
		link->groups = calloc(plan->n_groups + 1u, sizeof *link->groups);
		for (uint32_t g = 0; link->groups && g < plan->n_groups; g++) {
			link->groups[g].totals = calloc(plan->groups[g].n_workers + 1u,
							sizeof *link->groups[g].totals);
			if (!link->groups[g].totals)
				return -ENOMEM;
		}
		if (!link->groups)
			return -ENOMEM;
	}
	return 0;
}

static void check_descriptors(struct nm_master *master)
{
	uint64_t needed = nm_plan_descriptors(master->plan) + master->n_links;
	uint64_t limit = 0;

	for (size_t i = 0; i < master->n_links; i++) {
		const struct nm_link *link = &master->links[i];

		if (strcmp(link->name, NM_EMBEDDED_HOST) != 0)
			continue;
		uint64_t slave_needs = nm_plan_descriptors(link->mirror);

		if (master->options->in_process)
			needed += slave_needs;
		else if (slave_needs > needed)
			needed = slave_needs;
	}
	needed += OTHER_DESCRIPTORS;
	if (master->options->in_process ? nm_check_nofile(needed, &limit)
					: nm_raise_nofile(needed, &limit))
		nm_diag_error(master->diags, NULL, 0,
			      "the run needs %llu descriptors, and this process may have %llu: "
			      "raise its limit (ulimit -n %llu)",
			      (unsigned long long)needed, (unsigned long long)limit,
			      (unsigned long long)needed);
}

/* Numbers about the plan that the run needs again and again, and room for what it says. */
static int measure_plan(struct nm_master *master)
{
	const struct nm_plan *plan = master->plan;
	uint64_t wait_ns = nm_plan_longest_wait_ns(plan);

	master->first_measured = master->last_measured = UINT32_MAX;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (uint32_t k = 0; group->runs && k < group->n_phases; k++) {
			const struct nm_phase *phase = &group->phases[k];

			if (phase->rate_per_s > 0 && 1e9 / phase->rate_per_s > (double)wait_ns)
				wait_ns = (uint64_t)(1e9 / phase->rate_per_s);
			if (!phase->measured)
				continue;
			if (master->first_measured == UINT32_MAX || k < master->first_measured)
				master->first_measured = k;
			if (master->last_measured == UINT32_MAX || k > master->last_measured)
				master->last_measured = k;
		}
	}
	master->stall_ns = master->options->timeout_ns + wait_ns;
	master->groups = calloc(plan->n_groups + 1u, sizeof *master->groups);
	master->pollfds = calloc(master->n_links + 2, sizeof *master->pollfds);
	return master->groups && master->pollfds ? 0 : -ENOMEM;
}

static void master_fini(struct nm_master *master)
{
	if (master->before_others)
		nm_priority_restore(master->priority);
	nm_local_close(&master->local);
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		nm_peer_fini(&link->peer);
		for (uint32_t g = 0; link->groups && g < master->plan->n_groups; g++)
			free(link->groups[g].totals);
		free(link->groups);
		nm_plan_free(link->mirror);
	}
	free(master->links);
	master->windows = nm_windows_free(master->windows);
	master->progress_told = nm_progress_sampler_free(master->progress_told);
	master->responses_told = nm_response_sampler_free(master->responses_told);
	nm_cpu_list_fini(&master->cpus);
	free(master->pollfds);
	free(master->groups);
	explicit_bzero(master->secret, sizeof master->secret);
}

/* How much later the last host has begun than the first. */
static double skew_of_all(const struct nm_result *result)
{
	double first_s = 0, last_s = 0;

	for (size_t i = 0; i < result->n_hosts; i++) {
		double skew_s = result->hosts[i].start_skew_s;

		first_s = skew_s < first_s ? skew_s : first_s;
		last_s = skew_s > last_s ? skew_s : last_s;
	}
	return last_s - first_s;
}

/* Whether all hosts have entered the first measured phase, however the run went on. */
static bool skew_is_known(const struct nm_master *master)
{
	if (!master->run_begin_ns || master->phase < master->first_measured)
		return false;
	for (size_t i = 0; i < master->n_links && master->phase == master->first_measured; i++) {
		if (!master->links[i].began)
			return false;
	}
	return true;
}

const char *nm_master_cut_text(struct nm_master *master)
{
	if (!master->limited)
		return "interrupted";
	(void)snprintf(master->cut_text, sizeof master->cut_text,
		       "longer than --max-duration %.6gs",
		       (double)master->options->max_duration_ns / 1e9);
	return master->cut_text;
}

/* `cut`: an interrupt has ended the phases. */
static enum nm_run_status conclude(struct nm_master *master, bool cut)
{
	struct nm_result *result = master->result;

	if (master->memory_failed || nm_samplers_failed(&master->local.samplers))
		nm_master_fail(master, NULL, NM_FAILURE_LOSS,
			       "out of memory: parts of the result are missing");
	result->has_start_skew = skew_is_known(master);
	if (result->has_start_skew)
		result->start_skew_s = skew_of_all(result);
	result->interrupted = master->interrupts > 0 && !master->limited;
	result->complete = !cut && master->interrupts < 2 && !master->failure;
	/* Nothing is missing when only results were awaited, but the user wants no more. */
	if (result->complete && result->reconciled == NM_RECONCILED_NO) {
		nm_diag_error(master->diags, NULL, 0, "the counts of both ends differ: %s",
			      result->reconcile_text ? result->reconcile_text : "");
		return NM_RUN_FAILED;
	}
	if (result->complete)
		return result->interrupted ? NM_RUN_INTERRUPTED : NM_RUN_COMPLETE;
	if (!master->failure)
		(void)snprintf(master->why, sizeof master->why,
			       master->run_begin_ns ? "%s%s in phase %u of %u"
						    : "%s%s before the first phase",
			       nm_master_cut_text(master), master->limited ? "," : "",
			       master->phase + 1, master->plan->n_phases);
	result->incomplete_why = strdup(master->why);
	return result->interrupted ? NM_RUN_INTERRUPTED : NM_RUN_FAILED;
}

enum nm_run_status nm_run(const struct nm_job *job, const struct nm_run_options *options,
			  struct nm_result **ret_result, struct nm_diags *diags)
{
	struct nm_master master = {.job = job,
				   .options = options,
				   .plan = job->plan,
				   .diags = diags,
				   .file = job->path ? job->path : job->plan->name};
	size_t errors_before = diags->n_errors;
	enum nm_run_status status = NM_RUN_INTERNAL;

	*ret_result = NULL;
	check_windows(&master);
	check_cpus(&master);
	nm_preflight_check(master.plan, master.file, diags);
	int error = make_links(&master);
	if (!error && diags->n_errors == errors_before)
		check_descriptors(&master);
	if (!error && diags->n_errors > errors_before) {
		master_fini(&master);
		return NM_RUN_REFUSED;
	}
	if (!error)
		error = measure_plan(&master);
	if (!error && !(master.result = nm_result_new()))
		error = -ENOMEM;
	if (!error)
		error = nm_master_describe(&master);
	if (error) {
		nm_diag_error(diags, NULL, 0, "cannot prepare the run: %s", strerror(-error));
		nm_result_free(master.result);
		master_fini(&master);
		return status;
	}
	nm_details_warn(options, master.plan, master.result);
	if (nm_master_setup(&master))
		nm_master_run_phases(&master);
	bool cut = master.interrupts > 0;

	master.settled = true;
	nm_master_assemble(&master);
	status = conclude(&master, cut);
	master_fini(&master);
	*ret_result = master.result;
	return status;
}
