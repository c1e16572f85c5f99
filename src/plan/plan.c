/* SPDX-License-Identifier: Apache-2.0 */
/* Answers questions about a plan: descriptors, flows, waits, protocols. Frees it. */
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/diag.h"
#include "flowop/flowop.h"
#include "plan/arena.h"
#include "transport/ring.h"
#include "transport/transport.h"

void nm_plan_wipe_secrets(struct nm_plan *plan)
{
	nm_arena_wipe_secrets(plan->arena);
}

struct nm_plan *nm_plan_free(struct nm_plan *plan)
{
	if (!plan)
		return NULL;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		struct nm_group *group = &plan->groups[g];

		for (uint32_t i = 0; i < group->n_phases; i++)
			free(group->phases[i].name);
		free(group->phases);
		free(group->instrs);
		free(group->hosts);
		free(group->name);
	}
	for (uint32_t h = 0; h < plan->n_hosts; h++)
		free(plan->hosts[h]);
	free(plan->hosts);
	free(plan->groups);
	free(plan->name);
	free(plan->apart);
	free(plan->verbs);
	nm_arena_free(plan->arena);
	free(plan);
	return NULL;
}

/* Whether the instruction begins a connection that the kernel knows of. */
static bool opens(const struct nm_instr *instr)
{
	return instr->op && (instr->op->flags & NM_FLOWOP_OPENS) && instr->transport &&
	       !(instr->transport->caps & NM_TRANSPORT_NO_PEER);
}

static bool listens(const struct nm_instr *instr)
{
	return opens(instr) && (instr->op->flags & NM_FLOWOP_FOLLOWS) && instr->transport->listen;
}

static uint32_t ports_of(const struct nm_instr *instr)
{
	return nm_transport_ports(instr->transport, instr->open.transport_opts);
}

uint64_t nm_plan_descriptors(const struct nm_plan *plan)
{
	uint64_t needed = 0, own = 0, most = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];
		uint64_t flows_a_worker =
			(group->n_flows + group->n_workers - 1) / group->n_workers;
		uint64_t sockets = (flows_a_worker + NM_FLOWS_PER_LISTEN_SOCKET - 1) /
				   NM_FLOWS_PER_LISTEN_SOCKET * group->n_workers;

		bool connected = false, has_preambles = false;

		if (!group->runs)
			continue;
		for (uint32_t i = 0; i < group->n_instrs; i++) {
			connected |= opens(&group->instrs[i]);
			has_preambles |= group->instrs[i].open.has_preamble &&
					 nm_instr_accepts(&group->instrs[i]);
			if (!listens(&group->instrs[i]))
				continue;
			uint64_t ports = ports_of(&group->instrs[i]) * (uint64_t)group->n_workers;

			needed += ports > sockets ? ports : sockets;
		}
		needed += (uint64_t)((has_preambles ? 4 : 2) + group->posts) * group->n_workers;
		/* Workers with one flow keep one more socket: transport/conn_cache.h. */
		if (group->n_flows / group->n_workers <= 1)
			needed += group->n_workers;
		/* A flow has one file open at a time. */
		uint64_t of_flow = (connected ? group->n_conns : 0) +
				   (plan->master && group->messages.moves_files ? 1 : 0);

		/* A process has the descriptors of its own flows only: it begins before any flow
		 * has some. */
		if (!group->processes)
			own += group->n_flows * of_flow;
		else if (flows_a_worker * of_flow > most)
			most = flows_a_worker * of_flow;
	}
	return needed + (own > most ? own : most);
}

void nm_plan_leave_from(const struct nm_plan *plan, const struct nm_addr *addr)
{
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		for (uint32_t i = 0; i < plan->groups[g].n_instrs; i++) {
			const struct nm_instr *instr = &plan->groups[g].instrs[i];
			const struct nm_transport_socket *socket =
				nm_instr_opens(instr) ? instr->transport->socket : NULL;
			struct nm_addr named;

			/* The plan owns the options, and no code has read them yet. */
			if (socket && socket->source && !nm_instr_accepts(instr) &&
			    !socket->source(instr->open.transport_opts, 0, &named))
				socket->leave_from((void *)(uintptr_t)instr->open.transport_opts,
						   addr);
		}
	}
}

