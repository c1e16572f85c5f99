/* SPDX-License-Identifier: Apache-2.0 */
/* Drives all hosts through the phases. Who leads a group in a phase ends it: by count, or when told
 * to by the master's clock. Who follows is told how many passes the leader has done, and ends after
 * as many. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/master/master.h"
#include "host/clock.h"

static const struct nm_phase *phase_of(const struct nm_master *master, uint32_t g)
{
	return &master->plan->groups[g].phases[master->phase];
}

/* The slave that leads a group in this phase, or NULL when the master does. */
static struct nm_link *leader_of(struct nm_master *master, uint32_t g)
{
	uint32_t host = phase_of(master, g)->leader;

	return host == NM_NO_HOST ? NULL : &master->links[host];
}

int nm_link_began(struct nm_master *master, struct nm_link *link, json_t *body)
{
	uint32_t phase;
	uint64_t at_ns;

	if (nm_began_unpack(body, &phase, &at_ns) || phase != master->phase || link->began)
		return -EPROTO;
	link->began = true;
	if (phase == master->first_measured) {
		uint64_t here_ns = at_ns - (uint64_t)link->clock.offset_ns;

		link->result->start_skew_s =
			(double)(int64_t)(here_ns - master->phase_begin_ns) / 1e9;
	}
	return 0;
}

int nm_link_done(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_msg_totals done = {.totals = master->local.totals,
				     .room = master->local.n_totals};

	if (nm_done_unpack(body, master->plan, &done) || done.phase != master->phase)
		return -EPROTO;
	struct nm_link_group *group = &link->groups[done.group];

	if (!group->runs || group->done)
		return -EPROTO;
	group->done = true;
	group->counts = done.counts;
	memcpy(group->totals, done.totals,
	       master->plan->groups[done.group].n_workers * sizeof *done.totals);
	return 0;
}

static void stop_group(struct nm_master *master, uint32_t g)
{
	struct nm_link *leader = leader_of(master, g);

	master->groups[g].stopped = true;
	master->groups[g].stop_at_ns = UINT64_MAX;
	if (leader)
		nm_master_send(master, leader, NM_MESSAGE_STOP, nm_stop_pack(master->phase, g));
	else
		nm_engine_stop(master->local.engine, g);
}

static bool is_free(const struct nm_master *master, const struct nm_link *link, uint32_t g)
{
	return link->groups[g].runs && !link->groups[g].empty &&
	       link->mirror->groups[g].phases[master->phase].open_sender;
}

/* Tells the slaves that follow the master how far to go. */
static void send_follow(struct nm_master *master, uint32_t g)
{
	struct nm_msg_totals follow = {
		.phase = master->phase, .group = g, .totals = master->local.totals};
	const struct nm_link *leader = leader_of(master, g);
	uint32_t n_workers = master->plan->groups[g].n_workers;

	(void)nm_local_totals(&master->local, g);
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];
		const struct nm_link_group *group = &link->groups[g];

		if (group->runs && !group->empty && !group->done && link != leader &&
		    !is_free(master, link, g))
			nm_master_send(master, link, NM_MESSAGE_FOLLOW,
				       nm_follow_pack(&follow, n_workers));
	}
}

/* The master has made its last pass: the hosts that only send may end now, and the master takes
 * what is left of it. */
static void free_hosts(struct nm_master *master, uint32_t g, bool by_leader)
{
	struct nm_run_group *group = &master->groups[g];
	uint32_t n_workers = master->plan->groups[g].n_workers;
	bool all = true;

	if (group->drained || !nm_engine_group_passed(master->local.engine, g))
		return;
	memset(master->local.totals, 0, n_workers * sizeof *master->local.totals);
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];
		uint64_t bytes = link->mirror->groups[g].n_phases > master->phase
					 ? link->mirror->groups[g].phases[master->phase].bytes_sent
					 : 0;

		if (!is_free(master, link, g))
			continue;
		if (by_leader && !group->passed && !link->groups[g].done)
			nm_master_send(master, link, NM_MESSAGE_STOP,
				       nm_stop_pack(master->phase, g));
		all &= link->groups[g].done;
		for (uint32_t w = 0; w < n_workers; w++) {
			uint64_t here = nm_engine_iterations(master->local.engine, g, w);

			if (link->groups[g].totals[w] > here)
				master->local.totals[w] +=
					(link->groups[g].totals[w] - here) * bytes;
		}
	}
	group->passed = true;
	if (!all)
		return;
	group->drained = true;
	nm_engine_drain(master->local.engine, g, master->local.totals);
}

static void advance_group(struct nm_master *master, uint32_t g)
{
	struct nm_run_group *group = &master->groups[g];
	const struct nm_link *leader = leader_of(master, g);
	/* By count alone, everybody ends by himself. */
	bool by_leader = group->stopped || phase_of(master, g)->duration_ns > 0 ||
			 phase_of(master, g)->may_lose;

	if (group->done)
		return;
	if (leader && by_leader && leader->groups[g].done && !group->followed) {
		group->followed = true;
		nm_engine_follow(master->local.engine, g, leader->groups[g].totals);
	}
	if (phase_of(master, g)->drains)
		free_hosts(master, g, by_leader);
	if (nm_engine_group_done(master->local.engine, g)) {
		group->done = true;
		if (by_leader)
			send_follow(master, g);
	}
}

