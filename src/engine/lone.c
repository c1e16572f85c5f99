/* SPDX-License-Identifier: Apache-2.0 */
/* A worker with one flow, which waits for one thing only, need not wait for events: a receive that
 * sleeps until it comes spares a system call. It is given up after a while, so that the worker sees
 * what main wants. */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "engine/waits.h"
#include "engine/engine_priv.h"
#include "engine/loop/interp.h"
#include "flowop/flowop.h"
#include "transport/transport.h"

/* How long a receive sleeps at most. An answer always comes soon, and main is listened to after
 * each; but for what the other end sends by itself the last wait of a phase is in vain. */
#define ANSWER_SLEEP_US	 50000
#define REQUEST_SLEEP_US 2000

const struct nm_instr *nm_worker_instr(const struct nm_worker *worker, uint32_t number)
{
	return number == NM_NO_INSTR
		       ? NULL
		       : worker->run.body + number -
				 (worker->run.phase->first + worker->run.phase->entry);
}

/* The kernel collects no events of the connection, which costs it something with each packet: the
 * receive itself finds out. Its flags go on saying that it is watched, so that the flow just
 * waits. */
static void unwatch(const struct nm_worker *worker, struct nm_conn *conn)
{
	nm_level_forget(worker, conn);
	/* But for output, which the flow may have to wait for again: then it is to be watched
	 * anew. */
	conn->flags &= ~(uint32_t)NM_CONN_OUT_REGISTERED;
	if (conn->flags & NM_CONN_REGISTERED)
		(void)epoll_ctl(worker->epoll_fd, EPOLL_CTL_DEL, conn->fd, NULL);
}

void nm_worker_lone_begin(struct nm_worker *worker)
{
	struct nm_flow *flow = nm_worker_flow(worker, 0);
	const struct nm_instr *read = nm_worker_instr(worker, worker->shape->wait_at);
	struct timeval sleep = {.tv_usec = worker->run.phase->leads ? ANSWER_SLEEP_US
								    : REQUEST_SLEEP_US};

	if (!read || (flow->conn->flags & NM_CONN_HUP))
		return;
	/* Whoever waits too long notices that when the receive is given up. */
	if (read->timeout_ns && read->timeout_ns / 1000 < (uint64_t)sleep.tv_usec)
		sleep.tv_usec =
			read->timeout_ns < 2000 ? 1 : (suseconds_t)(read->timeout_ns / 2000);
	if (!worker->group->spins &&
	    (setsockopt(flow->conn->fd, SOL_SOCKET, SO_RCVTIMEO, &sleep, sizeof sleep) < 0 ||
	     fcntl(flow->conn->fd, F_SETFL, 0) < 0))
		return;
	unwatch(worker, flow->conn);
	worker->lone = read;
}

void nm_worker_lone_end(struct nm_worker *worker)
{
	struct nm_flow *flow = nm_worker_flow(worker, 0);

	if (worker->lone && (flow->conn->flags & NM_CONN_OPEN)) {
		if (!worker->group->spins)
			(void)fcntl(flow->conn->fd, F_SETFL, O_NONBLOCK);
		nm_worker_rewatch(worker, flow);
	}
	worker->lone = NULL;
}

/* The only flow waits for what it reads next, and main wants nothing. */
bool nm_worker_waits_alone(const struct nm_worker *worker, const struct nm_flow *flow)
{
	return worker->lone && flow->at == worker->lone && !worker->run.quiet_ns &&
	       (flow->state == NM_FLOW_WAITING || flow->state == NM_FLOW_LIMITED) &&
	       !atomic_load_explicit(&worker->commands.has_command, memory_order_relaxed);
}

/* How often a lone flow that does not sleep looks before the worker looks at everything else. */
#define LOOKS 256

/* The same without sleep: looks again and again. */
static void spin_lone(struct nm_worker *worker)
{
	struct nm_flow *flow = nm_worker_flow(worker, 0);

	for (unsigned looks = 0; looks < LOOKS; looks++) {
		uint64_t before = nm_counter_read(&worker->io.count->bytes_received);

		if (!nm_worker_waits_alone(worker, flow))
			break;
		nm_worker_limit_lift(worker, flow);
		flow->conn->flags |= NM_CONN_IN;
		nm_worker_run_flow(worker, flow);
		if (nm_counter_read(&worker->io.count->bytes_received) != before)
			looks = 0;
	}
}

/* The receive itself waits, as long as something comes and main wants nothing. */
static void sleep_lone(struct nm_worker *worker)
{
	struct nm_flow *flow = nm_worker_flow(worker, 0);

	if (!nm_worker_waits_alone(worker, flow))
		return;
	worker->io.recv_flags = 0;
	worker->io.in_kept = ~0u;
	nm_worker_limit_lift(worker, flow);
	flow->conn->flags |= NM_CONN_IN;
	nm_worker_run_flow(worker, flow);
	worker->io.recv_flags = MSG_DONTWAIT;
	worker->io.in_kept = ~(uint32_t)NM_CONN_IN;
	/* Nothing has come for long. */
	if (nm_worker_waits_alone(worker, flow))
		nm_worker_lone_end(worker);
}

/* What has been lost is only found out by looking at the clock between events. */
void nm_worker_run_lone(struct nm_worker *worker)
{
	if (worker->run.quiet_ns)
		nm_worker_lone_end(worker);
	else if (worker->group->spins)
		spin_lone(worker);
	else
		sleep_lone(worker);
}
