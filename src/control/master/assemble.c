/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the results of all hosts into the result of the run, and compares their figures. */
#include "control/master/assemble.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "control/master/event_loop.h"
#include "control/master/losses.h"
#include "control/master/unkept.h"
#include "host/clock.h"
#include "result/load.h"
#include "result/replayed.h"

#define LATE_RESULT_NS 2000000000u /* time for slaves to deliver after a failure */
#define LEAVE_NS       2000000000u /* time for an embedded slave to end */
#define LEAST_SLOWDOWN 0.9	   /* of half of the flows, or the ideal is too slow */
#define LEAVE_LOST_NS  300000000u  /* time for one that has not delivered */

/* Strangers have changed nothing, but they should not be there. */
static void warn_of_strangers(const struct nm_master *master, const struct nm_result_host *host,
			      const struct nm_msg_result *result)
{
	char from[sizeof result->last_stranger];

	if (!result->strangers)
		return;
	memcpy(from, result->last_stranger, sizeof from);
	nm_make_plain(from); /* slaves may say anything */
	nm_result_warn(
		master->result,
		"%s %.255s: %llu connections to its data ports were not of this run and were "
		"turned away, the last from %s",
		host == &master->result->hosts[0] ? "master" : "slave", host->name,
		(unsigned long long)result->strangers, *from ? from : "somewhere");
}

/* A flow that waits for a connection in vain may be that of a peer whose address has changed on the
 * way. */
static void explain_strangers(struct nm_master *master, const struct nm_result_host *host,
			      const struct nm_msg_result *result)
{
	char from[sizeof result->last_stranger], text[512];

	if (!result->strangers || !*result->last_stranger || host == &master->result->hosts[0])
		return;
	memcpy(from, result->last_stranger, sizeof from);
	nm_make_plain(from);
	(void)snprintf(text, sizeof text,
		       "slave %.255s has turned away connections from %s: if they are of this run, "
		       "whose address was changed on the way, start it with --allow-peer %s",
		       host->name, from, from);
	nm_outcome_explain(&master->outcome, text);
}

/* The other runs have had a part of the host's CPUs and links. */
static void warn_of_others(const struct nm_master *master, const struct nm_result_host *host,
			   const struct nm_msg_others *others)
{
	char count[32] = "another run was", ns[32], of_ns[32];

	if (!others->runs || !others->ns)
		return;
	if (others->runs > 1)
		(void)snprintf(count, sizeof count, "%u other runs were", others->runs);
	nm_result_warn(
		master->result,
		"%s under way on %.255s for %s of %s: what they have used of that host is in "
		"these figures (a slave with --exclusive serves one run at a time)",
		count, host->name, nm_format_duration((double)others->ns / 1e9, ns, sizeof ns),
		nm_format_duration((double)others->of_ns / 1e9, of_ns, sizeof of_ns));
}

static void warn_of_cut(const struct nm_master *master, const struct nm_result_host *host,
			const char *way, const char *limit, uint64_t asked, uint64_t given)
{
	char why[64] = "it gives no less";

	if (!asked || host->trust == NM_TRUST_EMBEDDED)
		return;
	if (given < asked)
		(void)snprintf(why, sizeof why, "sysctl net.core.%s allows no more", limit);
	nm_result_warn(master->result,
		       "%s%.255s: a %s buffer of %llu bytes was asked for (wndsz, %s), and the "
		       "kernel gives %llu: %s",
		       host->is_master ? "" : "slave ", host->name, way, (unsigned long long)asked,
		       *way == 's' ? "sndbuf" : "rcvbuf", (unsigned long long)given, why);
}

static void warn_of_mss(const struct nm_master *master, const struct nm_result_host *host)
{
	const struct nm_buffers *cut = &host->facts.cut;

	if (!cut->mss_asked || host->trust == NM_TRUST_EMBEDDED)
		return;
	nm_result_warn(master->result,
		       "%s%.255s: segments of %llu bytes were asked for (mss), and TCP sends no "
		       "more than %llu in one: the other end, or the MTU of a device or of the "
		       "path, allows no more",
		       host->is_master ? "" : "slave ", host->name,
		       (unsigned long long)cut->mss_asked, (unsigned long long)cut->mss_given);
}

