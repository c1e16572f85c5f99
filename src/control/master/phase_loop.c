/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds the machine of phases.h with the news of engine, slaves and clock, and carries out its
 * commands. */
#include "control/master/phase_loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/master/event_loop.h"
#include "control/master/losses.h"
#include "control/master/order.h"
#include "control/master/places.h"
#include "control/master/reconcile.h"
#include "host/clock.h"

/* How long an interrupted run may still take to end the passes that have begun, besides the waits
 * of a pass. */
#define INTERRUPT_NS	5000000000u
#define FAILURE_LOOK_NS 10000000u /* between two looks whether a failure has shown its cause */

int nm_master_phases_init(struct nm_master *master)
{
	const struct nm_plan *plan = master->plan;
	uint64_t wait_ns = nm_plan_longest_wait_ns(plan);
	uint32_t *n_workers = calloc(plan->n_groups + 1u, sizeof *n_workers);
	int error = -ENOMEM;

	for (uint32_t g = 0; n_workers && g < plan->n_groups; g++)
		n_workers[g] = plan->groups[g].n_workers;
	if (n_workers)
		error = nm_phases_init(&master->phases, n_workers, plan->n_groups,
				       (uint32_t)master->n_links);
	master->phases.stall_ns = nm_order_stall_ns(plan, master->options);
	master->phases.patience_ns = INTERRUPT_NS + wait_ns;
	master->phases.bounded = !master->options->max_duration.is_given;
	free(n_workers);
	return error;
}

int nm_link_began(struct nm_master *master, struct nm_link *link, json_t *body)
{
	uint32_t phase, first, last;
	uint64_t at_ns;

	if (nm_began_unpack(body, &phase, &at_ns) ||
	    nm_phases_began(&master->phases, link->host, phase))
		return -EPROTO;
	nm_claims_begin(&link->claims, phase, link->told_ns);
	nm_order_measured(master->plan, &first, &last);
	if (phase == first)
		link->result->start_skew_s =
			nm_claims_skew(&link->claims, master->phases.begin_ns,
				       at_ns - (uint64_t)link->clock.offset_ns, nm_clock_ns(),
				       link->result->skew_error_s);
	return 0;
}

int nm_link_done(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_msg_totals done = {.totals = master->local.totals,
				     .room = master->local.n_totals};

	if (nm_done_unpack(body, master->plan, &done))
		return -EPROTO;
	int r = nm_phases_done(&master->phases, link->host, done.phase, done.group, done.totals,
			       &done.counts);

	if (r)
		return r;
	nm_counts_add(&link->done, &done.counts);
	/* A slave whose part is empty may never have entered it. */
	if (done.span.from_ns) {
		done.span.from_ns -= (uint64_t)link->clock.offset_ns;
		done.span.to_ns -= (uint64_t)link->clock.offset_ns;
	}
	link->wrong = nm_claims_span(&link->claims, &done.span, nm_clock_ns());
	if (link->wrong)
		return -EPROTO;
	master->phases.hosts[link->host].parts[done.group].span = done.span;
	return 0;
}

/* Sets the parts of master and slaves in the phase, by their plans. */
static void set_traits(struct nm_master *master, uint32_t phase)
{
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_group *group = &master->plan->groups[g];
		struct nm_phase_run *run = &master->phases.groups[g];

		run->runs = group->runs && phase < group->n_phases;
		if (run->runs) {
			const struct nm_phase *traits = &group->phases[phase];

			run->leader = traits->leader;
			run->duration_ns = traits->duration_ns;
			run->backlog_ns =
				nm_phase_is_open(traits) ? traits->arrivals.backlog.drain_ns : 0;
			run->drains = traits->drains;
			run->by_agreement = traits->duration_ns > 0 || traits->counts.may_lose ||
					    traits->waits.may_miss;
		}
		for (size_t i = 0; i < master->n_links; i++) {
			const struct nm_group *mirror = &master->links[i].mirror->groups[g];
			struct nm_phase_part *part = &master->phases.hosts[i].parts[g];

			part->runs = mirror->runs && phase < mirror->n_phases;
			if (!part->runs)
				continue;
			part->empty = mirror->phases[phase].empty;
			part->free = mirror->phases[phase].open_sender;
			part->pass_bytes = mirror->phases[phase].counts.bytes_sent;
		}
	}
}

