/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives that are posted to io_uring. */
#include "transport/ring.h"

#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/conn.h"

#define MOST_POSTS 4096u /* that are handed over with one call */

struct nm_ring {
	struct io_uring uring;
	unsigned pending;
	int watched; /* -1: nothing */
};

/* A kind in the low bits, where a connection's address has none. */
#define KIND_MASK 7u

static uint64_t tag(const struct nm_conn *conn, enum nm_ring_kind kind)
{
	return (uint64_t)(uintptr_t)conn | (uint64_t)kind;
}

/* A cancellation, whose result nobody needs, and the watched descriptor. */
#define TAG_CANCEL ((uint64_t)NM_RING_OTHER)
#define TAG_WATCH  ((uint64_t)NM_RING_OTHER | (KIND_MASK + 1))

static void explain(int error, char *why, size_t why_size)
{
	if (error == -EINVAL)
		snprintf(why, why_size, "io_uring here is older than Linux 6.1");
	else if (error == -ENOSYS)
		snprintf(why, why_size, "this kernel has no io_uring");
	else if (error == -EPERM || error == -EACCES)
		snprintf(why, why_size,
			 "this process may not use io_uring (see the sysctl "
			 "kernel.io_uring_disabled, and the container's seccomp profile)");
	else
		snprintf(why, why_size, "io_uring: %s", strerror(-error));
}

int nm_ring_new(unsigned conns, struct nm_ring **ret_ring, char *why, size_t why_size)
{
	const unsigned posts = conns < MOST_POSTS / 2 ? 2 * conns + 2 : MOST_POSTS;
	/* Completions are made when this thread asks for them, and do not interrupt it. */
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE,
		.cq_entries = 2 * conns + 2};
	struct nm_ring *ring = calloc(1, sizeof(*ring));

	*ret_ring = NULL;
	if (!ring) {
		explain(-ENOMEM, why, why_size);
		return -ENOMEM;
	}
	if (params.cq_entries < posts)
		params.cq_entries = posts;
	ring->watched = -1;
	int r = io_uring_queue_init_params(posts, &ring->uring, &params);

	if (r < 0) {
		explain(r, why, why_size);
		free(ring);
		return r;
	}
	/* Spares the kernel a look-up with each call; without it the ring works as well. */
	(void)io_uring_register_ring_fd(&ring->uring);
	*ret_ring = ring;
	return 0;
}

struct nm_ring *nm_ring_free(struct nm_ring *ring)
{
	if (ring)
		io_uring_queue_exit(&ring->uring);
	free(ring);
	return NULL;
}

int nm_ring_available(char *why, size_t why_size)
{
	struct nm_ring *ring;
	int r = nm_ring_new(1, &ring, why, why_size);

	nm_ring_free(ring);
	return r;
}

/* The next place for a post; NULL: there is none, even after earlier posts are handed over. */
static struct io_uring_sqe *place(struct nm_ring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->uring);

	if (__builtin_expect(!sqe, 0)) {
		(void)io_uring_submit(&ring->uring);
		sqe = io_uring_get_sqe(&ring->uring);
	}
	return sqe;
}

static void post(struct nm_ring *ring, struct io_uring_sqe *sqe, uint64_t data)
{
	io_uring_sqe_set_data64(sqe, data);
	ring->pending++;
}

int nm_ring_send(struct nm_ring *ring, struct nm_conn *conn, const void *data, size_t size,
		 enum nm_ring_kind kind)
{
	struct io_uring_sqe *sqe = place(ring);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_send(sqe, conn->fd, data, size, MSG_NOSIGNAL | MSG_WAITALL);
	post(ring, sqe, tag(conn, kind));
	return 0;
}

int nm_ring_let_go(struct nm_ring *ring, struct nm_conn *conn, const void *data, size_t size)
{
	struct io_uring_sqe *sqe = place(ring);

	if (!sqe)
		return -EBUSY;
	/* All of it or a failure: a send of less would be a success otherwise, and not be
	 * reported. */
	io_uring_prep_send(sqe, conn->fd, data, size, MSG_NOSIGNAL | MSG_WAITALL | MSG_DONTWAIT);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	io_uring_sqe_set_data64(sqe, tag(conn, NM_RING_LET_GO));
	return 0;
}

int nm_ring_receive(struct nm_ring *ring, struct nm_conn *conn, void *data, size_t size)
{
	struct io_uring_sqe *sqe = place(ring);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_recv(sqe, conn->fd, data, size, 0);
	/* Nothing has come yet, most of the time. */
	sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
	post(ring, sqe, tag(conn, NM_RING_RECEIVED));
	return 0;
}

int nm_ring_watch(struct nm_ring *ring, int fd)
{
	struct io_uring_sqe *sqe = place(ring);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	post(ring, sqe, TAG_WATCH);
	ring->watched = fd;
	return 0;
}

static int cancel(struct nm_ring *ring, uint64_t what, int how)
{
	struct io_uring_sqe *sqe = place(ring);

	if (!sqe)
		return -EBUSY;
	io_uring_prep_cancel64(sqe, what, how);
	post(ring, sqe, TAG_CANCEL);
	return 0;
}

int nm_ring_unwatch(struct nm_ring *ring)
{
	ring->watched = -1;
	return cancel(ring, TAG_WATCH, 0);
}

int nm_ring_cancel(struct nm_ring *ring, struct nm_conn *conn)
{
	return conn ? cancel(ring, tag(conn, NM_RING_RECEIVED), 0)
		    : cancel(ring, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
}

int nm_ring_wait(struct nm_ring *ring, int64_t timeout_ns)
{
	struct io_uring_cqe *cqe;
	struct __kernel_timespec ts = {.tv_sec = timeout_ns / 1000000000,
				       .tv_nsec = timeout_ns % 1000000000};
	/* With completions left to take, a call that waits would not look for further ones. */
	int r = timeout_ns == 0 || io_uring_cq_ready(&ring->uring)
			? io_uring_submit_and_get_events(&ring->uring)
			: io_uring_submit_and_wait_timeout(&ring->uring, &cqe, 1,
							   timeout_ns < 0 ? NULL : &ts, NULL);

	/* Taking completions makes room for posts that could not be handed over. */
	return r >= 0 || r == -ETIME || r == -EINTR || r == -EAGAIN || r == -EBUSY ? 0 : r;
}

bool nm_ring_take(struct nm_ring *ring, struct nm_ring_done *ret_done)
{
	struct io_uring_cqe *cqe;

	if (io_uring_peek_cqe(&ring->uring, &cqe) < 0)
		return false;
	uint64_t data = cqe->user_data;
	bool more = cqe->flags & IORING_CQE_F_MORE;

	*ret_done = (struct nm_ring_done){
		.kind = (enum nm_ring_kind)(data & KIND_MASK),
		.conn = (struct nm_conn *)(uintptr_t)(data & ~(uint64_t)KIND_MASK),
		.result = cqe->res};
	io_uring_cqe_seen(&ring->uring, cqe);
	ring->pending -= !more && ret_done->kind != NM_RING_LET_GO;
	if (__builtin_expect(ret_done->kind == NM_RING_OTHER, 0)) {
		ret_done->conn = NULL;
		ret_done->result = data == TAG_WATCH && ret_done->result > 0;
		if (data == TAG_WATCH && !more && ring->watched >= 0)
			(void)nm_ring_watch(ring, ring->watched);
	}
	return true;
}

unsigned nm_ring_pending(const struct nm_ring *ring)
{
	return ring->pending;
}