/* What a limit of CPU has cost looks like the network's fault. */
static void warn_of_throttling(const struct nm_master *master, const struct nm_result_host *host)
{
	const struct nm_throttling *throttling = &host->usage.throttling;
	char text[32];

	/* An embedded slave is in the control group of the master. */
	if (!host->has_usage || !throttling->throttled || host->trust == NM_TRUST_EMBEDDED)
		return;
	nm_result_warn(
		master->result,
		"%s%.255s was throttled: the limit of CPU of its control group has held it back in "
		"%llu of %llu periods, for %s on all CPUs together; that is in these figures",
		host->is_master ? "" : "slave ", host->name,
		(unsigned long long)throttling->throttled, (unsigned long long)throttling->periods,
		nm_format_duration((double)throttling->throttled_ns / 1e9, text, sizeof text));
}

/* The kernel drops what connects then, and whoever connects asks again after a second or more:
 * flows may wait so long for a connection that the run makes no progress. */
static void tell_full_queues(struct nm_master *master, const struct nm_result_host *host)
{
	const struct nm_usage *usage = &host->usage;
	char text[512];

	if (!host->has_usage || !usage->has_tcp || !usage->tcp.listen_overflows ||
	    host->trust == NM_TRUST_EMBEDDED)
		return;
	(void)snprintf(text, sizeof text,
		       "%s%.255s: a queue of connections that wait to be accepted was full %llu "
		       "times (ListenOverflows, of all TCP on that host), and who connected then "
		       "had to ask again: listen_backlog and sysctl net.core.somaxconn limit it",
		       host->is_master ? "" : "slave ", host->name,
		       (unsigned long long)usage->tcp.listen_overflows);
	nm_result_warn(master->result, "%s", text);
	nm_outcome_explain(&master->outcome, text);
}

/* Takes the result of a host; its groups have been written to host->groups already. */
static void take_result(struct nm_master *master, struct nm_result_host *host,
			const struct nm_msg_result *result)
{
	host->n_groups = master->plan->n_groups;
	host->connections = result->connections;
	host->has_usage = result->has_usage;
	host->usage = result->usage;
	host->each = result->each;
	host->counters = result->counters;
	host->arrived = result->arrived;
	host->window = result->window;
	host->complete = !host->error;
	for (size_t g = 0; g < host->n_groups; g++)
		nm_counts_add(&host->counts, &host->groups[g]);
	warn_of_strangers(master, host, result);
	warn_of_others(master, host, &result->others);
	host->facts.cut = result->cut;
	warn_of_cut(master, host, "send", "wmem_max", host->facts.cut.send_asked,
		    host->facts.cut.send_given);
	warn_of_cut(master, host, "receive", "rmem_max", host->facts.cut.receive_asked,
		    host->facts.cut.receive_given);
	warn_of_mss(master, host);
	warn_of_throttling(master, host);
	tell_full_queues(master, host);
}

/* Warns of a part of a slave's counts that is more than the whole: either of the two may be wrong,
 * or both. */
static void warn_of_counts(struct nm_master *master, const struct nm_link *link)
{
	const struct nm_result_host *host = link->result;
	struct nm_counts rows = {.iterations = 0};

	for (size_t i = 0; i < host->n_intervals; i++)
		nm_counts_add(&rows, &host->intervals[i].counts);
	const struct {
		const char *name;
		const struct nm_counts *counts;
	} parts[] = {
		{"intervals", &rows}, {"window", &host->window.counts}, {"phases", &link->done}};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const char *name = nm_claims_beyond(parts[i].counts, &host->counts);

		if (name)
			nm_result_warn(
				master->result,
				"slave %.255s: %s of its %s are more than it has counted in all",
				host->name, name, parts[i].name);
	}
}

