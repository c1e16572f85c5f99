/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives that are not called but posted, with one system call for many of them:
 * io_uring(7). A ring belongs to the thread that has made it. */
#ifndef NM_TRANSPORT_RING_H
#define NM_TRANSPORT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_conn;
struct nm_ring;

enum nm_ring_kind {
	NM_RING_RECEIVED,
	NM_RING_SENT,
	NM_RING_REST,	/* sent: the rest of a send that was let go */
	NM_RING_LET_GO, /* not all bytes have gone: the result is how many have, or -EAGAIN */
	NM_RING_OTHER,	/* the descriptor that is watched, when conn is NULL and result is > 0 */
};

/* The bits of conn->waiter while a ring is in use. */
enum nm_uring_conn {
	NM_URING_POSTED = 1 << 0, /* a receive is posted */
	NM_URING_SENT = 1 << 1,	  /* a send that was posted and is waited for is done */
};

/* Something that was posted is done. */
struct nm_ring_done {
	enum nm_ring_kind kind;
	struct nm_conn *conn;
	int result; /* bytes, or -errno; 0 from a receive at the end of the stream */
};

/* For so many connections, each of which has a receive and a send at a time. 0, or -errno with a
 * phrase in why. */
int nm_ring_new(unsigned conns, struct nm_ring **ret_ring, char *why, size_t why_size);
struct nm_ring *nm_ring_free(struct nm_ring *ring); /* accepts NULL, returns NULL */
/* Whether this host lets this process have one: 0, or -errno with a phrase in why. */
int nm_ring_available(char *why, size_t why_size);

/* These post: 0 or -errno. The caller leaves the memory as it is until the post is done. A send
 * waits for room for all its bytes; when it fails half-way, the result is the bytes that had gone,
 * and the next send tells why. */
int nm_ring_send(struct nm_ring *ring, struct nm_conn *conn, const void *data, size_t size,
		 enum nm_ring_kind kind);
/* Sends without waiting for room: all bytes go once the send is handed over, which nothing reports,
 * or NM_RING_LET_GO is reported. Never pending. */
int nm_ring_let_go(struct nm_ring *ring, struct nm_conn *conn, const void *data, size_t size);
int nm_ring_receive(struct nm_ring *ring, struct nm_conn *conn, void *data, size_t size);
int nm_ring_watch(struct nm_ring *ring, int fd); /* tells each time that it becomes readable */
int nm_ring_unwatch(struct nm_ring *ring);
/* Cancels the receive of conn, or with NULL all posts: a cancelled post is done with -ECANCELED. */
int nm_ring_cancel(struct nm_ring *ring, struct nm_conn *conn);

/* Hands over all posts, and waits until one is done; timeout_ns < 0: without limit. 0 or -errno. */
int nm_ring_wait(struct nm_ring *ring, int64_t timeout_ns);
bool nm_ring_take(struct nm_ring *ring, struct nm_ring_done *ret_done); /* false: nothing is left */
unsigned nm_ring_pending(const struct nm_ring *ring); /* posted, and not taken yet */

#endif
