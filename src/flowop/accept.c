/* SPDX-License-Identifier: Apache-2.0 */
/* accept: takes the connection that the other end opens, or waits in the listener's queue for
 * it. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "flowop/ask.h"
#include "flowop/flowop.h"
#include "flowop/listening.h"
#include "flowop/multipath.h"
#include "flowop/open_opts.h"
#include "transport/udp_mux.h"
#include "transport/transport.h"

static enum nm_step park(struct nm_listener *listener, struct nm_flow *flow)
{
	flow->next = NULL;
	if (listener->last)
		listener->last->next = flow;
	else
		listener->first = flow;
	listener->last = flow;
	return NM_STEP_PARK;
}

static enum nm_step accepted(struct nm_io *io, struct nm_flow *flow)
{
	nm_counter_add(&io->count->accepts, 1);
	nm_multipath_look(io, flow->conn);
	return NM_STEP_NEXT;
}

/* Errors that concern one connection in the queue, not the listener: accept(2) tells to try
 * again. */
static bool is_transient(int error)
{
	switch (error) {
	case ECONNABORTED:
	case EPROTO:
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case EINTR:
		return true;
	default:
		return false;
	}
}

static enum nm_step accept_pending(struct nm_io *io, struct nm_flow *flow,
				   const struct nm_instr *instr);

/* The handshake shows that the other end does not belong to the run, in spite of its preamble:
 * closes the connection and waits for the next. */
static enum nm_step wait_for_next(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	instr->transport->close(flow->conn, true);
	flow->conn->flags = 0;
	flow->conn->wishes = instr->open.defer_handshake ? NM_CONN_DEFER_HANDSHAKE : 0;
	flow->conn->state = io->started[instr->opening];
	return accept_pending(io, flow, instr);
}

/* The connection is taken, and may not be ready yet. */
static enum nm_step go_on(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	int r = nm_open_continue(flow->conn);

	if (r == 0)
		return accepted(io, flow);
	if (r == -EINPROGRESS)
		return NM_STEP_WAIT_OUT;
	if (r == -EAGAIN)
		return NM_STEP_WAIT_IN;
	if (r == -ECONNABORTED && (instr->transport->caps & NM_TRANSPORT_PREAMBLE))
		return wait_for_next(io, flow, instr);
	flow->error = -r;
	return NM_STEP_FAIL;
}

/* Takes the connection that a rendezvous listener or the demultiplexer has found to be this
 * flow's. */
static enum nm_step accept_pending(struct nm_io *io, struct nm_flow *flow,
				   const struct nm_instr *instr)
{
	struct nm_pending_conn **at = &flow->pending;

	while (*at && (*at)->opening != instr->opening)
		at = &(*at)->next;
	struct nm_pending_conn *pending = *at;

	if (!pending)
		return NM_STEP_PARK;
	int fd = pending->fd;

	if (pending->peer) {
		nm_udp_mux_attach(flow->conn, pending->peer);
		*at = pending->next;
		free(pending);
		return accepted(io, flow);
	}
	int r = instr->transport->preamble->attach(flow->conn, fd, instr->open.transport_opts);

	*at = pending->next;
	free(pending);
	if (r == -EINPROGRESS) {
		flow->conn->flags |= NM_CONN_CONNECTING;
		return go_on(io, flow, instr);
	}
	/* Only the deferred handshake shows whether the peer belongs to the run. */
	if (r == 0)
		return instr->open.defer_handshake ? NM_STEP_NEXT : accepted(io, flow);
	(void)close(fd);
	flow->error = -r;
	return NM_STEP_FAIL;
}

static enum nm_step accept_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr)
{
	struct nm_listener *listener = &io->listeners[instr->opening];

	if (flow->conn->flags & NM_CONN_CONNECTING)
		return go_on(io, flow, instr);
	if (instr->ask.app && io->behind.app_bytes)
		nm_serve_reset(io, flow);
	flow->conn->transport = instr->transport;
	flow->conn->lossy = instr->lossy;
	flow->conn->flags = 0;
	flow->conn->wishes = (uint8_t)((instr->open.defer_handshake ? NM_CONN_DEFER_HANDSHAKE : 0) |
				       (io->recv_flags ? 0 : NM_CONN_SLEEPS));
	flow->conn->state = io->started[instr->opening];
	if (instr->open.has_preamble)
		return accept_pending(io, flow, instr);
	if (instr->transport->caps & NM_TRANSPORT_NO_PEER)
		return instr->transport->accept(flow->conn, -1, instr->open.transport_opts, NULL) <
				       0
			       ? NM_STEP_FAIL
			       : accepted(io, flow);
	for (size_t i = 0; i < listener->n_fds; i++) {
		struct nm_listen_fd *in = &listener->fds[i];

		while (in->ready) {
			int r = instr->transport->accept(
				flow->conn, in->fd, instr->open.transport_opts, listener->peers);

			if (r == 0 || r == -EINPROGRESS) {
				/* When no second connection can be queued, spares the call that
				 * finds none. */
				in->ready = !listener->single;
				if (r == 0)
					return accepted(io, flow);
				flow->conn->flags |= NM_CONN_CONNECTING;
				return go_on(io, flow, instr);
			}
			if (r == -EAGAIN) {
				in->ready = false;
			} else if (!is_transient(-r)) {
				flow->error = -r;
				return NM_STEP_FAIL;
			}
		}
	}
	return park(listener, flow);
}

const struct nm_flowop nm_flowop_accept = {
	.name = "accept",
	.mirror_op = &nm_flowop_connect,
	.help = "waits for a connection that the other host opens",
	.flags = NM_FLOWOP_OPENS | NM_FLOWOP_FOLLOWS,
	.opts = nm_open_opts,
	.opts_size = sizeof(struct nm_opts_open),
	.step = accept_step,
};
