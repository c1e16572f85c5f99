/* SPDX-License-Identifier: Apache-2.0 */
/* One socket for all connections of a worker: lets peers in that belong to the run. */
#include "engine/accept/mux.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/accept/pending.h"
#include "engine/engine_priv.h"
#include "transport/peers.h"
#include "transport/preamble.h"
#include "transport/prover.h"
#include "transport/transport.h"
#include "transport/udp_mux.h"

struct nm_mux {
	struct nm_worker *worker;
	const struct nm_listener *listener;
	const struct nm_instr *accept;
	struct nm_udp_mux *socket;
	struct nm_prover *keeper; /* of the cookies of challenges */
	uint32_t port;
	struct nm_preamble_known known[]; /* by the worker's flows */
};

struct nm_mux *nm_mux_new(struct nm_worker *worker, const struct nm_listen_fd *one,
			  const struct nm_instr *accept, const char *text)
{
	struct nm_mux *mux = calloc(1, sizeof *mux + worker->n_flows * sizeof mux->known[0]);

	if (!mux)
		return NULL;
	/* One by one: what pads the structure is part of known. */
	mux->worker = worker;
	mux->listener = one->listener;
	mux->accept = accept;
	mux->port = (uint32_t)strtoul(text, NULL, 10);
	mux->socket = nm_udp_mux_new(one->fd, worker->n_flows * worker->group->n_conns);
	mux->keeper = nm_prover_new_random();
	return mux->socket && mux->keeper ? mux : nm_mux_free(mux);
}

struct nm_mux *nm_mux_free(struct nm_mux *mux)
{
	if (mux) {
		mux->socket = nm_udp_mux_free(mux->socket);
		mux->keeper = nm_prover_free(mux->keeper);
	}
	free(mux);
	return NULL;
}

struct nm_prover *nm_mux_keeper(const struct nm_mux *mux)
{
	return mux->keeper;
}

/* The flow of this worker that the preamble means, or NULL. */
static struct nm_flow *find_flow(const struct nm_mux *mux, const struct nm_preamble *preamble)
{
	const struct nm_worker *worker = mux->worker;
	uint32_t n_workers = worker->group->n_workers;

	if (preamble->group != worker->group_no || preamble->flow % n_workers != worker->worker_no)
		return NULL;
	if (nm_pending_find_accept(worker->engine->plan, preamble) != mux->accept)
		return NULL;
	return nm_worker_flow(worker, preamble->flow / n_workers);
}

/* Lets a new peer in. False: there is no room for it, and it will ask again. */
static bool let_in(struct nm_mux *mux, struct nm_flow *flow, const struct nm_addr *from)
{
	struct nm_udp_mux_peer *peer = nm_udp_mux_add(mux->socket, from);

	if (peer && nm_pending_add(flow, mux->accept->opening, -1, peer) == 0)
		return true;
	if (peer)
		nm_udp_mux_forget(peer);
	return false;
}

static void reply(struct nm_mux *mux, const struct nm_addr *to, const struct nm_preamble *preamble,
		  enum nm_preamble_kind kind)
{
	const struct nm_io *io = &mux->worker->io;
	char wire[NM_PREAMBLE_BYTES];

	nm_preamble_pack(preamble, kind, io->prover, io->own_nonce, wire);
	nm_udp_mux_answer(mux->socket, to, wire, sizeof wire);
}

/* The hello belongs to the run, and the address from which it seems to come has returned the
 * challenge. */
static void meet(struct nm_mux *mux, const struct nm_mux_events *events, const struct nm_addr *from,
		 struct nm_flow *flow, struct nm_preamble *hello)
{
	struct nm_preamble_known *known = &mux->known[hello->flow / mux->worker->group->n_workers];
	enum nm_preamble_verdict verdict = nm_preamble_judge(known, hello->serial);

	/* The connection that had this port before is not closed here yet: the peer will ask
	 * again. */
	if (verdict == NM_PREAMBLE_OLD ||
	    (verdict == NM_PREAMBLE_NEW && nm_udp_mux_find(mux->socket, from)))
		return;
	hello->port = mux->port;
	reply(mux, from, hello, NM_PREAMBLE_ANSWER);
	if (verdict == NM_PREAMBLE_NEW && let_in(mux, flow, from)) {
		known->serial = hello->serial;
		events->pending(mux->worker, flow);
	}
}

bool nm_mux_take_preamble(struct nm_mux *mux, const struct nm_mux_events *events,
			  const struct nm_addr *from, const char *data, size_t size)
{
	const struct nm_io *io = &mux->worker->io;
	struct nm_preamble hello;

	if (nm_preamble_unpack(data, size, &hello) != NM_PREAMBLE_HELLO)
		return false;
	struct nm_flow *flow = find_flow(mux, &hello);

	if (!flow || !nm_peers_may_prove(mux->listener->peers, from) ||
	    !nm_preamble_is_proved(data, io->prover, io->own_nonce))
		return true;
	if (nm_preamble_is_returned(&hello, mux->keeper, &from->sa, from->len))
		meet(mux, events, from, flow, &hello);
	else
		reply(mux, from, &hello, NM_PREAMBLE_CHALLENGE);
	return true;
}

/* The argument of the two functions below. */
struct receiving {
	struct nm_mux *mux;
	const struct nm_mux_events *events;
};

static bool on_preamble(void *arg, const struct nm_addr *from, const char *data, size_t size)
{
	const struct receiving *receiving = arg;

	return nm_mux_take_preamble(receiving->mux, receiving->events, from, data, size);
}

static void on_message(void *arg, struct nm_conn *conn)
{
	const struct receiving *receiving = arg;

	receiving->events->message(receiving->mux->worker, conn);
}

void nm_mux_receive(struct nm_mux *mux, const struct nm_mux_events *events)
{
	struct receiving receiving = {.mux = mux, .events = events};

	nm_udp_mux_receive(mux->socket, on_preamble, on_message, &receiving);
}
