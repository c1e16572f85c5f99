/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of the agreement: see phases.h for its idea. */
#include "control/master/phases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nm_phases_init(struct nm_phases *phases, const uint32_t *n_workers, uint32_t n_groups,
		   uint32_t n_hosts)
{
	size_t n_parts = (size_t)n_groups * n_hosts, widest = 0, sum = 0;

	*phases = (struct nm_phases){.n_groups = n_groups, .interrupt_ns = UINT64_MAX};
	for (uint32_t g = 0; g < n_groups; g++) {
		widest = n_workers[g] > widest ? n_workers[g] : widest;
		sum += n_workers[g];
	}
	phases->groups = calloc(n_groups + 1u, sizeof *phases->groups);
	phases->hosts = calloc(n_hosts + 1u, sizeof *phases->hosts);
	phases->memory = calloc(sum * (n_hosts + 1u) + widest + 1, sizeof *phases->memory);
	struct nm_phase_part *parts = calloc(n_parts + 1, sizeof *parts);

	if (phases->hosts)
		phases->hosts[0].parts = parts;
	if (!phases->groups || !phases->hosts || !phases->memory || !parts) {
		if (!phases->hosts)
			free(parts);
		return -ENOMEM;
	}
	uint64_t *next = phases->memory;

	phases->n_hosts = n_hosts;
	for (uint32_t g = 0; g < n_groups; g++) {
		phases->groups[g].n_workers = n_workers[g];
		phases->groups[g].passes = next;
		next += n_workers[g];
		for (uint32_t h = 0; h < n_hosts; h++) {
			phases->hosts[h].parts = parts + (size_t)h * n_groups;
			phases->hosts[h].parts[g].totals = next;
			next += n_workers[g];
		}
	}
	phases->owed = next;
	return 0;
}

void nm_phases_fini(struct nm_phases *phases)
{
	if (phases->hosts)
		free(phases->hosts[0].parts);
	free(phases->hosts);
	free(phases->groups);
	free(phases->memory);
	*phases = (struct nm_phases){.n_groups = 0};
}

void nm_phases_begin(struct nm_phases *phases, uint32_t phase, uint64_t now_ns)
{
	phases->phase = phase;
	phases->begin_ns = phases->progress_at_ns = phases->own_at_ns = now_ns;
	phases->flow_at_ns = now_ns;
	phases->duration_ns = 0;
	phases->was_late = false;
	phases->was_quiet = false;
	phases->waits = 0;
	for (uint32_t g = 0; g < phases->n_groups; g++) {
		struct nm_phase_run *group = &phases->groups[g];

		group->here_passed = group->here_done = false;
		group->stopped = group->interrupted = group->followed = group->released = false;
		group->drained = group->done = false;
		group->from_ns = 0;
		if (group->runs && group->duration_ns > phases->duration_ns)
			phases->duration_ns = group->duration_ns;
	}
	for (uint32_t h = 0; h < phases->n_hosts; h++) {
		phases->hosts[h].began = false;
		for (uint32_t g = 0; g < phases->n_groups; g++)
			phases->hosts[h].parts[g].done = false;
	}
}

int nm_phases_began(struct nm_phases *phases, uint32_t host, uint32_t phase)
{
	if (phase != phases->phase || phases->hosts[host].began)
		return -EPROTO;
	phases->hosts[host].began = true;
	return 0;
}

int nm_phases_done(struct nm_phases *phases, uint32_t host, uint32_t phase, uint32_t group,
		   const uint64_t *totals, const struct nm_counts *counts)
{
	struct nm_phase_part *part = &phases->hosts[host].parts[group];

	if (phase != phases->phase || !part->runs || part->done)
		return -EPROTO;
	part->done = true;
	part->counts = *counts;
	memcpy(part->totals, totals, phases->groups[group].n_workers * sizeof *totals);
	return 0;
}