static void begin_links(struct nm_master *master, const struct nm_phase_order *order)
{
	for (size_t i = 0; i < master->n_links; i++) {
		struct nm_link *link = &master->links[i];

		for (uint32_t g = 0; g < master->plan->n_groups; g++) {
			const struct nm_group *group = &link->mirror->groups[g];
			struct nm_link_group *part = &link->groups[g];

			part->done = false;
			part->runs = group->runs && order->phase < group->n_phases;
			part->empty = part->runs && group->phases[order->phase].empty;
		}
		link->began = false;
		link->peer.state = NM_SESSION_PHASE;
		nm_master_send(master, link, NM_MESSAGE_BEGIN, nm_begin_pack(order));
	}
}

static void make_order(const struct nm_master *master, uint32_t phase, struct nm_phase_order *ret)
{
	uint64_t warmup_ns = master->options->warmup_ns, cooldown_ns = master->options->cooldown_ns;
	struct nm_phase_order order = {
		.phase = phase, .usage_from_ns = NM_USAGE_NEVER, .usage_to_ns = NM_USAGE_NEVER};

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];

		if (!group->runs || phase >= group->n_phases || !group->phases[phase].measured)
			continue;
		order.measured = true;
		if (group->phases[phase].duration_ns > order.stop_ns)
			order.stop_ns = group->phases[phase].duration_ns;
	}
	if (phase == master->first_measured)
		order.usage_from_ns = (int64_t)warmup_ns;
	if (phase == master->last_measured)
		order.usage_to_ns = cooldown_ns && order.stop_ns > cooldown_ns
					    ? (int64_t)(order.stop_ns - cooldown_ns)
					    : NM_USAGE_AT_END;
	*ret = order;
}

static void begin_phase(struct nm_master *master, uint32_t phase)
{
	struct nm_phase_order order;

	master->phase = phase;
	master->in_phase = true;
	make_order(master, phase, &order);
	begin_links(master, &order);
	uint64_t begin_ns = nm_clock_ns();

	nm_engine_begin(master->local.engine, phase);
	master->phase_begin_ns = begin_ns;
	master->progress_at_ns = begin_ns;
	if (master->run_begin_ns == 0)
		master->run_begin_ns = begin_ns;
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];
		struct nm_run_group *run = &master->groups[g];

		*run = (struct nm_run_group){.runs = group->runs && phase < group->n_phases,
					     .stop_at_ns = UINT64_MAX};
		if (run->runs && group->phases[phase].duration_ns)
			run->stop_at_ns = begin_ns + group->phases[phase].duration_ns;
	}
	nm_samplers_begin(&master->local.samplers, &order, begin_ns);
	nm_master_log(master, "phase %u of %u begins", phase + 1, master->plan->n_phases);
}

static bool link_waits(const struct nm_link *link, uint32_t g)
{
	return !link->began || (link->groups[g].runs && !link->groups[g].done);
}

/* Whether some host is not yet done with the phase; the first group for which that is so. */
static bool phase_waits(const struct nm_master *master, uint32_t *ret_group)
{
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		*ret_group = g;
		if (master->groups[g].runs && !master->groups[g].done)
			return true;
		for (size_t i = 0; i < master->n_links; i++) {
			if (link_waits(&master->links[i], g))
				return true;
		}
	}
	return false;
}

/* The hosts for which a group waits: "the master, 10.0.0.7". */
static void name_hosts(const struct nm_master *master, uint32_t g, char *buf, size_t size)
{
	bool here = master->groups[g].runs && !master->groups[g].done;
	size_t used = (size_t)snprintf(buf, size, "%s", here ? "the master" : "");

	for (size_t i = 0; i < master->n_links && used < size; i++) {
		if (link_waits(&master->links[i], g))
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 master->links[i].name);
	}
}

static void check_stall(struct nm_master *master, uint64_t now_ns)
{
	uint64_t progress = nm_engine_progress(master->local.engine);
	char hosts[256];
	uint32_t g;

	for (size_t i = 0; i < master->n_links; i++)
		progress += master->links[i].progress;
	if (progress != master->progress) {
		master->progress = progress;
		master->progress_at_ns = now_ns;
	}
	if (now_ns - master->progress_at_ns < master->stall_ns || !phase_waits(master, &g))
		return;
	name_hosts(master, g, hosts, sizeof hosts);
	nm_master_fail(master, NULL, NM_FAILURE_EFFECT,
		       "no progress for %.3g s in phase %u; waiting for group %s on %s",
		       (double)master->stall_ns / 1e9, master->phase + 1,
		       master->plan->groups[g].name, hosts);
	master->progress_at_ns = now_ns; /* it is told once */
}

