/* SPDX-License-Identifier: Apache-2.0 */
/* Interprets calls that have moved nothing: the cold half of io.h. */
#include "transport/io.h"

#include <errno.h>

enum nm_io_status nm_io_received_nothing(struct nm_conn *conn, ssize_t n)
{
	/* Signals also end a receive that sleeps, even a stop and a continuation of the process. */
	if (n == -EAGAIN || n == -EINTR) {
		conn->flags &= ~(uint32_t)(NM_CONN_IN | NM_CONN_HUP);
		return NM_IO_AGAIN;
	}
	return n ? NM_IO_ERROR : NM_IO_EOF;
}

enum nm_io_status nm_io_sent_nothing(struct nm_conn *conn, ssize_t n)
{
	/* In progress: the connection is not open yet, and its first packet takes no data. */
	if (n != -EAGAIN && n != -EINPROGRESS)
		return NM_IO_ERROR;
	conn->flags &= ~(uint32_t)NM_CONN_OUT;
	return NM_IO_AGAIN;
}
