/* SPDX-License-Identifier: Apache-2.0 */
/* The datagrams of a rendezvous: hellos, their challenges and answers, and the connections that are
 * made of them. */
#include "engine/accept/rendezvous_datagrams.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "engine/accept/rendezvous_listeners.h"
#include "host/clock.h"
#include "host/wake.h"
#include "transport/prover.h"
#include "transport/strangers.h"

#define NO_PORT_NS 500000000u /* so long a port may be lacked */

int nm_rendezvous_datagrams_init(struct nm_rendezvous_datagrams *datagrams,
				 const struct nm_rendezvous_listeners *listeners)
{
	const struct nm_plan *plan = listeners->engine->plan;

	datagrams->listeners = listeners;
	datagrams->keeper = nm_prover_new_random();
	datagrams->known = calloc(plan->n_groups + 1, sizeof *datagrams->known);
	if (!datagrams->keeper || !datagrams->known)
		return -ENOMEM;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		if (!nm_rendezvous_listeners_serve(group, true))
			continue;
		datagrams->known[g] = calloc((size_t)group->n_flows * group->n_openings,
					     sizeof *datagrams->known[g]);
		if (!datagrams->known[g])
			return -ENOMEM;
	}
	return 0;
}

void nm_rendezvous_datagrams_fini(struct nm_rendezvous_datagrams *datagrams)
{
	for (uint32_t g = 0; datagrams->known && g < datagrams->listeners->engine->plan->n_groups;
	     g++)
		free(datagrams->known[g]);
	free(datagrams->known);
	nm_prover_free(datagrams->keeper);
}

static void reply(const struct nm_rendezvous_datagrams *datagrams,
		  const struct nm_rendezvous_socket *at, const struct nm_addr *peer,
		  const struct nm_preamble *preamble, enum nm_preamble_kind kind)
{
	char wire[NM_PREAMBLE_BYTES];

	nm_preamble_pack(preamble, kind, datagrams->listeners->prover,
			 datagrams->listeners->engine->nonce, wire);
	(void)sendto(at->fd, wire, sizeof wire, MSG_DONTWAIT | MSG_NOSIGNAL,
		     (const struct sockaddr *)&peer->sa, peer->len);
}

/* This end of a connection cannot be made, as the kernel has no port for it. Another program may
 * give some back, and the preamble will come again. */
static void tell_no_port(struct nm_rendezvous_datagrams *datagrams, const struct nm_instr *accept,
			 const struct nm_preamble *preamble)
{
	const struct nm_group *group = &datagrams->listeners->engine->plan->groups[preamble->group];
	uint64_t now_ns = nm_clock_ns();

	if (!datagrams->no_port_ns)
		datagrams->no_port_ns = now_ns;
	if (now_ns - datagrams->no_port_ns < NO_PORT_NS ||
	    atomic_load_explicit(&datagrams->lacks_port, memory_order_relaxed))
		return;
	datagrams->no_port = (struct nm_engine_error){.group = preamble->group,
						      .flow = preamble->flow,
						      .line = accept->line,
						      .flowop = accept->op->name,
						      .site = (uint32_t)(accept - group->instrs),
						      .error = EAGAIN,
						      .count = 1};
	atomic_store_explicit(&datagrams->lacks_port, true, memory_order_release);
	nm_wake(datagrams->listeners->engine->event_fd);
}

/* Makes the other end of a connection over a transport that has none of its own. The answer leaves
 * before its flow can send anything. */
static void meet(struct nm_rendezvous_datagrams *datagrams, const struct nm_rendezvous_socket *at,
		 const struct nm_addr *peer, const struct nm_instr *accept,
		 struct nm_preamble *preamble)
{
	int fd = -1;
	struct nm_preamble_known *known =
		&datagrams->known[preamble->group]
				 [nm_rendezvous_index(datagrams->listeners, preamble)];
	enum nm_preamble_verdict verdict = nm_preamble_judge(known, preamble->serial);

	if (verdict == NM_PREAMBLE_OLD)
		return;
	if (verdict == NM_PREAMBLE_NEW) {
		fd = accept->transport->datagram->accept(at->fd, accept->open.port != 0,
							 accept->open.transport_opts, peer);
		const struct nm_conn conn = {.fd = fd};

		/* A bind has one name for it, a connect another. */
		if (fd == -EADDRINUSE || fd == -EAGAIN)
			tell_no_port(datagrams, accept, preamble);
		if (fd < 0)
			return;
		datagrams->no_port_ns = 0;
		*known = (struct nm_preamble_known){
			.serial = preamble->serial,
			.port = accept->transport->datagram->port_of(&conn)};
	}
	preamble->port = known->port;
	reply(datagrams, at, peer, preamble, NM_PREAMBLE_ANSWER);
	if (fd >= 0)
		nm_rendezvous_hand_over(datagrams->listeners, preamble, fd);
}

/* A datagram has come. Until its address has returned a challenge nothing is made of it, and no
 * more bytes are sent there than have come from there. */
static void hear(struct nm_rendezvous_datagrams *datagrams, const struct nm_rendezvous_socket *at,
		 const struct nm_addr *peer, const char *wire, size_t size)
{
	struct nm_preamble hello;

	if (nm_preamble_unpack(wire, size, &hello) != NM_PREAMBLE_HELLO)
		return;
	const struct nm_instr *accept =
		nm_rendezvous_find_accept(datagrams->listeners, at->listener, peer, wire, &hello);

	if (!accept) {
		nm_strangers_note(datagrams->listeners->engine->strangers, peer);
		return;
	}
	if (nm_preamble_is_returned(&hello, datagrams->keeper, &peer->sa, peer->len))
		meet(datagrams, at, peer, accept, &hello);
	else
		reply(datagrams, at, peer, &hello, NM_PREAMBLE_CHALLENGE);
}

void nm_rendezvous_datagrams_take(struct nm_rendezvous_datagrams *datagrams,
				  const struct nm_rendezvous_socket *at)
{
	for (;;) {
		char wire[NM_PREAMBLE_BYTES + 1];
		struct nm_addr peer = {.len = sizeof peer.sa};
		ssize_t n = recvfrom(at->fd, wire, sizeof wire, MSG_DONTWAIT,
				     (struct sockaddr *)&peer.sa, &peer.len);

		if (n < 0 && errno != ECONNREFUSED)
			return;
		if (n > 0)
			hear(datagrams, at, &peer, wire, (size_t)n);
	}
}

bool nm_rendezvous_datagrams_lack_port(const struct nm_rendezvous_datagrams *datagrams,
				       struct nm_engine_error *ret_error)
{
	if (!atomic_load_explicit(&datagrams->lacks_port, memory_order_acquire))
		return false;
	*ret_error = datagrams->no_port;
	return true;
}
