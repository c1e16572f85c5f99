/* SPDX-License-Identifier: Apache-2.0 */
/* From what is known to the result. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/wire/digest.h"
#include "control/master/master.h"
#include "host/clock.h"

#define LATE_RESULT_NS 2000000000u /* that slaves have after a failure */
#define LEAVE_NS       2000000000u /* that an embedded slave has to end */
#define LEAVE_LOST_NS  300000000u  /* and one that has not delivered */
#define MAX_ROWS       1000000u	   /* kept of one slave */

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

static bool describe_group(struct nm_result_group *to, const struct nm_group *from)
{
	bool ok = true;

	to->name = copy_text(from->name, &ok);
	to->n_flows = from->n_flows;
	to->n_workers = from->n_workers;
	to->opens_fast = from->opens_fast;
	to->maps = from->maps;
	to->phases = calloc(from->n_phases + 1u, sizeof *to->phases);
	if (!to->phases)
		return false;
	to->n_phases = from->n_phases;
	for (uint32_t k = 0; k < from->n_phases; k++) {
		to->phases[k].name = copy_text(from->phases[k].name, &ok);
		to->phases[k].line = from->phases[k].line;
		to->phases[k].measured = from->phases[k].measured;
		to->phases[k].planned_per_s = from->phases[k].rate_per_s * from->n_flows;
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
					 result->profile_sha256);
	if (error)
		return error;
	result->run_id = copy_text(id, &ok);
	result->version = copy_text(NM_VERSION, &ok);
	result->profile_name = copy_text(master->plan->name, &ok);
	result->throughput = master->plan->throughput;
	result->profile_path = copy_text(master->job->path, &ok);
	result->start_wall_ns = nm_clock_wall_ns();
	result->wall_offset_ns = result->start_wall_ns - nm_clock_ns();
	result->seed = options->seed;
	result->warmup_s = (double)options->warmup_ns / 1e9;
	result->cooldown_s = (double)options->cooldown_ns / 1e9;
	result->interval_s = (double)options->interval_ns / 1e9;
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
	return describe_hosts(master) ? 0 : -ENOMEM;
}

/* 0 or -ENOMEM; *capacity is that of host->intervals. */
static int append_row(struct nm_result_host *host, size_t *capacity,
		      const struct nm_host_interval *row)
{
	if (host->n_intervals == *capacity) {
		size_t more = *capacity ? *capacity * 2 : 64;
		struct nm_host_interval *grown = realloc(host->intervals, more * sizeof *grown);

		if (!grown)
			return -ENOMEM;
		host->intervals = grown;
		*capacity = more;
	}
	host->intervals[host->n_intervals++] = *row;
	return 0;
}

void nm_master_own_row(void *arg, const struct nm_host_interval *row)
{
	struct nm_master *master = arg;

	if (append_row(&master->result->hosts[0], &master->row_capacity, row))
		master->memory_failed = true;
}

int nm_link_interval(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_host_interval row;

	if (nm_interval_unpack(body, master->plan->n_phases, &row))
		return -EPROTO;
	if (link->result->n_intervals >= MAX_ROWS)
		return 0;
	if (append_row(link->result, &link->row_capacity, &row))
		master->memory_failed = true;
	return 0;
}

/* What a host has told; its groups have been written to host->groups already. */
static void take_result(const struct nm_master *master, struct nm_result_host *host,
			const struct nm_msg_result *result)
{
	host->n_groups = master->plan->n_groups;
	host->connections = result->connections;
	host->has_usage = result->has_usage;
	host->usage = result->usage;
	host->counters = result->counters;
	host->arrived = result->arrived;
	host->window = result->window;
	host->complete = !host->error;
	for (size_t g = 0; g < host->n_groups; g++)
		nm_counts_add(&host->counts, &host->groups[g]);
}

int nm_link_result(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_result_host *host = link->result;
	struct nm_msg_result *result = calloc(1, sizeof *result);

	if (!result) {
		nm_master_fail(master, link, NM_FAILURE_LOSS, "%s", strerror(ENOMEM));
		return 0;
	}
	result->groups = host->groups;
	int error = nm_result_unpack(body, master->plan->n_groups, result);

	if (!error && result->report)
		error = nm_report_unpack(result->report, link->mirror, &master->result->percentiles,
					 &host->report);
	if (error == -ENOMEM)
		nm_master_fail(master, link, NM_FAILURE_LOSS, "%s", strerror(ENOMEM));
	if (!error) {
		take_result(master, host, result);
		if (host->window.from_ns) {
			host->window.from_ns -= (uint64_t)link->clock.offset_ns;
			host->window.to_ns -= (uint64_t)link->clock.offset_ns;
		}
		link->peer.state = NM_SESSION_END;
	} else if (error == -EPROTO) {
		memset(host->groups, 0, master->plan->n_groups * sizeof *host->groups);
	}
	free(result);
	return error == -EPROTO ? error : 0;
}

