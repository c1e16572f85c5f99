/* SPDX-License-Identifier: Apache-2.0 */
/* Copies into the result all that a reader must know about the run besides its figures. */
#include "control/master/describe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "control/wire/digest.h"
#include "flowop/mix.h"
#include "host/clock.h"

static char *copy_text(const char *text, bool *ok)
{
	char *copy = text ? strdup(text) : NULL;

	*ok = *ok && (copy || !text);
	return copy;
}

static bool describe_params(struct nm_result *result, const struct nm_params *params)
{
	bool ok = true;

	if (!params || params->count == 0)
		return true;
	result->params.items = calloc(params->count, sizeof *result->params.items);
	if (!result->params.items)
		return false;
	result->params.count = params->count;
	for (size_t i = 0; i < params->count; i++) {
		const struct nm_param *from = &params->items[i];
		struct nm_param *to = &result->params.items[i];

		*to = *from;
		to->name = copy_text(from->name, &ok);
		to->def = copy_text(from->def, &ok);
		to->help = copy_text(from->help, &ok);
		to->value = copy_text(from->value, &ok);
	}
	return ok;
}

/* What the phase replays, with which a pass begins. */
static void describe_replay(struct nm_result_phase *to, const struct nm_group *group,
			    const struct nm_phase *from)
{
	for (uint32_t i = from->first; i < from->first + from->n_instrs; i++) {
		const struct nm_mix *mix = nm_instr_mix(&group->instrs[i]);

		if (!mix || !mix->replays)
			continue;
		to->recorded.left_out = mix->replays->n_left_out;
		to->recorded.lines = mix->replays->count + mix->replays->n_left_out;
		to->recorded.total = from->total;
	}
}

static bool describe_steps(struct nm_result_phase *to, const struct nm_phase *from)
{
	const struct nm_arrivals *arrivals = &from->arrivals;
	const uint32_t n_steps = from->measured ? arrivals->n_steps : 0;

	to->steps = calloc(n_steps + 1u, sizeof *to->steps);
	if (!to->steps)
		return false;
	to->n_steps = n_steps;
	for (uint32_t i = 0; i < n_steps; i++)
		to->steps[i] = (struct nm_result_step){
			.number = i,
			.begin_s = (double)i * (double)arrivals->step_ns / 1e9,
			.planned_per_s = arrivals->law->step_per_s(arrivals, i)};
	return true;
}

static bool describe_group(struct nm_result_group *to, const struct nm_group *from)
{
	bool ok = true;
	char text[NM_ARRIVAL_TEXT + 64];

	to->name = copy_text(from->name, &ok);
	to->n_flows = from->n_flows;
	to->n_workers = from->n_workers;
	to->processes = from->processes;
	to->opens_fast = from->opens_fast;
	to->maps = from->messages.maps;
	to->phases = calloc(from->n_phases + 1u, sizeof *to->phases);
	if (!to->phases)
		return false;
	to->n_phases = from->n_phases;
	for (uint32_t k = 0; k < from->n_phases; k++) {
		to->phases[k].name = copy_text(from->phases[k].name, &ok);
		to->phases[k].line = from->phases[k].line;
		to->phases[k].measured = from->phases[k].measured;
		to->phases[k].pipeline = from->phases[k].pipeline;
		if (from->phases[k].arrivals.law)
			to->phases[k].arrivals = copy_text(
				nm_arrivals_text(&from->phases[k].arrivals, text, sizeof(text)),
				&ok);
		describe_replay(&to->phases[k], from, &from->phases[k]);
		ok = describe_steps(&to->phases[k], &from->phases[k]) && ok;
		to->phases[k].planned_per_s = nm_phase_planned_per_s(from, &from->phases[k]);
	}
	return ok;
}

