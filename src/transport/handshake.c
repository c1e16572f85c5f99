/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that are TCP's until both ends have shaken hands: what ssl and psp have in common. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "host/syscalls.h"
#include "transport/handshake.h"
#include "transport/inet.h"
#include "transport/socket.h"

void nm_handshake_leave_preamble(struct nm_handshake_preamble *preamble, const void *bytes,
				 size_t size)
{
	assert(size <= sizeof preamble->bytes);
	memcpy(preamble->bytes, bytes, size);
	preamble->size = size;
}

int nm_handshake_send_preamble(int fd, const struct nm_handshake_preamble *preamble)
{
	if (!preamble->size)
		return 0;
	ssize_t n = nm_sys_send(fd, preamble->bytes, preamble->size, MSG_NOSIGNAL);

	if (n < (ssize_t)preamble->size)
		return n < 0 ? (int)n : -EMSGSIZE;
	return 0;
}

static int attach_or_close(struct nm_conn *conn, int (*attach)(struct nm_conn *))
{
	int r = attach(conn);

	if (r < 0) {
		nm_socket_close(conn, true);
		return r;
	}
	return -EINPROGRESS;
}

int nm_handshake_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to,
			 int (*attach)(struct nm_conn *))
{
	int r = nm_inet_connect(conn, opts, to);

	return r < 0 && r != -EINPROGRESS ? r : attach_or_close(conn, attach);
}

int nm_handshake_accept(struct nm_conn *conn, int listen_fd, const void *opts,
			const struct nm_peers *peers, int (*attach)(struct nm_conn *))
{
	int r = nm_inet_accept(conn, listen_fd, opts, peers);

	return r < 0 ? r : attach_or_close(conn, attach);
}

int nm_handshake_attach(struct nm_conn *conn, int fd, const void *opts,
			int (*attach)(struct nm_conn *))
{
	int r = nm_inet_attach(conn, fd, opts);

	if (r == 0)
		r = attach(conn);
	if (r == 0)
		return -EINPROGRESS;
	conn->fd = -1;
	conn->flags = 0;
	conn->traits &= NM_CONN_HEARD;
	return r;
}

const struct nm_transport_socket nm_handshake_socket = {
	NM_INET_HOOKS,
	.tx_delay_ns = nm_inet_tx_delay_ns,
};
