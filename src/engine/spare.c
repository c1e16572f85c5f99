/* SPDX-License-Identifier: Apache-2.0 */
/* A flow each pass of which has a connection of its own leaves what the other end need not wait for
 * until it waits itself: the end that connects makes the socket of the next pass, and says that
 * closing this one is a reset; the end that accepts closes what has been reset once it has answered
 * on the next. */
#include <unistd.h>

#include "engine/engine_priv.h"
#include "engine/wait/waiter.h"
#include "flowop/disconnect.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

void nm_worker_spare_begin(struct nm_worker *worker)
{
	const struct nm_phase_shape *shape = worker->shape;

	if (!shape->lone_conn)
		return;
	worker->spare = (struct nm_spare){.made_fd = -1,
					  .spent = {.fd = -1},
					  .connect = nm_worker_instr(worker, shape->make_ahead_at),
					  .resets = shape->resets};
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
	spare->made_fd = spare->connect->transport->socket->make(
		spare->connect->transport_opts, &worker->accept.endpoints[spare->connect->opening]);
}
