/* SPDX-License-Identifier: Apache-2.0 */
/* Moves nothing, at once and without a system call: what remains is the cost of the engine
 * itself. */
#include <errno.h>

#include "transport/transport.h"

struct null_opts {
	bool unused;
};

static const struct nm_opt null_opts[] = {NM_OPT_END};

static int null_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	(void)opts;
	(void)to;
	conn->fd = -1;
	conn->ahead = 0;
	/* HUP: a receive always finds something, however short the last one was. */
	conn->flags = NM_CONN_OPEN | NM_CONN_OUT | NM_CONN_IN | NM_CONN_HUP;
	return 0;
}

static int null_accept(struct nm_conn *conn, int listen_fd, const void *opts,
		       const struct nm_peers *peers)
{
	(void)listen_fd;
	(void)peers;
	return null_connect(conn, opts, NULL);
}

static int null_established(struct nm_conn *conn)
{
	(void)conn;
	return 0;
}

static ssize_t null_send(struct nm_conn *conn, const void *opts, void *data, size_t size)
{
	(void)conn;
	(void)opts;
	(void)data;
	return (ssize_t)size;
}

static ssize_t null_recv(struct nm_conn *conn, void *data, size_t size)
{
	(void)conn;
	(void)data;
	/* Receives ask for one byte more than the message: do not send it. */
	return (ssize_t)(size > 1 ? size - 1 : size);
}

static void null_close(struct nm_conn *conn, bool reset)
{
	(void)reset;
	conn->flags = 0;
}

const struct nm_transport nm_transport_null = {
	.name = "null",
	.help = "no network at all: every operation succeeds at once, which measures the engine "
		"itself",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_NO_PEER,
	.opts = null_opts,
	.opts_size = sizeof(struct null_opts),
	.connect = null_connect,
	.established = null_established,
	.accept = null_accept,
	.close = null_close,
	.send = null_send,
	.recv = null_recv,
};
