/* SPDX-License-Identifier: Apache-2.0 */
/* A listening socket that stays the socket of all its connections: the worker takes greetings and
 * messages itself. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "engine/accept/rendezvous.h"
#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "transport/address.h"
#include "transport/udp_mux.h"
#include "transport/preamble.h"
#include "transport/transport.h"

struct nm_mux {
	struct nm_worker *worker;
	struct nm_listener *listener;
	const struct nm_instr *accept;
	struct nm_udp_mux *hub;
	uint32_t port;
	struct nm_preamble_known known[]; /* by the worker's flows */
};

static struct nm_flow *flow_of(const struct nm_mux *own, const struct nm_preamble *preamble)
{
	const struct nm_worker *worker = own->worker;
	uint32_t n_workers = worker->group->n_workers;

	if (preamble->cookie != worker->io.cookie || preamble->group != worker->group_no ||
	    preamble->opening != own->accept->opening || preamble->flow >= worker->group->n_flows ||
	    preamble->flow % n_workers != worker->worker_no)
		return NULL;
	return nm_worker_flow(worker, preamble->flow / n_workers);
}

static bool is_wanted(const struct nm_mux *own, const struct nm_addr *from)
{
	const struct nm_addr *host = &own->listener->from;

	return own->accept->transport->socket->allows_peer(own->accept->transport_opts, from, host);
}

/* Keeps a new one for the flow's accept. False: there is no room for it, and it will greet
 * again. */
static bool let_in(struct nm_mux *own, struct nm_flow *flow, const struct nm_addr *from)
{
	struct nm_pending_conn *arrival = malloc(sizeof *arrival);
	struct nm_udp_mux_peer *peer = arrival ? nm_udp_mux_add(own->hub, from) : NULL;

	if (!peer) {
		free(arrival);
		return false;
	}
	*arrival =
		(struct nm_pending_conn){.fd = -1, .opening = own->accept->opening, .peer = peer};
	nm_pending_add(own->worker, flow, arrival);
	return true;
}

static bool take_preamble(void *arg, const struct nm_addr *from, const char *data, size_t size)
{
	struct nm_mux *own = arg;
	struct nm_preamble preamble;
	char wire[NM_PREAMBLE_BYTES];

	if (nm_preamble_unpack(data, size, &preamble) != NM_PREAMBLE_HELLO)
		return false;
	struct nm_flow *flow = flow_of(own, &preamble);

	if (!flow || !is_wanted(own, from))
		return true;
	struct nm_preamble_known *known =
		&own->known[preamble.flow / own->worker->group->n_workers];
	enum nm_preamble_verdict verdict = nm_preamble_judge(known, preamble.serial);

	/* The connection that had this port before is not closed here yet: the peer will ask
	 * again. */
	if (verdict == NM_PREAMBLE_OLD ||
	    (verdict == NM_PREAMBLE_NEW && nm_udp_mux_find(own->hub, from)))
		return true;
	preamble.port = own->port;
	nm_preamble_pack(&preamble, NM_PREAMBLE_ANSWER, wire);
	nm_udp_mux_answer(own->hub, from, wire, sizeof wire);
	if (verdict == NM_PREAMBLE_NEW && let_in(own, flow, from))
		known->serial = preamble.serial;
	return true;
}

static void take_message(void *arg, struct nm_conn *conn)
{
	struct nm_mux *own = arg;

	nm_worker_conn_event(own->worker, conn, NM_CONN_IN);
}

int nm_mux_new(struct nm_worker *worker, struct nm_listen_fd *one, const struct nm_instr *accept,
	       const char *text)
{
	struct nm_mux *own = calloc(1, sizeof *own + worker->n_flows * sizeof own->known[0]);
	/* As long as something is there it is an event, so that others have their turn in
	 * between. */
	struct epoll_event event = {.events = EPOLLIN,
				    .data.u64 = (uint64_t)(uintptr_t)one | NM_TAG_LISTEN};

	if (!own)
		return -ENOMEM;
	one->hub = own;
	*own = (struct nm_mux){.worker = worker,
			       .listener = one->listener,
			       .accept = accept,
			       .port = (uint32_t)strtoul(text, NULL, 10)};
	own->hub = nm_udp_mux_new(one->fd, worker->n_flows * worker->group->n_conns);
	if (!own->hub)
		return -ENOMEM;
	return epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, one->fd, &event) < 0 ? -errno : 0;
}

struct nm_mux *nm_mux_free(struct nm_mux *own)
{
	if (own)
		own->hub = nm_udp_mux_free(own->hub);
	free(own);
	return NULL;
}

void nm_mux_event(struct nm_mux *own)
{
	nm_udp_mux_receive(own->hub, take_preamble, take_message, own);
	own->worker->busy = true;
}