/* 0, or -EPROTO when it cannot be. */
static int check_result(const struct nm_master *master, struct nm_link *link,
			const struct nm_msg_result *result)
{
	uint64_t now_ns = nm_clock_ns();
	uint64_t begin_ns = master->run_begin_ns ? master->run_begin_ns : now_ns;

	link->wrong = nm_claims_result(result, now_ns - begin_ns);
	return link->wrong ? -EPROTO : 0;
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

	if (!error)
		error = check_result(master, link, result);
	if (!error && result->report)
		error = nm_report_unpack(result->report, link->mirror, &master->result->percentiles,
					 &host->report);
	if (error == -ENOMEM)
		nm_master_fail(master, link, NM_FAILURE_LOSS, "%s", strerror(ENOMEM));
	if (!error) {
		take_result(master, host, result);
		explain_strangers(master, host, result);
		warn_of_counts(master, link);
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

/* Adds this host's own result, by the functions that slaves use, so that all figures are made
 * alike. */
static void collect_own(struct nm_master *master)
{
	struct nm_result_host *host = &master->result->hosts[0];
	struct nm_msg_result *result = calloc(1, sizeof *result);

	if (!result) {
		master->memory_failed = true;
		return;
	}
	result->groups = host->groups;
	nm_local_result(&master->local, nm_clock_ns(), result);
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

	if (master->outcome.failure && wait_ns > LATE_RESULT_NS)
		wait_ns = LATE_RESULT_NS;
	uint64_t until_ns = nm_clock_ns() + wait_ns;

	for (size_t i = 0; i < master->n_links;) {
		struct nm_link *link = &master->links[i];

		if (link->peer.fd < 0 || link->peer.state != NM_SESSION_RESULT ||
		    master->outcome.interrupts >= 2) {
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
	char how[128], cut[64];

	(void)nm_outcome_cut_text(&master->outcome, master->options->max_duration.ns, cut,
				  sizeof cut);
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		if (link->peer.fd >= 0 && link->result->complete)
			nm_master_send(master, link, NM_MESSAGE_BYE,
				       nm_bye_pack(&master->result->hosts[0].window));
		else if (link->peer.fd >= 0)
			nm_master_send(master, link, NM_MESSAGE_ABORT,
				       nm_refuse_pack("abort", *master->outcome.why
								       ? master->outcome.why
								       : cut));
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
			       group->name, result->grid.warmup_s);
	}
}

static bool is_measured_before(const struct nm_group *group)
{
	for (uint32_t k = 0; k < group->n_phases; k++)
		if (group->phases[k].flows.ideal.kind == NM_IDEAL_MEASURED)
			return true;
	return false;
}

/* Noise makes some flows faster than they can be; half of them are not. */
static void warn_of_slow_ideals(struct nm_master *master)
{
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];
		double median = nm_windows_slowdown(master->windows, g);

		if (median < LEAST_SLOWDOWN)
			nm_result_warn(master->result,
				       "group %.128s: half of its flows have taken less than %.2g "
				       "of their ideal time: the path is faster than %s",
				       group->name, median,
				       is_measured_before(group)
					       ? "before the run, when it was idle"
					       : "link= and base= of slowdown say, or its packets "
						 "are larger");
	}
}

/* Connections of Multipath TCP that are none; both ends of one count it, if both know. */
static void warn_of_fallbacks(struct nm_result *result)
{
	uint64_t here = result->hosts[0].counts.fallbacks, there = 0;

	for (size_t i = 1; i < result->n_hosts; i++)
		there += result->hosts[i].counts.fallbacks;
	uint64_t count = here > there ? here : there;

	if (count)
		nm_result_warn(result,
			       "protocol=mptcp: %llu connection%s plain TCP: perhaps the other end "
			       "does not take Multipath TCP, or something on the way takes its "
			       "option out of the packets",
			       (unsigned long long)count, count == 1 ? " is" : "s are");
}

