/* SPDX-License-Identifier: Apache-2.0 */
/* Preambles that come as datagrams to listeners of the rendezvous, over transports without
 * connections: each is challenged, then answered, and makes the connection. The control thread
 * calls init and fini, before and after the rendezvous's thread. */
#ifndef NM_ENGINE_ACCEPT_RENDEZVOUS_DATAGRAMS_H
#define NM_ENGINE_ACCEPT_RENDEZVOUS_DATAGRAMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct nm_preamble_known;
struct nm_prover;
struct nm_rendezvous_listeners;
struct nm_rendezvous_socket;

struct nm_rendezvous_datagrams {
	const struct nm_rendezvous_listeners *listeners; /* borrowed */
	/* by group, then by flow and opening: the last answered preamble, as the answer may be
	 * lost; NULL: the group has no such accept; owned */
	struct nm_preamble_known **known;
	struct nm_prover *keeper; /* of the cookies of challenges; owned */
	uint64_t no_port_ns;	  /* since when there is none; 0: there was one */
	/* The first accept for which this host had no port left for long, set once. */
	_Atomic bool lacks_port;
	struct nm_engine_error no_port;
};

/* 0 or -ENOMEM; nm_rendezvous_datagrams_fini is to be called in any case. */
int nm_rendezvous_datagrams_init(struct nm_rendezvous_datagrams *datagrams,
				 const struct nm_rendezvous_listeners *listeners);
/* Accepts zeros. */
void nm_rendezvous_datagrams_fini(struct nm_rendezvous_datagrams *datagrams);
/* Reads all preambles that are queued at a socket of a listener. The rendezvous's thread calls
 * it. */
void nm_rendezvous_datagrams_take(struct nm_rendezvous_datagrams *datagrams,
				  const struct nm_rendezvous_socket *at);
/* Whether a flow waits for a connection in vain, as this host has no port for its end. Any
 * thread. */
bool nm_rendezvous_datagrams_lack_port(const struct nm_rendezvous_datagrams *datagrams,
				       struct nm_engine_error *ret_error);

#endif
