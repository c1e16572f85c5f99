/* SPDX-License-Identifier: Apache-2.0 */
/* A run from its checks to its verdict. */
#include "control/master/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/master/assemble.h"
#include "control/master/describe.h"
#include "control/master/details.h"
#include "control/master/handlers.h"
#include "control/master/order.h"
#include "control/master/phase_loop.h"
#include "control/master/setup.h"
#include "control/preflight.h"
#include "host/priority.h"

/* Compiles the plan of each slave, to know what to wait for, and to find mistakes before anything
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
		link->told_renewals = calloc(plan->n_groups + 1u, sizeof *link->told_renewals);
		link->losses = calloc(plan->n_groups + 1u, sizeof *link->losses);
		if (!link->told_renewals || !link->losses)
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
	needed += NM_OTHER_DESCRIPTORS;
	if (master->options->in_process ? nm_check_nofile(needed, &limit)
					: nm_raise_nofile(needed, &limit))
		nm_diag_error(master->diags, NULL, 0,
			      "the run needs %llu open files, and this process may have %llu: "
			      "raise its limit (ulimit -n %llu)",
			      (unsigned long long)needed, (unsigned long long)limit,
			      (unsigned long long)needed);
}

static void master_fini(struct nm_master *master)
{
	if (master->raised)
		nm_priority_restore(master->priority);
	nm_local_close(&master->local);
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		nm_peer_fini(&link->peer);
		free(link->told_renewals);
		free(link->losses);
		nm_plan_free(link->mirror);
	}
	free(master->links);
	nm_phases_fini(&master->phases);
	master->windows = nm_windows_free(master->windows);
	master->plateaus = nm_plateaus_free(master->plateaus);
	master->progress = nm_progress_sampler_free(master->progress);
	master->responses = nm_response_sampler_free(master->responses);
	nm_cpu_list_fini(&master->cpus);
	free(master->pollfds);
	explicit_bzero(master->secret, sizeof master->secret);
}

/* Room for the agreement and the result, as far as that is known. 0 or -errno. */
static int prepare(struct nm_master *master)
{
	int error = nm_master_phases_init(master);

	master->pollfds = calloc(master->n_links + 3, sizeof *master->pollfds);
	master->result = nm_result_new();
	if (!error && (!master->pollfds || !master->result))
		error = -ENOMEM;
	return error ? error : nm_master_describe(master);
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
	const struct nm_phases *phases = &master->phases;
	uint32_t first, last;

	nm_order_measured(master->plan, &first, &last);
	if (!master->run_begin_ns || phases->phase < first)
		return false;
	for (uint32_t h = 0; h < phases->n_hosts; h++) {
		if ((phases->phase == first && !phases->hosts[h].began) ||
		    isnan(master->links[h].result->start_skew_s))
			return false;
	}
	return true;
}

/* Why a run that only an interrupt has ended is not complete. */
static void explain_cut(struct nm_master *master)
{
	struct nm_outcome *outcome = &master->outcome;
	char cut[64];

	(void)nm_outcome_cut_text(outcome, master->options->max_duration.ns, cut, sizeof cut);
	if (master->run_begin_ns)
		(void)snprintf(outcome->why, sizeof outcome->why, "%s%s in phase %u of %u", cut,
			       outcome->limited ? "," : "", master->phases.phase + 1,
			       master->plan->n_phases);
	else
		(void)snprintf(outcome->why, sizeof outcome->why, "%s%s before the first phase",
			       cut, outcome->limited ? "," : "");
}

/* `cut`: there were no phases, or an interrupt has ended them. */
static enum nm_run_status conclude(struct nm_master *master, bool cut)
{
	struct nm_result *result = master->result;
	const struct nm_outcome *outcome = &master->outcome;

	if (master->memory_failed || nm_samplers_failed(&master->local.samplers))
		nm_master_fail(master, NULL, NM_FAILURE_LOSS,
			       "out of memory: parts of the result are missing");
	result->has_start_skew = skew_is_known(master);
	if (result->has_start_skew)
		result->start_skew_s = skew_of_all(result);
	result->verdict.interrupted = outcome->interrupts > 0 && !outcome->limited;
	result->complete = !cut && outcome->interrupts < 2 && !outcome->failure;
	/* A run that was interrupted while only results were awaited is complete, but the user
	 * wants no more. */
	if (result->complete && result->verdict.reconciled == NM_RECONCILED_NO)
		return NM_RUN_FAILED;
	if (result->complete)
		return result->verdict.interrupted ? NM_RUN_INTERRUPTED : NM_RUN_COMPLETE;
	if (!outcome->failure)
		explain_cut(master);
	result->verdict.incomplete_why = strdup(outcome->why);
	return result->verdict.interrupted ? NM_RUN_INTERRUPTED : NM_RUN_FAILED;
}

enum nm_run_status nm_run(const struct nm_job *job, const struct nm_run_options *options,
			  struct nm_result **ret_result, struct nm_diags *diags)
{
	struct nm_master master = {.job = job,
				   .options = options,
				   .outcome = {.limit_words = options->words.limit},
				   .plan = job->plan,
				   .diags = diags,
				   .file = job->path ? job->path : job->plan->name,
				   .handlers = nm_master_handlers};
	size_t errors_before = diags->n_errors;

	*ret_result = NULL;
	nm_preflight_windows(master.plan, options, master.file, diags);
	nm_preflight_destruction(master.plan, options, master.file, diags);
	nm_preflight_cpus(options, &master.cpus, diags);
	nm_preflight_check(master.plan, master.file, diags);
	int error = make_links(&master);
	if (!error && diags->n_errors == errors_before)
		check_descriptors(&master);
	if (!error && diags->n_errors > errors_before) {
		master_fini(&master);
		return NM_RUN_REFUSED;
	}
	if (!error)
		error = prepare(&master);
	if (error) {
		nm_diag_error(diags, NULL, 0, "cannot prepare the run: %s", strerror(-error));
		nm_result_free(master.result);
		master_fini(&master);
		return NM_RUN_INTERNAL;
	}
	nm_details_warn(options, master.plan, master.result);
	bool ready = nm_master_setup(&master);

	if (ready)
		nm_master_run_phases(&master);
	bool cut = !ready || master.outcome.interrupts > 0;

	master.outcome.settled = true;
	nm_master_assemble(&master);
	enum nm_run_status status = conclude(&master, cut);
	master_fini(&master);
	*ret_result = master.result;
	return status;
}
