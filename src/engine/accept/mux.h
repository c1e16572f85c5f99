/* SPDX-License-Identifier: Apache-2.0 */
/* A listening socket that stays the socket of all connections of a worker's flows, which
 * transport/udp_mux.h tells apart: the code here answers preambles and lets peers in. All on the
 * worker's thread. */
#ifndef NM_ENGINE_ACCEPT_MUX_H
#define NM_ENGINE_ACCEPT_MUX_H

#include <stdbool.h>
#include <stddef.h>

#include "flowop/flow.h"
#include "flowop/listening.h"

struct nm_mux;
struct nm_prover;
struct nm_worker;

/* Functions to call when something has come. */
struct nm_mux_events {
	void (*pending)(struct nm_worker *worker, struct nm_flow *flow); /* nm_pending_add */
	void (*message)(struct nm_worker *worker, struct nm_conn *conn);
};

/* Makes one for a listening socket of the accept, which the peers know by `text`: a port. The
 * socket is borrowed. NULL: no memory. The control thread calls it. */
struct nm_mux *nm_mux_new(struct nm_worker *worker, const struct nm_listen_fd *one,
			  const struct nm_instr *accept, const char *text);
struct nm_mux *nm_mux_free(struct nm_mux *mux); /* accepts NULL, returns NULL */
/* The keeper of the cookies of its challenges. */
struct nm_prover *nm_mux_keeper(const struct nm_mux *mux);
/* Receives the datagrams that have come, or many of them, preambles first. */
void nm_mux_receive(struct nm_mux *mux, const struct nm_mux_events *events);
/* Takes a datagram if it is a preamble. False: it belongs to a connection. */
bool nm_mux_take_preamble(struct nm_mux *mux, const struct nm_mux_events *events,
			  const struct nm_addr *from, const char *data, size_t size);

#endif