/* Whether any host is not yet done with a group. */
static bool is_waited_for(const struct nm_phases *phases, uint32_t group)
{
	bool waits = nm_phases_waits_for(phases, NM_PHASES_HERE, group);

	for (uint32_t h = 0; !waits && h < phases->n_hosts; h++)
		waits = nm_phases_waits_for(phases, h, group);
	return waits;
}

/* Whether all groups that are waited for end by their time. */
static bool is_timed(const struct nm_phases *phases)
{
	for (uint32_t g = 0; g < phases->n_groups; g++) {
		if (!phases->groups[g].duration_ns && is_waited_for(phases, g))
			return false;
	}
	return phases->duration_ns > 0;
}

/* Whether data has flowed since it last has. Where the master's own groups end by count, slaves
 * cannot have taken more than has moved here, but for a few single things. */
static bool has_flowed(struct nm_phases *phases, uint64_t own, uint64_t told, bool timed,
		       uint64_t now_ns)
{
	uint64_t grown;

	/* Another phase: the numbers begin anew. */
	phases->flow_own = own < phases->flow_own ? own : phases->flow_own;
	phases->flow_told = told < phases->flow_told ? told : phases->flow_told;
	grown = own - phases->flow_own;
	if (timed || told <= own + NM_PHASES_LEAST_FLOW)
		grown += told - phases->flow_told;
	if (!grown ||
	    (double)grown / NM_PHASES_LEAST_FLOW < (double)(now_ns - phases->flow_at_ns) / 1e9)
		return false;
	phases->flow_own = own;
	phases->flow_told = told;
	phases->flow_at_ns = now_ns;
	return true;
}

void nm_phases_progress(struct nm_phases *phases, uint64_t own, uint64_t told, uint64_t now_ns)
{
	bool moved_here = own != phases->own_progress, moved = told != phases->progress;
	bool timed = is_timed(phases), flowed = has_flowed(phases, own, told, timed, now_ns);

	if (moved_here)
		phases->own_at_ns = now_ns;
	if (!timed)
		moved = moved && flowed &&
			now_ns - phases->own_at_ns < NM_PHASES_MOST_FLOW * phases->stall_ns;
	else if (now_ns > phases->begin_ns + phases->duration_ns)
		moved = moved && flowed;
	if (!moved_here && !moved)
		return;
	phases->own_progress = own;
	phases->progress = told;
	phases->progress_at_ns = now_ns;
	phases->was_quiet = false;
	phases->waits = 0;
}

void nm_phases_interrupt(struct nm_phases *phases, uint64_t now_ns)
{
	if (phases->interrupt_ns == UINT64_MAX)
		phases->interrupt_ns = now_ns;
}

/* Commands on their way out. */
struct out {
	void (*command)(void *arg, const struct nm_phase_command *command);
	void *arg;
	bool interrupted; /* the phase is */
	unsigned count;
};

static void give(struct out *out, enum nm_phase_command_kind kind, uint32_t host, uint32_t group,
		 const uint64_t *totals)
{
	const struct nm_phase_command command = {.kind = kind,
						 .host = host,
						 .group = group,
						 .interrupted = out->interrupted,
						 .totals = totals};

	out->command(out->arg, &command);
	out->count++;
}

/* Tells the hosts that follow the master how far to go. */
static void send_follow(const struct nm_phases *phases, uint32_t g, struct out *out)
{
	const struct nm_phase_run *group = &phases->groups[g];

	for (uint32_t h = 0; h < phases->n_hosts; h++) {
		const struct nm_phase_part *part = &phases->hosts[h].parts[g];

		if (part->runs && !part->empty && !part->done && !part->free && h != group->leader)
			give(out, NM_PHASE_FOLLOW, h, g, group->passes);
	}
}

/* The bytes that a free host has sent beyond the master's passes. */
static void add_owed(struct nm_phases *phases, const struct nm_phase_run *group,
		     const struct nm_phase_part *part)
{
	for (uint32_t w = 0; w < group->n_workers; w++) {
		if (part->totals[w] > group->passes[w])
			phases->owed[w] += (part->totals[w] - group->passes[w]) * part->pass_bytes;
	}
}

