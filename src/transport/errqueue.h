/* SPDX-License-Identifier: Apache-2.0 */
/* Moving bytes without copying them: MSG_ZEROCOPY (Documentation/networking/msg_zerocopy.rst of
 * Linux) and TCP_ZEROCOPY_RECEIVE (linux/tcp.h). */
#ifndef NM_TRANSPORT_ERRQUEUE_H
#define NM_TRANSPORT_ERRQUEUE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/conn.h"

/* With so many sends of a connection not reported complete, the reports are read even where nothing
 * waits for them. */
#define NM_ZEROCOPY_PENDING 64u

struct nm_zc_pool;

struct nm_completions {
	uint64_t sends,
		copied; /* that are complete; of them, those for which the kernel has made a copy */
};

/* Called before each such send over TCP: the first call allows the socket to send so, and the
 * counts of the connection begin. 0 or -errno. */
int nm_errqueue_begin(struct nm_conn *conn);
/* Takes all that the kernel has reported by now, and adds it up in told. pool: it has the buffers
 * that were sent; NULL: none, over TCP. True when there was something. */
bool nm_errqueue_drain(struct nm_conn *conn, struct nm_zc_pool *pool, struct nm_completions *told);

/* Why the kernel takes no send without a copy (ENOBUFS), though it has none left to report. */
void nm_errqueue_why(char *buf, size_t size);

/* Receives at most `left` bytes: maps whole pages, and copies other bytes into buf, which has room
 * for `room` bytes. Returns the bytes, 0 at the end of the stream, or -errno; *mapped grows by the
 * bytes that were mapped. The first receive of a connection makes its mapping, which is conn->state
 * until nm_mapped_end. */
ssize_t nm_mapped_receive(struct nm_conn *conn, void *buf, size_t room, uint64_t left,
			  uint64_t *mapped);
void nm_mapped_end(struct nm_conn *conn);

/* Sends the bytes that MSG_MORE holds back. */
void nm_socket_push(struct nm_conn *conn);

#endif