/* How long an interrupted run may still take over what its master has begun, besides the waits of a
 * pass. */
#define INTERRUPT_NS 5000000000u

static uint64_t patience_ns(const struct nm_master *master)
{
	return INTERRUPT_NS + (master->stall_ns - master->options->timeout_ns);
}

static uint64_t patience_end_ns(const struct nm_master *master)
{
	return master->interrupts ? master->interrupt_ns + patience_ns(master) : UINT64_MAX;
}

/* Who only receives may be far behind with what was sent to him: then the user does not wait for
 * him. */
static void check_interrupt(struct nm_master *master, uint64_t now_ns)
{
	char hosts[256];
	uint32_t g;

	if (now_ns < patience_end_ns(master) || master->failure || !phase_waits(master, &g))
		return;
	name_hosts(master, g, hosts, sizeof hosts);
	nm_master_fail(
		master, NULL, NM_FAILURE_EFFECT,
		"%s in phase %u, which did not end within %.3g s; waiting for group %s on %s",
		nm_master_cut_text(master), master->phase + 1, (double)patience_ns(master) / 1e9,
		master->plan->groups[g].name, hosts);
}

static void check_engine(struct nm_master *master)
{
	char text[NM_WIRE_MAX_TEXT + 1];
	bool secondary;

	if (nm_local_take_failure(&master->local, master->file, text, sizeof text, &secondary))
		nm_master_fail(master, NULL, secondary ? NM_FAILURE_EFFECT : NM_FAILURE_CAUSE, "%s",
			       text);
}

/* Does what is due. */
static void step(struct nm_master *master, uint64_t now_ns)
{
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		struct nm_run_group *group = &master->groups[g];

		if (!group->runs)
			continue;
		if (!group->stopped && (now_ns >= group->stop_at_ns || master->interrupts))
			stop_group(master, g);
		advance_group(master, g);
	}
	nm_samplers_run(&master->local.samplers, now_ns);
	check_engine(master);
	check_stall(master, now_ns);
	check_interrupt(master, now_ns);
}

static uint64_t next_ns(const struct nm_master *master, uint64_t now_ns)
{
	uint64_t next = master->progress_at_ns + master->stall_ns;
	uint64_t sample_ns = nm_samplers_next_ns(&master->local.samplers);

	if (sample_ns < next)
		next = sample_ns;
	if (patience_end_ns(master) < next && patience_end_ns(master) > now_ns)
		next = patience_end_ns(master);
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		if (master->groups[g].runs && master->groups[g].stop_at_ns < next)
			next = master->groups[g].stop_at_ns;
	}
	/* A failure has a moment to show its cause. */
	if (master->failure && now_ns + 10000000u < next)
		next = now_ns + 10000000u;
	return next;
}

/* What the slaves have counted in the phase that has ended. */
static void add_slaves(struct nm_master *master)
{
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		struct nm_result_group *group = &master->result->groups[g];

		if (master->phase >= group->n_phases)
			continue;
		group->phases[master->phase].slaves_known = true;
		for (size_t i = 0; i < master->n_links; i++) {
			const struct nm_link_group *part = &master->links[i].groups[g];

			if (part->runs && part->done)
				nm_counts_add(&group->phases[master->phase].slaves, &part->counts);
		}
	}
}

static void end_phase(struct nm_master *master, bool whole)
{
	uint64_t now_ns = nm_clock_ns();

	master->in_phase = false;
	master->run_end_ns = now_ns;
	nm_samplers_end(&master->local.samplers, true, now_ns);
	if (!whole) {
		/* Its counts are not final at either end. */
		if (master->result->reconciled == NM_RECONCILED_YES)
			master->result->reconciled = NM_RECONCILED_UNKNOWN;
		return;
	}
	for (size_t i = 0; i < master->n_links; i++)
		master->links[i].peer.state = NM_SESSION_IDLE;
	add_slaves(master);
	nm_master_reconcile(master);
}

/* The slaves are armed, and are kept in touch with. */
static void wait_start(struct nm_master *master)
{
	uint64_t until_ns = nm_clock_ns() + master->options->wait_start_ns;

	while (!master->interrupts && !master->failure && nm_clock_ns() < until_ns)
		nm_master_poll(master, until_ns);
}

void nm_master_run_phases(struct nm_master *master)
{
	if (master->options->wait_start_ns)
		wait_start(master);
	for (uint32_t phase = 0; phase < master->plan->n_phases; phase++) {
		uint32_t g;

		if (master->interrupts || master->failure)
			return;
		begin_phase(master, phase);
		for (;;) {
			uint64_t now_ns = nm_clock_ns();

			step(master, now_ns);
			if (nm_master_leaves(master, now_ns)) {
				end_phase(master, false);
				return;
			}
			if (!master->failure && !phase_waits(master, &g))
				break;
			nm_master_poll(master, next_ns(master, now_ns));
		}
		end_phase(master, true);
	}
}
