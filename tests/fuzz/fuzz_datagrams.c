/* SPDX-License-Identifier: Apache-2.0 */
/* What comes to a UDP socket that serves many peers: any datagrams from any of them, their heads
 * included. Each datagram is a byte for its peer, one for its length, and that many bytes. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "flowop/stamp.h"
#include "fuzz.h"
#include "transport/transport.h"
#include "transport/udp_mux.h"

#define PEERS 4

int __wrap_recvmmsg(int fd, struct mmsghdr *to, unsigned n, int flags, struct timespec *timeout);
int __wrap_sendmmsg(int fd, struct mmsghdr *from, unsigned n, int flags);
ssize_t __wrap_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		      socklen_t to_size);

static struct {
	const uint8_t *at, *end;
	struct nm_conn conns[PEERS];
	struct nm_conn_datagram seen[PEERS];
	struct nm_counters counts;
	uint64_t received, sent;
} net;
static struct nm_udp_mux *mux; /* for all inputs: it takes long to be made */

/* --- the network --- */

int __wrap_recvmmsg(int fd, struct mmsghdr *to, unsigned n, int flags, struct timespec *timeout)
{
	unsigned i = 0;

	(void)fd, (void)flags, (void)timeout;
	for (; i < n && net.end - net.at >= 2; i++) {
		struct sockaddr_in from = {.sin_family = AF_INET,
					   .sin_port = htons(net.at[0]),
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		size_t length = net.at[1], there = (size_t)(net.end - net.at) - 2;

		length = length < there ? length : there;
		memcpy(to[i].msg_hdr.msg_iov->iov_base, net.at + 2, length);
		memcpy(to[i].msg_hdr.msg_name, &from, sizeof from);
		to[i].msg_hdr.msg_namelen = sizeof from;
		to[i].msg_len = (unsigned)length;
		net.at += 2 + length;
		net.received++;
	}
	errno = EAGAIN;
	return i ? (int)i : -1;
}

int __wrap_sendmmsg(int fd, struct mmsghdr *from, unsigned n, int flags)
{
	(void)fd, (void)from, (void)flags;
	net.sent += n;
	return (int)n;
}

ssize_t __wrap_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		      socklen_t to_size)
{
	(void)fd, (void)data, (void)flags, (void)to, (void)to_size;
	net.sent++;
	return (ssize_t)size;
}

/* --- who has the socket --- */

/* A datagram of a port that is known and has no connection yet begins one. */
static bool let_in(void *arg, const struct nm_addr *from, const char *data, size_t size)
{
	unsigned i = ntohs(((const struct sockaddr_in *)(const void *)&from->sa)->sin_port);

	(void)arg, (void)data, (void)size;
	if (i >= PEERS || net.conns[i].state)
		return false;
	struct nm_udp_mux_peer *peer = nm_udp_mux_add(mux, from);

	demand(peer != NULL);
	nm_udp_mux_attach(&net.conns[i], peer);
	net.conns[i].transport = nm_transport_find("udp");
	return true;
}

static void take_head(unsigned i, const char *data, size_t size)
{
	struct nm_stamp stamp;
	char again[NM_STAMP_BYTES];

	demand(nm_stamp_unpack(data, size, &stamp) == (size >= NM_STAMP_NUMBERS));
	if (size < NM_STAMP_NUMBERS)
		return;
	size = size < sizeof again ? size : sizeof again;
	size = size < sizeof again ? NM_STAMP_NUMBERS : size;
	nm_stamp_pack(&stamp, again, size);
	demand(memcmp(again, data, size) == 0);
	(void)nm_stamp_is_late(&stamp, &net.seen[i]);
	if (nm_stamp_note_number(&net.seen[i], &net.counts, stamp.number) && stamp.sent_ns)
		nm_stamp_note_time(&net.seen[i], &net.counts, stamp.sent_ns, 1000);
}

static void take(void *arg, struct nm_conn *conn)
{
	char data[256];
	ssize_t n;

	(void)arg;
	while ((n = nm_udp_mux_recv(conn, data, sizeof data)) >= 0) {
		take_head((unsigned)(conn - net.conns), data,
			  (size_t)n < NM_STAMP_BYTES ? (size_t)n : NM_STAMP_BYTES);
		if (n == 7)
			(void)nm_udp_mux_send(conn, NULL, data, (size_t)n);
		if (n == 5) { /* the flow has had enough */
			nm_udp_mux_close(conn, false);
			return;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	memset(&net, 0, sizeof net);
	net.at = data;
	net.end = data + size;
	if (!mux)
		mux = nm_udp_mux_new(-1, PEERS);
	demand(mux != NULL);
	while (net.end - net.at >= 2)
		nm_udp_mux_receive(mux, let_in, take, NULL);
	demand(net.sent <= net.received);
	for (int i = 0; i < PEERS; i++)
		if (net.conns[i].state)
			nm_udp_mux_close(&net.conns[i], false);
	return 0;
}
