/* SPDX-License-Identifier: Apache-2.0 */
/* One UDP socket that serves many peers: the connections of a worker's flows at the accepting end,
 * told apart by the address that a datagram comes from. The first bytes of a datagram, with its
 * number, and its length are kept until a flow reads them. One call receives several datagrams, or
 * sends several. A mux is made at set-up, with all its memory, and belongs to one worker. */
#ifndef NM_TRANSPORT_UDP_MUX_H
#define NM_TRANSPORT_UDP_MUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/conn.h"

struct nm_udp_mux;
struct nm_udp_mux_peer;
struct nm_transport;

/* fd: bound, borrowed. n_conns: connections at a time, at most. NULL: no memory. */
struct nm_udp_mux *nm_udp_mux_new(int fd, uint32_t n_conns);
struct nm_udp_mux *nm_udp_mux_free(struct nm_udp_mux *mux); /* accepts NULL, returns NULL */

/* Called for each datagram, of `size` bytes, before its peer is looked up: takes preambles. `data`
 * has at least the first 56 bytes. True: the datagram is taken, and no peer gets it. */
typedef bool (*nm_udp_mux_preamble_fn)(void *arg, const struct nm_addr *from, const char *data,
				       size_t size);
/* Called for a connection that has something to read now. */
typedef void (*nm_udp_mux_ready_fn)(void *arg, struct nm_conn *conn);
/* Receives the datagrams that have come, or many of them, some with each call: preambles first,
 * then each connection that has got some, once. Datagrams sent meanwhile go out together at the
 * end. */
void nm_udp_mux_receive(struct nm_udp_mux *mux, nm_udp_mux_preamble_fn preamble,
			nm_udp_mux_ready_fn ready, void *arg);

/* The peer at an address, or NULL; a new one, or NULL when there are too many. */
struct nm_udp_mux_peer *nm_udp_mux_find(struct nm_udp_mux *mux, const struct nm_addr *at);
struct nm_udp_mux_peer *nm_udp_mux_add(struct nm_udp_mux *mux, const struct nm_addr *at);
/* Sends a datagram at once, which nobody counts. */
void nm_udp_mux_answer(struct nm_udp_mux *mux, const struct nm_addr *to, const char *data,
		       size_t size);
/* Makes conn the connection with a peer, until it is closed. */
void nm_udp_mux_attach(struct nm_conn *conn, struct nm_udp_mux_peer *peer);
/* Forgets a peer and its datagrams; the close of its connection does so, too. */
void nm_udp_mux_forget(struct nm_udp_mux_peer *peer);

/* The hooks of its transport. */
ssize_t nm_udp_mux_recv(struct nm_conn *conn, void *buf, size_t size);
ssize_t nm_udp_mux_send(struct nm_conn *conn, const void *opts, void *data, size_t size);
void nm_udp_mux_close(struct nm_conn *conn, bool reset);

#endif
