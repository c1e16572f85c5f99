/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that have said which flow they are for, until that flow accepts them. */
#include "engine/accept/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "plan/plan.h"
#include "plan/shape.h"
#include "transport/preamble.h"

const struct nm_instr *nm_pending_find_accept(const struct nm_plan *plan,
					      const struct nm_preamble *preamble)
{
	if (preamble->group >= plan->n_groups)
		return NULL;
	const struct nm_group *group = &plan->groups[preamble->group];

	if (!group->runs || preamble->flow >= group->n_flows)
		return NULL;
	for (uint32_t i = 0; i < group->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (nm_instr_accepts(instr) && instr->open.has_preamble &&
		    instr->opening == preamble->opening)
			return instr;
	}
	return NULL;
}

int nm_pending_add(struct nm_flow *flow, uint32_t opening, int fd, struct nm_udp_mux_peer *peer)
{
	struct nm_pending_conn *pending = malloc(sizeof *pending);
	struct nm_pending_conn **end = &flow->pending;

	if (!pending)
		return -ENOMEM;
	*pending = (struct nm_pending_conn){.fd = fd, .opening = opening, .peer = peer};
	while (*end)
		end = &(*end)->next;
	*end = pending;
	return 0;
}

bool nm_pending_is_awaited(const struct nm_flow *flow)
{
	if (flow->state != NM_FLOW_PARKED || !flow->at->open.has_preamble)
		return false;
	for (const struct nm_pending_conn *p = flow->pending; p; p = p->next)
		if (p->opening == flow->at->opening)
			return true;
	return false;
}

void nm_pending_close(struct nm_flow *flow)
{
	while (flow->pending) {
		struct nm_pending_conn *pending = flow->pending;

		flow->pending = pending->next;
		if (pending->fd >= 0)
			(void)close(pending->fd);
		free(pending);
	}
}