/* The master has made its last pass: the hosts that only send may end now, and the master takes the
 * rest of their bytes. */
static void release_hosts(struct nm_phases *phases, uint32_t g, struct out *out)
{
	struct nm_phase_run *group = &phases->groups[g];
	bool all = true;

	if (group->drained || !group->here_passed)
		return;
	memset(phases->owed, 0, group->n_workers * sizeof *phases->owed);
	for (uint32_t h = 0; h < phases->n_hosts; h++) {
		const struct nm_phase_part *part = &phases->hosts[h].parts[g];

		if (!part->runs || part->empty || !part->free)
			continue;
		/* By count alone, each ends by itself. */
		if ((group->stopped || group->by_agreement) && !group->released && !part->done)
			give(out, NM_PHASE_STOP, h, g, NULL);
		all &= part->done;
		if (part->done)
			add_owed(phases, group, part);
	}
	group->released = true;
	if (!all)
		return;
	group->drained = true;
	give(out, NM_PHASE_DRAIN, NM_PHASES_HERE, g, phases->owed);
}

/* When the group is to be stopped; UINT64_MAX: it ends by itself, or has been stopped. A group
 * whose time has not begun has all of it before it. */
static uint64_t stop_at_ns(const struct nm_phase_run *group, uint64_t now_ns)
{
	uint64_t from_ns = group->from_ns ? group->from_ns : now_ns;

	return group->runs && group->duration_ns && !group->stopped ? from_ns + group->duration_ns
								    : UINT64_MAX;
}

static void step_group(struct nm_phases *phases, uint32_t g, uint64_t now_ns, struct out *out)
{
	struct nm_phase_run *group = &phases->groups[g];
	bool here = group->leader == NM_PHASES_HERE;
	const struct nm_phase_part *leader = here ? NULL : &phases->hosts[group->leader].parts[g];

	if (group->stopped ? out->interrupted && group->backlog_ns && !group->interrupted
			   : out->interrupted || now_ns >= stop_at_ns(group, now_ns)) {
		group->stopped = true;
		group->interrupted = out->interrupted;
		give(out, NM_PHASE_STOP, group->leader, g, NULL);
	}
	if (group->done)
		return;
	/* By count alone, everybody ends by himself. */
	bool agreed = group->stopped || group->by_agreement;

	if (leader && agreed && leader->done && !group->followed) {
		group->followed = true;
		give(out, NM_PHASE_FOLLOW, NM_PHASES_HERE, g, leader->totals);
	}
	if (group->drains)
		release_hosts(phases, g, out);
	if (!group->here_done)
		return;
	group->done = true;
	if (agreed)
		send_follow(phases, g, out);
}

unsigned nm_phases_step(struct nm_phases *phases, uint64_t now_ns,
			void (*command)(void *arg, const struct nm_phase_command *command),
			void *arg)
{
	struct out out = {
		.command = command, .arg = arg, .interrupted = phases->interrupt_ns != UINT64_MAX};

	for (uint32_t g = 0; g < phases->n_groups; g++) {
		if (phases->groups[g].runs)
			step_group(phases, g, now_ns, &out);
	}
	return out.count;
}

bool nm_phases_waits_for(const struct nm_phases *phases, uint32_t host, uint32_t group)
{
	if (host == NM_PHASES_HERE)
		return phases->groups[group].runs && !phases->groups[group].done;
	const struct nm_phase_host *slave = &phases->hosts[host];

	return !slave->began || (slave->parts[group].runs && !slave->parts[group].done);
}

bool nm_phases_waits(const struct nm_phases *phases, uint32_t *ret_group)
{
	for (uint32_t g = 0; g < phases->n_groups; g++) {
		if (is_waited_for(phases, g)) {
			*ret_group = g;
			return true;
		}
	}
	return false;
}

static uint64_t overdue_ns(const struct nm_phases *phases)
{
	return phases->interrupt_ns == UINT64_MAX ? UINT64_MAX
						  : phases->interrupt_ns + phases->patience_ns;
}

