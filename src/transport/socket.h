/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the transports over stream sockets share. */
#ifndef NM_TRANSPORT_SOCKET_H
#define NM_TRANSPORT_SOCKET_H

#include <errno.h>
#include <stdbool.h>

#include "transport/conn.h"
#include "transport/transport.h"

/* Gives conn fd, and the flags and traits of a connection that has just been opened. */
static inline void nm_socket_begin(struct nm_conn *conn, int fd, bool accepted)
{
	conn->fd = fd;
	conn->ahead = 0;
	conn->flags = NM_CONN_OPEN | NM_CONN_OUT | (accepted ? NM_CONN_IN : 0u);
	conn->traits = (conn->traits & NM_CONN_HEARD) | (accepted ? NM_CONN_ACCEPTED : 0u);
}

/* Connects fd: 0, -EINPROGRESS, or another -errno, with which fd is closed. */
int nm_socket_connect(int fd, const struct nm_addr *to);
/* Accepts the next connection, if it comes from one of the peers (NULL: from anybody): a descriptor
 * that does not block, or -errno. */
int nm_socket_accept(int listen_fd, const struct nm_peers *peers);
void nm_socket_close(struct nm_conn *conn, bool reset);
void nm_socket_finish(struct nm_conn *conn);
/* The result of a connect that was in progress: 0 or -errno. */
int nm_socket_established(struct nm_conn *conn);
/* Whether there can be such sockets: 0 or -errno. */
int nm_socket_probe(int family, int type, int protocol);
/* fd where r is 0; otherwise r, and fd is closed. */
int nm_socket_close_on_error(int fd, int r);
/* The hook `listen` of a transport whose listeners have ports of the internet: `open` makes a
 * socket with the options, or returns -errno; fixed: the profile names the port. */
int nm_socket_listen(const void *opts, const struct nm_addr *local, enum nm_listen how, int backlog,
		     char text[NM_ENDPOINT_TEXT], int *ret_fd,
		     int (*open)(const void *opts, int family, bool fixed));
/* setsockopt of an int: 0 or -errno. */
int nm_socket_set(int fd, int level, int option, int value);
/* Lets the connection send with MSG_ZEROCOPY: 0 or -errno. */
int nm_socket_allow_zerocopy(struct nm_conn *conn);

/* Whether an accept has failed since there is no room for one more; there may be later. */
static inline bool nm_socket_lacks_room(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

#endif
