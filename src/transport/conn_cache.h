/* SPDX-License-Identifier: Apache-2.0 */
/* Where each pass of a flow has a connection of its own, an end leaves work for which the other
 * need not wait until the flow waits itself: the connecting end makes the socket of its next
 * connection, and has the close of the present one abort it; the accepting end closes a connection
 * that was reset once it has answered on the next one. One flow, with one connection at a time. */
#ifndef NM_TRANSPORT_CONN_CACHE_H
#define NM_TRANSPORT_CONN_CACHE_H

#include <stdbool.h>

#include "transport/conn.h"

struct nm_transport;

struct nm_conn_cache {
	int made_fd; /* of the next connection (nm_transport_socket.make); owned; -1: none */
	struct nm_conn closing; /* reset by the other end, and to be closed; fd -1: none */
	/* The transport whose sockets are made ahead, their options, and the address to connect to;
	 * NULL: none are made. */
	const struct nm_transport *transport;
	const void *opts;
	const struct nm_addr *endpoint;
	bool resets; /* this end's close of a connection is a reset, and waits for nothing */
};

/* Empty, and makes no sockets ahead. */
void nm_conn_cache_init(struct nm_conn_cache *cache);
/* Closes the sockets that it has. May be called again. */
void nm_conn_cache_fini(struct nm_conn_cache *cache);
/* The flow is about to wait on conn. */
void nm_conn_cache_idle(struct nm_conn_cache *cache, struct nm_conn *conn);
/* The socket that the next connection takes, which is the caller's from then on; -1: none. */
int nm_conn_cache_take(struct nm_conn_cache *cache);
/* Takes over conn, which the other end has reset, to close it later: conn may be opened again.
 * False: there is no room, and the caller closes it. */
bool nm_conn_cache_put(struct nm_conn_cache *cache, struct nm_conn *conn);

#endif
