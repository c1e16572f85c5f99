/* SPDX-License-Identifier: Apache-2.0 */
/* Sending and receiving over any transport, without a detour where it is plain sockets. */
#ifndef NM_TRANSPORT_IO_H
#define NM_TRANSPORT_IO_H

#include "host/syscalls.h"
#include "transport/transport.h"

/* Neither can be interrupted by a signal: they never sleep, whatever the socket is set to. */
static inline ssize_t nm_conn_send(const struct nm_transport *transport, struct nm_conn *conn,
				   const void *opts, void *data, size_t size)
{
	if (transport->send)
		return transport->send(conn, opts, data, size);
	return nm_sys_send(conn->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline ssize_t nm_conn_recv(const struct nm_transport *transport, struct nm_conn *conn,
				   void *data, size_t size)
{
	if (transport->recv)
		return transport->recv(conn, data, size);
	return nm_sys_recv(conn->fd, data, size, MSG_DONTWAIT);
}

#endif
