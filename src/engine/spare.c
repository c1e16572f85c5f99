/* SPDX-License-Identifier: Apache-2.0 */
/* A flow each pass of which has a connection of its own leaves what the other end need not wait for
 * until it waits itself: the end that connects makes the socket of the next pass, and says that
 * closing this one is a reset; the end that accepts closes what has been reset once it has answered
 * on the next. */
#include <unistd.h>

#include "engine/engine_priv.h"
#include "engine/waits.h"
#include "flowop/disconnect.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

/* What opens the only connection of a pass, which `last`, its last flowop, closes; NULL: there are
 * several, or it is closed before. */
static const struct nm_instr *only_opening(const struct nm_worker *worker,
					   const struct nm_instr *last)
{
	const struct nm_instr *opening = NULL;
	uint32_t n_opened = 0, n_closed = 0;

	for (const struct nm_instr *instr = worker->group->instrs + worker->run.phase->first;
	     instr <= last; instr++) {
		if (instr->op->flags & NM_FLOWOP_OPENS) {
			opening = instr;
			n_opened++;
		}
		n_closed += (instr->op->flags & NM_FLOWOP_CLOSES) != 0;
	}
	return n_opened == 1 && n_closed == 1 && (last->op->flags & NM_FLOWOP_CLOSES) ? opening
										      : NULL;
}

void nm_worker_spare_begin(struct nm_worker *worker)
{
	const struct nm_instr *last =
		worker->group->instrs + worker->run.phase->first + worker->run.phase->n_instrs - 1;
	const struct nm_instr *opening = only_opening(worker, last);
	bool makes =
		opening && (opening->op->flags & NM_FLOWOP_INITIATES) && opening->transport->make;

	if (!opening)
		return;
	worker->spare = (struct nm_spare){.made_fd = -1,
					  .spent = {.fd = -1},
					  .connect = makes ? opening : NULL,
					  .resets = makes && nm_disconnect_resets(last)};
	worker->io.spare = &worker->spare;
}

static void close_spent(struct nm_conn *spent)
{
	if (spent->fd >= 0)
		spent->transport->close(spent, false);
}

void nm_worker_spare_end(struct nm_worker *worker)
{
	struct nm_spare *spare = worker->io.spare;

	if (!spare)
		return;
	worker->io.spare = NULL;
	close_spent(&spare->spent);
	if (spare->made_fd >= 0)
		(void)close(spare->made_fd);
}

void nm_worker_spare_time(struct nm_worker *worker)
{
	struct nm_spare *spare = worker->io.spare;

	if (!spare)
		return;
	close_spent(&spare->spent);
	if (!spare->connect || spare->made_fd >= 0)
		return;
	if (spare->resets)
		nm_conn_resets(nm_worker_flow(worker, 0)->conn);
	/* Where none can be had, connect says why. */
	spare->made_fd = spare->connect->transport->make(
		spare->connect->transport_opts, &worker->endpoints[spare->connect->opening]);
}
