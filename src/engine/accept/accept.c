/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a worker's listeners and endpoints before it runs, and releases them after. */
#include "engine/accept/accept.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "engine/accept/handoff.h"
#include "engine/accept/listener.h"
#include "engine/accept/pending.h"
#include "engine/engine_priv.h"
#include "plan/shape.h"
#include "transport/prover.h"

static bool has_preambles(const struct nm_group *group, bool accepting)
{
	for (uint32_t i = 0; i < group->n_instrs; i++)
		if (group->instrs[i].open.has_preamble &&
		    (!accepting || nm_instr_accepts(&group->instrs[i])))
			return true;
	return false;
}

static int open_handoff(struct nm_worker *worker)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = NM_TAG_HANDOFF};
	int *pair = worker->accept.handoff;
	int r = nm_handoff_open(pair);

	if (r < 0)
		return r;
	return epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, pair[0], &event) < 0 ? -errno : 0;
}

int nm_accept_init(struct nm_worker *worker)
{
	struct nm_accept *accept = &worker->accept;
	size_t n_openings = worker->group->n_openings + 1;

	accept->listeners = calloc(n_openings, sizeof *accept->listeners);
	accept->endpoints = calloc(n_openings, sizeof *accept->endpoints);
	accept->texts = calloc(n_openings, sizeof *accept->texts);
	if (!accept->listeners || !accept->endpoints || !accept->texts)
		return -ENOMEM;
	worker->io.listeners = accept->listeners;
	worker->io.endpoints = accept->endpoints;
	if (!has_preambles(worker->group, false))
		return 0;
	worker->io.prover = nm_prover_new(worker->engine->secret);
	if (!worker->io.prover)
		return -ENOMEM;
	return has_preambles(worker->group, true) ? open_handoff(worker) : 0;
}

void nm_accept_fini(struct nm_worker *worker)
{
	struct nm_accept *accept = &worker->accept;

	nm_listeners_close(worker);
	for (uint32_t i = 0; worker->flows && i < worker->n_flows; i++)
		nm_pending_close(nm_worker_flow(worker, i));
	nm_handoff_close(accept->handoff);
	worker->io.prover = nm_prover_free(worker->io.prover);
	free(accept->listeners);
	free(accept->endpoints);
	free(accept->texts);
}