/* Warns of unusual ways of bytes that the profile asks for, and that the kernels have not taken. */
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

/* Whichever verdict the transaction has: others may have made up for a step. */
static void warn_of_steps(struct nm_result *result, const struct nm_result_group *group,
			  const struct nm_result_phase *phase)
{
	const struct nm_result_step *first = NULL;
	struct nm_load load, of_first;
	char rate[32], more[64] = "";
	size_t n = 0;

	for (size_t i = 0; i < phase->n_steps; i++) {
		if (!nm_step_judge(group, &phase->steps[i], &load) || load.verdict == NM_LOAD_OK ||
		    n++)
			continue;
		first = &phase->steps[i];
		of_first = load;
	}
	if (!first)
		return;
	if (n > 1)
		snprintf(more, sizeof more, ", nor was that of %zu other step%s", n - 1,
			 n == 2 ? "" : "s");
	nm_result_warn(
		result, "group %.128s: %s: the rate of step %u, %s/s, was not reached (%s)%s",
		group->name, phase->arrivals, (unsigned)first->number + 1,
		nm_format_count(first->planned_per_s, rate, sizeof rate), of_first.name, more);
}

/* Marks response times that depend on the length of the run, and warns of loads that were not as
 * asked for. */
static void judge_loads(struct nm_result *result)
{
	for (size_t g = 0; g < result->n_groups; g++) {
		struct nm_result_group *group = &result->groups[g];

		for (size_t k = 0; k < group->n_phases; k++) {
			struct nm_result_phase *phase = &group->phases[k];
			struct nm_load load;
			char mean[32], law[32];

			if (!nm_phase_judge(result, group, phase, &load))
				continue;
			warn_of_steps(result, group, phase);
			phase->whole.response_grows = load.grows;
			group->totals.response_grows |= load.grows;
			result->totals.response_grows |= load.grows;
			if (load.verdict != NM_LOAD_OK)
				nm_result_warn(result, "group %.128s: %s: load %s: %s", group->name,
					       phase->arrivals, load.name, load.advice);
			if (!load.keeps_law)
				nm_result_warn(
					result,
					"group %.128s: %s: %s passes were outstanding on "
					"average, and by Little's law %s: the figures of "
					"this run are not right",
					group->name, phase->arrivals,
					nm_format_count(load.outstanding_mean, mean, sizeof mean),
					nm_format_count(load.outstanding_by_law, law, sizeof law));
		}
	}
}

/* What was not made is missing in all figures. */
static void warn_of_replays(struct nm_result *result)
{
	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		for (size_t k = 0; k < group->n_phases; k++) {
			const struct nm_result_phase *phase = &group->phases[k];
			struct nm_replayed of;

			if (!nm_phase_replayed(phase, &of) || !of.unmade)
				continue;
			nm_result_warn(result,
				       "group %.128s: the replay at line %u is not whole: its time "
				       "was over with %llu of %llu requests made",
				       group->name, phase->line, (unsigned long long)of.made,
				       (unsigned long long)(of.made + of.unmade));
		}
	}
}

static bool fills(const struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++)
		if (group->instrs[i].ask.fills)
			return true;
	return false;
}

/* What later phases find there is less than the profile says. Each server has a value of each
 * key. */
static void warn_of_fills(const struct nm_master *master)
{
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];

		for (uint32_t k = 0; k < group->n_phases; k++) {
			const struct nm_counts *of =
				&master->result->groups[g].phases[k].whole.counts;

			if (of->ok == of->requests || !fills(group, &group->phases[k]))
				continue;
			nm_result_warn(
				master->result,
				"group %.128s: the fill at line %u is not whole: %llu of %llu "
				"values were stored, %llu were refused, %llu had no answer, and "
				"%llu had something else for an answer",
				group->name, group->phases[k].line, (unsigned long long)of->ok,
				(unsigned long long)of->requests, (unsigned long long)of->refused,
				(unsigned long long)(of->timed_out + of->lost),
				(unsigned long long)of->malformed);
		}
	}
}