/* For how long after the time of the phase passes that wait may begin. */
static uint64_t backlog_ns(const struct nm_phases *phases)
{
	uint64_t longest_ns = 0;

	for (uint32_t g = 0; g < phases->n_groups; g++)
		if (phases->groups[g].runs && phases->groups[g].backlog_ns > longest_ns)
			longest_ns = phases->groups[g].backlog_ns;
	return longest_ns;
}

/* The time from which a timed phase has lasted too long; UINT64_MAX: there is none, or
 * NM_PHASE_LATE has been told. */
static uint64_t late_ns(const struct nm_phases *phases)
{
	uint64_t over_ns = phases->begin_ns + phases->duration_ns + backlog_ns(phases);
	uint64_t most_ns = over_ns + NM_PHASES_MOST_FLOW * phases->stall_ns;
	uint64_t since_ns = phases->flow_at_ns > over_ns ? phases->flow_at_ns : over_ns;
	uint64_t late_ns = since_ns + NM_PHASES_MOST_STALLS * phases->stall_ns;

	if (!phases->bounded || !phases->duration_ns || phases->was_late)
		return UINT64_MAX;
	return late_ns < most_ns ? late_ns : most_ns;
}

/* The time from which the phase is quiet; UINT64_MAX: nobody wants to know, or NM_PHASE_QUIET has
 * been told. */
static uint64_t quiet_ns(const struct nm_phases *phases)
{
	return phases->quiet_ns && !phases->was_quiet ? phases->progress_at_ns + phases->quiet_ns
						      : UINT64_MAX;
}

enum nm_phase_verdict nm_phases_check(struct nm_phases *phases, uint64_t now_ns,
				      uint32_t *ret_group)
{
	bool stalled = now_ns >= phases->progress_at_ns + phases->stall_ns;
	bool late = now_ns >= late_ns(phases) && is_timed(phases);
	bool overdue = now_ns >= overdue_ns(phases);

	if (!stalled && !late && !overdue && now_ns < quiet_ns(phases))
		return NM_PHASE_GOES_ON;
	if (!nm_phases_waits(phases, ret_group))
		return NM_PHASE_GOES_ON;
	if (!stalled && !late && !overdue) {
		phases->was_quiet = true;
		return NM_PHASE_QUIET;
	}
	if (late) {
		phases->was_late = true;
		phases->late_by_ns = now_ns - phases->begin_ns - phases->duration_ns;
		return NM_PHASE_LATE;
	}
	if (stalled)
		phases->progress_at_ns = now_ns;
	return overdue ? NM_PHASE_OVERDUE : NM_PHASE_STALLED;
}

uint64_t nm_phases_still_ns(const struct nm_phases *phases)
{
	return (phases->waits + 1) * phases->stall_ns;
}

bool nm_phases_wait(struct nm_phases *phases, uint64_t again_ns)
{
	uint64_t most_ns = NM_PHASES_MOST_QUIET * phases->stall_ns;

	if (!again_ns || phases->interrupt_ns != UINT64_MAX ||
	    nm_phases_still_ns(phases) + again_ns >= most_ns)
		return false;
	phases->waits++;
	return true;
}

uint64_t nm_phases_next_ns(const struct nm_phases *phases, uint64_t now_ns)
{
	uint64_t next_ns = phases->progress_at_ns + phases->stall_ns;

	if (quiet_ns(phases) < next_ns)
		next_ns = quiet_ns(phases);
	if (overdue_ns(phases) < next_ns && overdue_ns(phases) > now_ns)
		next_ns = overdue_ns(phases);
	if (late_ns(phases) < next_ns && late_ns(phases) > now_ns)
		next_ns = late_ns(phases);
	for (uint32_t g = 0; g < phases->n_groups; g++) {
		uint64_t at_ns = stop_at_ns(&phases->groups[g], now_ns);

		next_ns = at_ns < next_ns ? at_ns : next_ns;
	}
	return next_ns;
}