static void begin_phase(struct nm_master *master, uint32_t phase)
{
	struct nm_phase_order order;

	nm_order_make(master->plan, master->options, phase, &order);
	for (size_t i = 0; i < master->n_links; i++) {
		master->links[i].peer.state = NM_SESSION_PHASE;
		master->links[i].told_ns = nm_clock_ns();
		nm_master_send(master, &master->links[i], NM_MESSAGE_BEGIN, nm_begin_pack(&order));
	}
	uint64_t begin_ns = nm_clock_ns();

	nm_engine_begin(master->local.engine, phase);
	if (master->run_begin_ns == 0)
		master->run_begin_ns = begin_ns;
	set_traits(master, phase);
	master->phases.quiet_ns = nm_order_quiet_ns(master->plan, master->options, phase);
	nm_phases_begin(&master->phases, phase, begin_ns);
	nm_samplers_begin(&master->local.samplers, &order, begin_ns);
	nm_master_log(master, "phase %u of %u begins", phase + 1, master->plan->n_phases);
}

/* Carries out a command of the machine. */
static void carry_out(void *arg, const struct nm_phase_command *command)
{
	struct nm_master *master = arg;
	struct nm_engine *engine = master->local.engine;
	uint32_t g = command->group, phase = master->phases.phase;

	if (command->host != NM_PHASES_HERE) {
		struct nm_link *link = &master->links[command->host];

		if (command->kind == NM_PHASE_STOP) {
			nm_master_send(master, link, NM_MESSAGE_STOP, nm_stop_pack(phase, g));
		} else {
			struct nm_msg_totals follow = {
				.phase = phase, .group = g, .totals = master->local.totals};
			uint32_t n_workers = master->plan->groups[g].n_workers;

			memcpy(follow.totals, command->totals, n_workers * sizeof *follow.totals);
			nm_master_send(master, link, NM_MESSAGE_FOLLOW,
				       nm_follow_pack(&follow, n_workers));
		}
		return;
	}
	switch (command->kind) {
	case NM_PHASE_STOP:
		nm_engine_stop(engine, g, command->interrupted);
		break;
	case NM_PHASE_FOLLOW:
		nm_engine_follow(engine, g, command->totals);
		break;
	case NM_PHASE_DRAIN:
		nm_engine_drain(engine, g, command->totals);
		break;
	}
}

/* Tells the machine how far this host's engine is. */
static void read_engine(struct nm_master *master)
{
	const struct nm_engine *engine = master->local.engine;

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		struct nm_phase_run *run = &master->phases.groups[g];

		if (!run->runs || run->done)
			continue;
		run->from_ns = nm_windows_time_from(master->windows, g);
		uint64_t settled_ns = nm_plateaus_settled_ns(master->plateaus, g);

		if (settled_ns > run->from_ns)
			run->duration_ns = settled_ns - run->from_ns;
		/* Done is read first: then the passes are the last. */
		run->here_done = nm_engine_group_done(engine, g);
		if (run->here_done || run->stopped)
			nm_plateaus_leave(master->plateaus, g);
		run->here_passed =
			run->here_done || (run->drains && nm_engine_group_passed(engine, g));
		for (uint32_t w = 0; run->here_passed && w < run->n_workers; w++)
			run->passes[w] = nm_engine_iterations(engine, g, w);
	}
}

/* The hosts for which a group waits: "the master, 10.0.0.7". */
static void name_hosts(const struct nm_master *master, uint32_t g, char *buf, size_t size)
{
	bool here = nm_phases_waits_for(&master->phases, NM_PHASES_HERE, g);
	size_t used = (size_t)snprintf(buf, size, "%s", here ? "the master" : "");

	for (uint32_t h = 0; h < master->n_links && used < size; h++) {
		if (nm_phases_waits_for(&master->phases, h, g))
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 master->links[h].name);
	}
}

/* Why a phase has to end, in words. */
static void print_verdict(const struct nm_master *master, enum nm_phase_verdict verdict, uint32_t g,
			  char *buf, size_t size)
{
	const struct nm_phases *phases = &master->phases;
	const char *group = master->plan->groups[g].name;
	uint32_t phase = phases->phase + 1;
	char hosts[256], cut[64];

	name_hosts(master, g, hosts, sizeof hosts);
	if (verdict == NM_PHASE_STALLED)
		(void)snprintf(buf, size,
			       "no progress for %.3g s in phase %u; waiting for group %s on %s",
			       (double)nm_phases_still_ns(phases) / 1e9, phase, group, hosts);
	else if (verdict == NM_PHASE_LATE)
		(void)snprintf(buf, size,
			       "phase %u did not end within %.3g s of its time, %.3g s, being over "
			       "(--timeout; --max-duration is another limit); waiting for group %s "
			       "on %s",
			       phase, (double)phases->late_by_ns / 1e9,
			       (double)phases->duration_ns / 1e9, group, hosts);
	else
		(void)snprintf(buf, size,
			       "%s in phase %u, which did not end within %.3g s; waiting for group "
			       "%s on %s",
			       nm_outcome_cut_text(&master->outcome,
						   master->options->max_duration.ns, cut,
						   sizeof cut),
			       phase, (double)phases->patience_ns / 1e9, group, hosts);
}

