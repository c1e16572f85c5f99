/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that live for one pass: epoll would be told of each for one or two waits only. */
#include <sched.h>

#include "engine/engine_priv.h"
#include "engine/waits.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

void nm_worker_fleeting_begin(struct nm_worker *worker)
{
	worker->look = (struct nm_looks){.on = worker->shape->defer == NM_DEFER_NEXT_TURN};
}

/* The end that accepts waits for the close after it, and needs epoll anyway. */
bool nm_worker_looks_later(struct nm_worker *worker, const struct nm_flow *flow,
			   const struct nm_instr *instr)
{
	const uint32_t states =
		NM_CONN_OPEN | NM_CONN_REGISTERED | NM_CONN_LEVEL | NM_CONN_ACCEPTED;

	if (!worker->look.on || (flow->conn->flags & states) != NM_CONN_OPEN ||
	    !nm_instr_moves_message(instr))
		return false;
	if (!worker->look.skips)
		return true;
	worker->look.skips--;
	return false;
}

/* So many flows that look are worth that they leave the CPU once: who is to answer may need this
 * very one. */
#define MANY_LOOKS 8

void nm_worker_looks_begin(struct nm_worker *worker)
{
	struct nm_looks *look = &worker->look;
	bool many = look->tried >= MANY_LOOKS;

	look->tried = look->missed = 0;
	if (many && worker->run_first->state == NM_FLOW_LOOKING)
		(void)sched_yield();
}

void nm_worker_looks_end(struct nm_worker *worker)
{
	struct nm_looks *look = &worker->look;

	if (look->missed <= look->tried / 2) {
		look->vain = look->tried ? 0 : look->vain;
		return;
	}
	look->vain = nm_more_vain(look->vain);
	look->skips = look->missed * look->vain;
}
