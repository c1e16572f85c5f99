/* SPDX-License-Identifier: Apache-2.0 */
/* One UDP socket that serves many peers: the connections of a worker's flows at the accepting end,
 * told apart by the address that a datagram comes from. What has come is kept until a flow reads
 * it; of a datagram that is its number and its length. Several come, and several go, with one call.
 * All of it is made at set-up and belongs to one worker. */
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

/* What takes datagrams of `size` bytes that are no peer's, or preambles: as long as it holds true
 * for them they are nobody's. `data` has at least the first 56 bytes. True: it was one. */
typedef bool (*nm_udp_mux_preamble_fn)(void *arg, const struct nm_addr *from, const char *data,
				       size_t size);
/* What has something to read now. */
typedef void (*nm_udp_mux_ready_fn)(void *arg, struct nm_conn *conn);
/* Receives what is there, or much of it: preambles first, then each connection that has something,
 * once. What is sent meanwhile goes out together at the end. */
void nm_udp_mux_receive(struct nm_udp_mux *mux, nm_udp_mux_preamble_fn preamble,
			nm_udp_mux_ready_fn ready, void *arg);

/* The peer at an address, or NULL; a new one, or NULL when there are too many. */
struct nm_udp_mux_peer *nm_udp_mux_find(struct nm_udp_mux *mux, const struct nm_addr *at);
struct nm_udp_mux_peer *nm_udp_mux_add(struct nm_udp_mux *mux, const struct nm_addr *at);
/* Sends something at once, which nobody counts. */
void nm_udp_mux_answer(struct nm_udp_mux *mux, const struct nm_addr *to, const char *data,
		       size_t size);
/* Makes conn the connection with a peer, until it is closed. */
void nm_udp_mux_attach(struct nm_conn *conn, struct nm_udp_mux_peer *peer);
/* Without a connection it is forgotten. */
void nm_udp_mux_forget(struct nm_udp_mux_peer *peer);

/* The hooks of its transport. */
ssize_t nm_udp_mux_recv(struct nm_conn *conn, void *buf, size_t size);
ssize_t nm_udp_mux_send(struct nm_conn *conn, const void *opts, void *data, size_t size);
void nm_udp_mux_close(struct nm_conn *conn, bool reset);

#endif