/* In the same way as the slaves do, so that all figures are made alike. */
static void collect_own(struct nm_master *master)
{
	struct nm_result_host *host = &master->result->hosts[0];
	struct nm_msg_result *result = calloc(1, sizeof *result);

	if (!result) {
		master->memory_failed = true;
		return;
	}
	result->groups = host->groups;
	nm_local_result(&master->local, nm_clock_ns(), result, &host->process_start);
	if (result->report && nm_report_unpack(result->report, master->plan,
					       &master->result->percentiles, &host->report))
		master->memory_failed = true;
	json_decref(result->report);
	take_result(master, host, result);
	free(result);
}

/* Gives slaves the time to deliver. */
static void await_results(struct nm_master *master)
{
	uint64_t wait_ns = master->options->timeout_ns;

	if (master->failure && wait_ns > LATE_RESULT_NS)
		wait_ns = LATE_RESULT_NS;
	uint64_t until_ns = nm_clock_ns() + wait_ns;

	for (size_t i = 0; i < master->n_links;) {
		struct nm_link *link = &master->links[i];

		if (link->peer.fd < 0 || link->peer.state != NM_SESSION_RESULT ||
		    master->interrupts >= 2) {
			i++;
		} else if (nm_clock_ns() >= until_ns) {
			nm_master_fail(master, link, NM_FAILURE_LOSS, "its result did not come");
			i++;
		} else {
			nm_master_poll(master, until_ns);
		}
	}
}

/* Sends the slaves away, and waits for those that are processes of ours. */
static void dismiss(struct nm_master *master)
{
	char how[128];

	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		if (link->peer.fd >= 0 && link->result->complete)
			nm_master_send(master, link, NM_MESSAGE_BYE, json_object());
		else if (link->peer.fd >= 0)
			nm_master_send(
				master, link, NM_MESSAGE_ABORT,
				nm_refuse_pack("abort", *master->why ? master->why
								     : nm_master_cut_text(master)));
		nm_peer_fini(&link->peer);
	}
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		nm_embedded_end(&link->embedded, link->result->complete ? LEAVE_NS : LEAVE_LOST_NS,
				how, sizeof how);
	}
}

static void warn_of_empty_windows(struct nm_master *master)
{
	struct nm_result *result = master->result;

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];
		bool measured = false;

		for (uint32_t k = 0; group->runs && k < group->n_phases; k++)
			measured |= group->phases[k].measured;
		if (!measured || nm_windows_measured(master->windows, g))
			continue;
		nm_result_warn(result,
			       "group %.128s: nothing is left to measure: its transactions ended "
			       "before the warm-up of %.3g s did",
			       group->name, result->warmup_s);
	}
}

/* Ways around the usual one that were asked for, and that the kernels have not taken. */
static void warn_of_ways(struct nm_result *result)
{
	uint64_t count, all;

	if (nm_result_fastopens(result, &count, &all) && all && !count)
		nm_result_warn(result,
			       "tcp_fastopen: no connection has sent data with its first packet: "
			       "sysctl net.ipv4.tcp_fastopen must have bit 1 on the host that "
			       "connects, and bit 2 on the one that accepts (3 is both); the first "
			       "connection to a host only gets leave for those after it");
	if (nm_result_mapped(result, &count, &all) && count < all / 10)
		nm_result_warn(result,
			       "rx_zerocopy: less than 10 %% of what was received was mapped: only "
			       "whole pages are, as zerocopy at the sender fills them, in segments "
			       "that have room for them: an MTU of 4096 bytes and headers");
}

void nm_master_assemble(struct nm_master *master)
{
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		if (link->peer.fd < 0 || master->interrupts >= 2 ||
		    (link->peer.state != NM_SESSION_IDLE && link->peer.state != NM_SESSION_PHASE))
			continue;
		link->peer.state = NM_SESSION_RESULT;
		nm_master_send(master, link, NM_MESSAGE_FINISH, json_object());
	}
	if (master->local.engine && master->run_begin_ns) {
		master->result->end_wall_ns = master->run_end_ns + master->result->wall_offset_ns;
		nm_progress_sampler_finish(master->progress_told, nm_clock_ns());
		if (master->responses_told)
			nm_response_sampler_finish(master->responses_told);
		collect_own(master);
		nm_windows_finish(master->windows);
		if (!master->failure && !master->interrupts)
			warn_of_empty_windows(master);
		master->result->elapsed_s =
			(double)(master->run_end_ns - master->run_begin_ns) / 1e9;
	} else {
		(void)snprintf(master->result->hosts[0].connections.why,
			       sizeof master->result->hosts[0].connections.why,
			       "the run did not begin");
	}
	/* No more traffic while the results come: after a failure there may be some yet. */
	master->local.engine = nm_engine_free(master->local.engine);
	await_results(master);
	warn_of_ways(master->result);
	dismiss(master);
}
