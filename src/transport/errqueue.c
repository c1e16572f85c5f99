/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the error queue of a socket which sends without a copy are complete, and receives by
 * mapping pages. */
#include "transport/errqueue.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "host/procfile.h"
#include "host/syscalls.h"
#include "transport/socket.h"
#include "transport/zc_pool.h"

#define PAGE	  4096u
#define MAP_BYTES (1024u * 1024u) /* the most that one receive maps */

int nm_errqueue_begin(struct nm_conn *conn)
{
	if (conn->traits & NM_CONN_ZEROCOPY)
		return 0;
	conn->stream.zc_sent = conn->stream.zc_completed = 0;
	return nm_socket_allow_zerocopy(conn);
}

/* Counts the sends, a range, that one message of the error queue reports complete. */
static void take_told(struct nm_conn *conn, struct nm_zc_pool *pool, struct msghdr *message,
		      struct nm_completions *told)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		struct sock_extended_err error;

		if (!(c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) &&
		    !(c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
			continue;
		memcpy(&error, CMSG_DATA(c), sizeof error);
		if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY || error.ee_errno)
			continue;
		uint32_t count = error.ee_data - error.ee_info + 1;

		if (pool)
			nm_zc_pool_completed(pool, conn, error.ee_info, error.ee_data);
		else
			conn->stream.zc_completed += count;
		told->sends += count;
		if (error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
			told->copied += count;
	}
}

bool nm_errqueue_drain(struct nm_conn *conn, struct nm_zc_pool *pool, struct nm_completions *told)
{
	const uint64_t before = told->sends;

	conn->flags &= ~(uint32_t)NM_CONN_ERRQUEUE;
	for (;;) {
		/* Room for struct sock_extended_err and the address of an IPv6 peer. */
		union {
			struct cmsghdr align;
			char bytes[128];
		} control;
		struct msghdr message = {.msg_control = control.bytes,
					 .msg_controllen = sizeof control.bytes};

		if (recvmsg(conn->fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return told->sends != before;
		take_told(conn, pool, &message, told);
	}
}

#define OPTMEM	   "net.core.optmem_max"
#define OPTMEM_MIN 1024 /* a note takes an skb without data (sock_omalloc): 576 bytes on x86-64 */

void nm_errqueue_why(char *buf, size_t size)
{
	const uint64_t optmem = nm_procfile_number(OPTMEM_MIN, "/proc/sys/net/core/optmem_max");

	if (optmem < OPTMEM_MIN)
		(void)snprintf(buf, size,
			       "zerocopy: " OPTMEM " is %" PRIu64
			       " bytes, which has no room for the kernel's note of one "
			       "send; set it to %d at least, or leave out zerocopy",
			       optmem, 65536);
	else
		(void)snprintf(buf, size,
			       "zerocopy: no send was taken for 1 s: the memory that the user may "
			       "lock (ulimit -l) or " OPTMEM
			       " is too small; raise it, or leave out zerocopy");
}

static int begin_mapping(struct nm_conn *conn)
{
	void *at = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, conn->fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	conn->state = at;
	conn->traits |= NM_CONN_MAPPED;
	return 0;
}

/* Maps whole pages: bytes mapped, with *hint the bytes that must be copied before more can be; or
 * -errno. */
static ssize_t map_pages(struct nm_conn *conn, uint64_t left, uint64_t *hint)
{
	uint64_t most = left < MAP_BYTES ? left & ~(uint64_t)(PAGE - 1) : MAP_BYTES;
	struct tcp_zerocopy_receive ask = {.address = (uint64_t)(uintptr_t)conn->state,
					   .length = (uint32_t)most};
	socklen_t length = sizeof ask;

	/* The kernel first unmaps the pages of the last call. */
	if (getsockopt(conn->fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &ask, &length) < 0)
		return errno == EIO ? 0 : -errno; /* the end of the stream, which recv tells */
	*hint = ask.recv_skip_hint;
	return (ssize_t)ask.length;
}

ssize_t nm_mapped_receive(struct nm_conn *conn, void *buf, size_t room, uint64_t left,
			  uint64_t *mapped)
{
	uint64_t hint = 0;

	if (left >= PAGE) {
		int r = conn->traits & NM_CONN_MAPPED ? 0 : begin_mapping(conn);
		ssize_t n = r < 0 ? r : map_pages(conn, left, &hint);

		if (n > 0)
			*mapped += (uint64_t)n;
		if (n != 0)
			return n;
	}
	if (hint && hint < left)
		left = hint;
	return nm_sys_recv(conn->fd, buf, left < room ? (size_t)left : room, MSG_DONTWAIT);
}

void nm_mapped_end(struct nm_conn *conn)
{
	if (!(conn->traits & NM_CONN_MAPPED))
		return;
	(void)munmap(conn->state, MAP_BYTES);
	conn->state = NULL;
	conn->traits &= ~(uint32_t)NM_CONN_MAPPED;
}

void nm_socket_push(struct nm_conn *conn)
{
	conn->flags &= ~(uint32_t)NM_CONN_MORE;
	/* Ends a cork, even if there was none, and sends all bytes that wait; tcp(7). */
	(void)nm_socket_set(conn->fd, IPPROTO_TCP, TCP_CORK, 0);
}