uint64_t nm_plan_flows(const struct nm_plan *plan)
{
	uint64_t flows = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		flows += plan->groups[g].n_flows;
	return flows;
}

uint64_t nm_plan_duration_ns(const struct nm_plan *plan)
{
	uint64_t sum = 0;
	bool any = true;

	for (uint32_t k = 0; any; k++) {
		uint64_t longest = 0;

		any = false;
		for (uint32_t g = 0; g < plan->n_groups; g++) {
			const struct nm_group *group = &plan->groups[g];

			if (k >= group->n_phases)
				continue;
			any = true;
			if (group->phases[k].duration_ns > longest)
				longest = group->phases[k].duration_ns;
		}
		sum += longest;
	}
	return sum;
}

uint64_t nm_phase_longest_pause_ns(const struct nm_phase *phase)
{
	double pause_ns = 0;

	if (phase->rate_per_s > 0)
		pause_ns = 1e9 / phase->rate_per_s;
	else if (phase->arrivals.law)
		pause_ns = nm_arrivals_longest_pause_ns(&phase->arrivals);
	return pause_ns < (double)NM_PLAN_MAX_WAIT_NS ? (uint64_t)pause_ns : NM_PLAN_MAX_WAIT_NS;
}

double nm_phase_planned_per_s(const struct nm_group *group, const struct nm_phase *phase)
{
	return phase->arrivals.law ? phase->arrivals.per_s : phase->rate_per_s * group->n_flows;
}

bool nm_phase_is_open(const struct nm_phase *phase)
{
	return phase->arrivals.law && phase->leads && !phase->open_sender;
}

bool nm_group_posts(const struct nm_group *group)
{
	for (uint32_t i = 0; i < group->n_phases; i++)
		if (group->phases[i].posts)
			return true;
	return false;
}

/* How long the group's flows may pause between attempts to connect. */
static uint64_t longest_backoff_ns(const struct nm_group *group)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_opts_open *opts = group->instrs[i].opts;

		if (nm_instr_opens(&group->instrs[i]) && opts->backoff.to_ns > longest)
			longest = opts->backoff.to_ns;
	}
	return longest;
}

uint64_t nm_plan_longest_wait_ns(const struct nm_plan *plan)
{
	uint64_t longest = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		uint64_t backoff_ns = longest_backoff_ns(&plan->groups[g]);

		longest = backoff_ns > longest ? backoff_ns : longest;
		for (uint32_t k = 0; k < plan->groups[g].n_phases; k++) {
			const struct nm_phase *phase = &plan->groups[g].phases[k];
			uint64_t pause = nm_phase_longest_pause_ns(phase);
			uint64_t wait = pause > phase->waits.all_ns ? pause : phase->waits.all_ns;

			longest = wait > longest ? wait : longest;
		}
	}
	return longest;
}

int nm_plan_check_protocols(const struct nm_plan *plan, const char *file, struct nm_diags *diags)
{
	int error = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		char why[160];

		if (group->runs && nm_group_posts(group) &&
		    nm_ring_available(why, sizeof why) < 0) {
			error = -EOPNOTSUPP;
			nm_diag_error(diags, file, group->line, "<group> engine=\"io_uring\": %s",
				      why);
		}
		for (uint32_t i = 0; group->runs && i < group->n_instrs; i++) {
			const struct nm_instr *instr = &group->instrs[i];

			if (!nm_instr_opens(instr) ||
			    (instr->transport->caps & NM_TRANSPORT_NO_PEER))
				continue;
			/* A connection to a server has no host of the plan. */
			const char *host =
				instr->host == NM_NO_HOST ? "" : plan->hosts[instr->host];
			int r = nm_transport_check_available(instr->transport, host, why,
							     sizeof why);
			if (r == 0)
				continue;
			error = r;
			nm_diag_error(diags, file, instr->line, "<flowop %s> protocol=\"%s\": %s",
				      instr->op->name, instr->transport->name, why);
		}
	}
	return error;
}