static bool describe_hosts(struct nm_master *master)
{
	struct nm_result *result = master->result;
	bool ok = true;

	result->hosts = calloc(master->n_links + 1, sizeof *result->hosts);
	if (!result->hosts)
		return false;
	result->n_hosts = master->n_links + 1;
	result->hosts[0].name = copy_text("master", &ok);
	result->hosts[0].is_master = true;
	nm_host_facts_read(&result->hosts[0].facts);
	for (size_t i = 0; i < result->n_hosts; i++) {
		struct nm_result_host *host = &result->hosts[i];

		if (i > 0) {
			master->links[i - 1].result = host;
			host->facts.cpu_latency_limit_us = -1;
			host->name = copy_text(master->links[i - 1].name, &ok);
			(void)snprintf(host->connections.why, sizeof host->connections.why,
				       "the slave has delivered no result");
		}
		host->groups = calloc(master->plan->n_groups + 1u, sizeof *host->groups);
		ok = ok && host->groups; /* n_groups stays 0 until their counts are known */
	}
	return ok;
}

/* Whether a parameter names a host; local: this host, as it does by default. */
static bool names_host(const struct nm_param *param, bool local)
{
	bool is_local = param->value && nm_ascii_equals(param->value, "local");

	return param->type == NM_TYPE_HOST && param->value && *param->value &&
	       (local ? is_local && param->source == NM_PARAM_DEFAULT : !is_local);
}

/* Hosts that nobody has named run here, and what they do is in the same sums as the traffic between
 * hosts. */
static void warn_of_local_hosts(struct nm_result *result)
{
	const struct nm_params *params = &result->params;
	char names[256] = "";
	size_t n_left = 0, used = 0;
	const char *named = NULL;

	for (size_t i = 0; i < params->count && used < sizeof names; i++) {
		const struct nm_param *param = &params->items[i];

		if (!named && names_host(param, false))
			named = param->value;
		if (!names_host(param, true))
			continue;
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
					 n_left++ ? ", " : "", param->name);
	}
	if (named && n_left)
		nm_result_warn(result,
			       "%s: not given, so that %s on this host: traffic that never leaves "
			       "it is in one sum with that of %s",
			       names, n_left == 1 ? "this one is" : "these are", named);
}

int nm_master_describe(struct nm_master *master)
{
	struct nm_result *result = master->result;
	const struct nm_run_options *options = master->options;
	char id[NM_RUN_ID_HEX];
	bool ok = true;
	int error = nm_run_id_make(id);

	if (!error)
		error = nm_random_bytes(master->secret, sizeof master->secret);

	if (!error && master->job->text)
		error = nm_digest_sha256(master->job->text, master->job->text_length,
					 result->profile.sha256);
	if (error)
		return error;
	result->id.run_id = copy_text(id, &ok);
	result->id.version = copy_text(NM_VERSION, &ok);
	result->profile.name = copy_text(master->plan->name, &ok);
	result->throughput = master->plan->throughput;
	result->profile.path = copy_text(master->job->path, &ok);
	result->wall.start_ns = nm_clock_wall_ns();
	result->wall.offset_ns = result->wall.start_ns - nm_clock_ns();
	result->id.seed = options->seed;
	if (master->job->warmup_until)
		result->grid.warmup_until = copy_text(master->job->warmup_until, &ok);
	result->grid.warmup_s = (double)options->warmup_ns / 1e9;
	result->grid.cooldown_s = (double)options->cooldown_ns / 1e9;
	result->grid.interval_s = (double)options->interval_ns / 1e9;
	result->grid.windows = options->windows;
	result->statistics = options->statistics;
	result->percentiles = options->percentiles;
	result->groups = calloc(master->plan->n_groups + 1u, sizeof *result->groups);
	if (!ok || !result->groups || !describe_params(result, master->job->params))
		return -ENOMEM;
	result->n_groups = master->plan->n_groups;
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		if (!describe_group(&result->groups[g], &master->plan->groups[g]))
			return -ENOMEM;
	}
	warn_of_local_hosts(result);
	if (master->plan->apart)
		nm_result_warn(result, "%s", master->plan->apart);
	return describe_hosts(master) ? 0 : -ENOMEM;
}