/* Fails when nothing moves any more, when a phase lasts longer than it may, or when an interrupted
 * one does not end: a host that only receives may be far behind its sender, and the user does not
 * wait for that. */
static void check_time(struct nm_master *master, uint64_t now_ns)
{
	uint64_t own = nm_engine_progress(master->local.engine), told = 0;
	char text[NM_WIRE_MAX_TEXT + 1];
	struct nm_flow_places here;
	uint32_t g;

	for (size_t i = 0; i < master->n_links; i++)
		told += master->links[i].progress;
	nm_phases_progress(&master->phases, own, told, now_ns);
	enum nm_phase_verdict verdict = nm_phases_check(&master->phases, now_ns, &g);

	/* An earlier failure says more. */
	if (verdict == NM_PHASE_GOES_ON || master->outcome.failure)
		return;
	if (verdict == NM_PHASE_QUIET) {
		nm_master_fail_blocked(master, master->phases.quiet_ns);
		return;
	}
	nm_master_find_places(master, &here);
	if (verdict == NM_PHASE_STALLED &&
	    nm_phases_wait(&master->phases, nm_master_again_ns(master, &here)))
		return;
	print_verdict(master, verdict, g, text, sizeof text);
	nm_master_tell_places(master, &here, text, sizeof text);
	nm_master_fail(master, NULL, NM_FAILURE_EFFECT, "%s", text);
}

static void check_engine(struct nm_master *master)
{
	char text[NM_WIRE_MAX_TEXT + 1];
	bool secondary;

	if (nm_local_take_failure(&master->local, master->file, text, sizeof text, &secondary))
		nm_master_fail(master, NULL, secondary ? NM_FAILURE_EFFECT : NM_FAILURE_CAUSE, "%s",
			       text);
}

/* Takes all steps of the phase that are due now. */
static void step(struct nm_master *master, uint64_t now_ns)
{
	if (master->outcome.interrupts) {
		nm_phases_interrupt(&master->phases, master->outcome.interrupt_ns);
		for (uint32_t g = 0; g < master->plan->n_groups; g++)
			nm_usage_sampler_stop(master->local.usage, g, now_ns);
	}
	/* A command may be carried out at once. */
	do
		read_engine(master);
	while (nm_phases_step(&master->phases, now_ns, carry_out, master) > 0);
	nm_samplers_run(&master->local.samplers, now_ns);
	check_engine(master);
	check_time(master, now_ns);
}

static uint64_t next_ns(const struct nm_master *master, uint64_t now_ns)
{
	uint64_t next = nm_phases_next_ns(&master->phases, now_ns);
	uint64_t sample_ns = nm_samplers_next_ns(&master->local.samplers);

	if (sample_ns < next)
		next = sample_ns;
	if (master->outcome.failure && now_ns + FAILURE_LOOK_NS < next)
		next = now_ns + FAILURE_LOOK_NS;
	return next;
}

/* Adds the slaves' counts of the phase that has ended. */
static void add_slaves(struct nm_master *master)
{
	uint32_t phase = master->phases.phase;

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		struct nm_result_group *group = &master->result->groups[g];

		if (phase >= group->n_phases)
			continue;
		/* What servers that are not netmodel have received, nobody tells. */
		group->phases[phase].slaves_known =
			!master->plan->groups[g].phases[phase].counts.unmatched;
		for (uint32_t h = 0; h < master->n_links; h++) {
			const struct nm_phase_part *part = &master->phases.hosts[h].parts[g];

			if (!part->runs || !part->done)
				continue;
			nm_counts_add(&group->phases[phase].slaves, &part->counts);
			nm_losses_add(&master->links[h].losses[g], &master->plan->groups[g], phase,
				      &part->counts);
			nm_span_cover(&group->phases[phase].slaves_span, part->span);
		}
	}
}