/* As such a server may answer twice, its figures are perhaps those of something else. */
static void warn_of_unsolicited(struct nm_result *result)
{
	uint64_t count = result->hosts[0].counts.unsolicited;

	if (count)
		nm_result_warn(result,
			       "unsolicited: %llu connection%s given up, as the server had sent "
			       "bytes over %s although no request was outstanding",
			       (unsigned long long)count, count == 1 ? " was" : "s were",
			       count == 1 ? "it" : "them");
}

/* A group whose requests have all been in vain has measured nothing. */
static void check_answers(struct nm_master *master, const struct nm_result_group *group)
{
	struct nm_counts all = {0};

	for (size_t k = 0; k < group->n_phases; k++)
		nm_counts_add(&all, &group->phases[k].whole.counts);
	if (!all.requests || all.requests != all.timed_out + all.lost + all.malformed)
		return;
	nm_master_fail(master, NULL, NM_FAILURE_EFFECT,
		       "group %.128s: none of its %llu requests was answered: %llu have timed out, "
		       "of %llu the connection has ended, and %llu have had something else for an "
		       "answer",
		       group->name, (unsigned long long)all.requests,
		       (unsigned long long)all.timed_out, (unsigned long long)all.lost,
		       (unsigned long long)all.malformed);
}

/* A run whose messages have all been lost on the way has measured nothing. */
static void check_losses(struct nm_master *master, uint32_t g)
{
	const struct nm_result_group *group = &master->result->groups[g];
	size_t n_hosts = master->n_links + 1;
	struct nm_losses_host *hosts = calloc(n_hosts, sizeof *hosts);
	char text[768];

	if (!hosts) {
		master->memory_failed = true;
		return;
	}
	hosts[0].group = &master->plan->groups[g];
	for (uint32_t k = 0; k < group->n_phases; k++)
		nm_losses_add(&hosts[0].count, hosts[0].group, k, &group->phases[k].whole.counts);
	for (size_t i = 0; i < master->n_links; i++)
		hosts[i + 1] = (struct nm_losses_host){
			.name = master->links[i].name,
			.group = &master->links[i].mirror->groups[g],
			.count = master->links[i].losses[g],
		};
	if (nm_losses_text(hosts, n_hosts, text, sizeof text))
		nm_master_fail(master, NULL, NM_FAILURE_EFFECT, "group %.128s: %s", group->name,
			       text);
	else
		check_answers(master, group);
	free(hosts);
}

void nm_master_assemble(struct nm_master *master)
{
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		if (link->peer.fd < 0 || master->outcome.interrupts >= 2 ||
		    (link->peer.state != NM_SESSION_IDLE && link->peer.state != NM_SESSION_PHASE))
			continue;
		link->peer.state = NM_SESSION_RESULT;
		nm_master_send(master, link, NM_MESSAGE_FINISH, json_object());
	}
	if (master->local.engine && master->run_begin_ns) {
		master->result->wall.end_ns = master->run_end_ns + master->result->wall.offset_ns;
		nm_progress_sampler_finish(master->progress, nm_clock_ns());
		if (master->responses)
			nm_response_sampler_finish(master->responses);
		collect_own(master);
		nm_windows_finish(master->windows);
		if (!nm_outcome_ends(&master->outcome)) {
			warn_of_empty_windows(master);
			warn_of_replays(master->result);
		}
		warn_of_slow_ideals(master);
		warn_of_fills(master);
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
	warn_of_fallbacks(master->result);
	warn_of_unsolicited(master->result);
	for (uint32_t g = 0; g < master->plan->n_groups && !nm_outcome_ends(&master->outcome); g++)
		check_losses(master, g);
	if (!nm_outcome_ends(&master->outcome))
		judge_loads(master->result);
	nm_warn_of_unkept(master->result, master->plan);
	dismiss(master);
}
