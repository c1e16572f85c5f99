/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of ssl and psp, which are plain TCP until both ends have shaken hands: how they are
 * opened, and the preamble that goes before, in the clear. */
#ifndef NM_TRANSPORT_HANDSHAKE_H
#define NM_TRANSPORT_HANDSHAKE_H

#include <stddef.h>

#include "transport/conn.h"

struct nm_peers;

/* The bytes that the connecting end sends first, before the handshake. */
struct nm_handshake_preamble {
	char bytes[64];
	size_t size; /* 0: nothing */
};

/* Keeps bytes that the connection is to send first; copied. */
void nm_handshake_leave_preamble(struct nm_handshake_preamble *preamble, const void *bytes,
				 size_t size);
/* Sends the preamble as the first bytes of a connection, which have room: 0 or -errno. */
int nm_handshake_send_preamble(int fd, const struct nm_handshake_preamble *preamble);

/* TCP's connect, accept and attach (inet.h), and then the transport's `attach`, which finds in
 * conn->state the result of start, puts the connection's own state there, and returns 0 or -errno.
 * On success they return -EINPROGRESS: the handshake is still to come. A connection that fails is
 * closed, but fd of nm_handshake_attach then stays the caller's. */
int nm_handshake_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to,
			 int (*attach)(struct nm_conn *));
int nm_handshake_accept(struct nm_conn *conn, int listen_fd, const void *opts,
			const struct nm_peers *peers, int (*attach)(struct nm_conn *));
int nm_handshake_attach(struct nm_conn *conn, int fd, const void *opts,
			int (*attach)(struct nm_conn *));

/* The optional functions of their sockets. */
extern const struct nm_transport_socket nm_handshake_socket;

#endif