static void reconcile(struct nm_master *master)
{
	const struct nm_plan *plan = master->plan;
	struct nm_counts *here = calloc(plan->n_groups + 1u, sizeof *here);
	const struct nm_reconcile in = {.plan = plan,
					.file = master->file,
					.phases = &master->phases,
					.here = here,
					.interrupted = master->outcome.interrupts};

	if (!here) {
		master->memory_failed = true;
		return;
	}
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		if (master->phases.groups[g].runs)
			nm_engine_counts(master->local.engine, g, master->phases.phase, &here[g]);
	}
	nm_reconcile_phase(&in, master->result);
	free(here);
}

/* A warm-up whose time is over before its figure has settled has failed. */
static void check_plateaus(struct nm_master *master)
{
	char why[256];

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		uint64_t ns = master->phases.groups[g].duration_ns, begin_ns, end_ns;

		if (master->outcome.interrupts ||
		    !nm_plateaus_missed(master->plateaus, g, why, sizeof why))
			continue;
		/* It may have done all its passes earlier. */
		nm_engine_times(master->local.engine, g, master->phases.phase, &begin_ns, &end_ns);
		if (end_ns > begin_ns && end_ns - begin_ns < ns)
			ns = end_ns - begin_ns;
		nm_master_fail(master, NULL, NM_FAILURE_CAUSE,
			       "group %.128s: the warm-up is over after %.3g s, and %s",
			       master->plan->groups[g].name, (double)ns / 1e9, why);
	}
}

/* Closes the windows of groups with their time, on all hosts, where only a few flows were late. */
static void cut_windows(struct nm_master *master, uint64_t now_ns)
{
	uint32_t phase = master->phases.phase;

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		if (!master->phases.groups[g].runs || !nm_windows_cut(master->windows, g, now_ns))
			continue;
		nm_usage_sampler_cut(master->local.usage, g, now_ns);
		for (uint32_t h = 0; h < master->n_links; h++)
			if (master->phases.hosts[h].parts[g].runs)
				nm_master_send(master, &master->links[h], NM_MESSAGE_CUT,
					       nm_stop_pack(phase, g));
	}
}

/* Closes those of groups whose data come here: see struct nm_tail_stream. */
static void close_windows(struct nm_master *master, uint64_t now_ns)
{
	nm_usage_sampler_close(master->local.usage, now_ns);
	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		const struct nm_tail *tail = nm_usage_sampler_closed(master->local.usage, g);

		if (tail)
			nm_windows_close(master->windows, g, tail);
	}
}

static void end_phase(struct nm_master *master, bool whole)
{
	uint64_t now_ns = nm_clock_ns();

	master->run_end_ns = now_ns;
	close_windows(master, now_ns);
	if (whole)
		cut_windows(master, now_ns);
	nm_samplers_end(&master->local.samplers, true, now_ns);
	if (!whole) {
		/* Its counts are not final at either end. */
		if (master->result->verdict.reconciled == NM_RECONCILED_YES)
			master->result->verdict.reconciled = NM_RECONCILED_UNKNOWN;
		return;
	}
	for (size_t i = 0; i < master->n_links; i++)
		master->links[i].peer.state = NM_SESSION_IDLE;
	add_slaves(master);
	reconcile(master);
	check_plateaus(master);
}

/* The slaves are armed, and are kept in touch with. */
static void wait_start(struct nm_master *master)
{
	uint64_t until_ns = nm_clock_ns() + master->options->wait.start_ns;

	for (size_t i = 0; i < master->n_links; i++)
		nm_master_send(master, &master->links[i], NM_MESSAGE_DELAY,
			       nm_number_pack(NM_MESSAGE_DELAY, master->options->wait.start_ns));
	while (!nm_outcome_ends(&master->outcome) && nm_clock_ns() < until_ns)
		nm_master_poll(master, until_ns);
}

/* True when the phase is over on all hosts. */
static bool run_phase(struct nm_master *master)
{
	uint32_t g;

	for (;;) {
		uint64_t now_ns = nm_clock_ns();

		step(master, now_ns);
		if (nm_outcome_leaves(&master->outcome, now_ns))
			return false;
		if (!master->outcome.failure && !nm_phases_waits(&master->phases, &g))
			return true;
		nm_master_poll(master, next_ns(master, now_ns));
	}
}

void nm_master_run_phases(struct nm_master *master)
{
	const struct nm_run_events *events = &master->options->events;
	bool whole = true;

	if (master->options->wait.start_ns)
		wait_start(master);
	if (events->begin)
		events->begin(events->arg, master->result);
	for (uint32_t phase = 0; whole && phase < master->plan->n_phases; phase++) {
		if (nm_outcome_ends(&master->outcome))
			return;
		begin_phase(master, phase);
		whole = run_phase(master);
		end_phase(master, whole);
	}
}
