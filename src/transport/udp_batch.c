/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams in batches: sendmmsg(2) and recvmmsg(2), with segmentation by the kernel (GSO, GRO). */
#include "transport/udp_batch.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/rng.h"
#include "transport/conn.h"
#include "transport/socket.h"
#include "transport/zc_pool.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define SLOT_BYTES 65536u /* no datagram and no gso is longer */

/* The most bytes and messages of one send: more would spare no system calls worth mentioning, and
 * leave the cache. */
#define SEND_BYTES    (256u * 1024u)
#define SEND_MESSAGES 64u
/* The bounds of a train: UDP_MAX_SEGMENTS of kernels before 6.9, and the longest datagram over
 * IPv6. */
#define GSO_MESSAGES 64u
#define GSO_BYTES    65487u

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The datagrams of the next send, in parts that have equally many, but for the last. */
struct staged {
	size_t size;
	unsigned count, part,
		/* datagrams: all, of a part, and of a gso, of which a part has whole ones */
		gso;
	bool zerocopy;
	/* The buffers of the parts, where they are sent without a copy. */
	char *parts[4 * GSO_MESSAGES];
	unsigned slots[4 * GSO_MESSAGES];
};

struct nm_udp_batch {
	char *sent, *received;
	struct nm_zc_pool *zc_pool; /* NULL: all sends copy */
	struct staged staged;
	struct mmsghdr in[NM_UDP_BATCH_SLOTS], out[SEND_MESSAGES];
	struct iovec in_bytes[NM_UDP_BATCH_SLOTS], out_bytes[SEND_MESSAGES];
	union control in_control[NM_UDP_BATCH_SLOTS], out_control[SEND_MESSAGES];
};

/* No memory of the slots is used before something is received there. */
struct nm_udp_batch *nm_udp_batch_new(unsigned uncopied)
{
	struct nm_udp_batch *batch = calloc(1, sizeof *batch);

	if (!batch)
		return NULL;
	batch->sent = malloc(SEND_BYTES);
	batch->received = malloc((size_t)NM_UDP_BATCH_SLOTS * SLOT_BYTES);
	if (uncopied)
		batch->zc_pool = nm_zc_pool_new(uncopied);
	if (!batch->sent || !batch->received || (uncopied && !batch->zc_pool))
		return nm_udp_batch_free(batch);
	nm_rng_fill(batch->sent, SEND_BYTES);
	for (unsigned i = 0; i < NM_UDP_BATCH_SLOTS; i++) {
		batch->in_bytes[i] = (struct iovec){.iov_base = batch->received + i * SLOT_BYTES,
						    .iov_len = SLOT_BYTES};
		batch->in[i].msg_hdr = (struct msghdr){.msg_iov = &batch->in_bytes[i],
						       .msg_iovlen = 1,
						       .msg_control = &batch->in_control[i]};
	}
	for (unsigned i = 0; i < SEND_MESSAGES; i++)
		batch->out[i].msg_hdr =
			(struct msghdr){.msg_iov = &batch->out_bytes[i], .msg_iovlen = 1};
	return batch;
}

struct nm_udp_batch *nm_udp_batch_free(struct nm_udp_batch *batch)
{
	if (batch) {
		free(batch->sent);
		free(batch->received);
		batch->zc_pool = nm_zc_pool_free(batch->zc_pool);
		free(batch);
	}
	return NULL;
}

struct nm_zc_pool *nm_udp_batch_zc_pool(const struct nm_udp_batch *batch)
{
	return batch->zc_pool;
}

/* The most datagrams of that size that one send takes; at least 1. */
static unsigned most_of(size_t size)
{
	size_t most = SEND_BYTES / size;

	return most < 4 * GSO_MESSAGES ? (unsigned)most : 4 * GSO_MESSAGES;
}

/* How many datagrams one message of sendmmsg is made of. */
static unsigned gso_of(const struct nm_conn *conn, size_t size)
{
	size_t most = GSO_BYTES / size;

	if ((conn->traits & NM_CONN_NO_GSO) || most < 2)
		return 1;
	return most < GSO_MESSAGES ? (unsigned)most : GSO_MESSAGES;
}

unsigned nm_udp_batch_stage(struct nm_udp_batch *batch, const struct nm_conn *conn, size_t size,
			    unsigned count, bool zerocopy)
{
	struct staged *staged = &batch->staged;
	/* Even where each datagram is a message of its own, several are in one buffer. */
	size_t most = GSO_BYTES / size < GSO_MESSAGES ? GSO_BYTES / size : GSO_MESSAGES;
	unsigned n = 0;

	if (count > most_of(size))
		count = most_of(size);
	staged->size = size;
	staged->gso = gso_of(conn, size);
	staged->zerocopy = zerocopy;
	staged->part = most ? (unsigned)most : 1;
	for (unsigned at = 0; zerocopy && at < count; at += staged->part, n++) {
		staged->parts[n] = nm_zc_pool_take(batch->zc_pool, conn, &staged->slots[n]);
		if (!staged->parts[n])
			return staged->count = at;
	}
	return staged->count = count;
}

char *nm_udp_batch_staged(const struct nm_udp_batch *batch, unsigned n)
{
	const struct staged *staged = &batch->staged;

	if (!staged->zerocopy)
		return batch->sent + n * staged->size;
	return staged->parts[n / staged->part] + n % staged->part * staged->size;
}

static void set_gso(struct nm_udp_batch *batch, unsigned i, uint16_t size)
{
	struct msghdr *header = &batch->out[i].msg_hdr;

	header->msg_control = &batch->out_control[i];
	header->msg_controllen = CMSG_SPACE(sizeof size);
	struct cmsghdr *control = CMSG_FIRSTHDR(header);

	control->cmsg_level = IPPROTO_UDP;
	control->cmsg_type = UDP_SEGMENT;
	control->cmsg_len = CMSG_LEN(sizeof size);
	memcpy(CMSG_DATA(control), &size, sizeof size);
}

static int send_gso(struct nm_udp_batch *batch, struct nm_conn *conn)
{
	const struct staged *staged = &batch->staged;
	unsigned n = 0, gso = staged->gso;

	for (unsigned at = 0; at < staged->count && n < SEND_MESSAGES; at += gso, n++) {
		unsigned length = staged->count - at < gso ? staged->count - at : gso;

		batch->out_bytes[n] = (struct iovec){.iov_base = nm_udp_batch_staged(batch, at),
						     .iov_len = length * staged->size};
		batch->out[n].msg_hdr.msg_control = NULL;
		batch->out[n].msg_hdr.msg_controllen = 0;
		if (length > 1)
			set_gso(batch, n, (uint16_t)staged->size);
	}
	int sent = sendmmsg(conn->fd, batch->out, n,
			    MSG_DONTWAIT | MSG_NOSIGNAL | (staged->zerocopy ? MSG_ZEROCOPY : 0));

	if (sent < 0)
		return -errno;
	for (int i = 0; i < sent && staged->zerocopy; i++)
		nm_zc_pool_sent(batch->zc_pool, staged->slots[(unsigned)i * gso / staged->part],
				conn);
	return (unsigned)sent * gso < staged->count ? (int)((unsigned)sent * gso)
						    : (int)staged->count;
}

int nm_udp_batch_send(struct nm_udp_batch *batch, struct nm_conn *conn)
{
	int sent = send_gso(batch, conn);

	/* The path takes no trains: its packets are too small, or something on it, as IPsec, takes
	 * none. */
	if (batch->staged.gso > 1 && (sent == -EINVAL || sent == -EIO || sent == -EMSGSIZE)) {
		conn->traits |= NM_CONN_NO_GSO;
		batch->staged.gso = 1;
		sent = send_gso(batch, conn);
	}
	for (unsigned at = 0; at < batch->staged.count && batch->staged.zerocopy;
	     at += batch->staged.part)
		nm_zc_pool_give_back(batch->zc_pool, batch->staged.slots[at / batch->staged.part]);
	return sent;
}

unsigned nm_udp_batch_packets(const struct nm_udp_batch *batch, unsigned n)
{
	return (n + batch->staged.gso - 1) / batch->staged.gso;
}

void nm_udp_batch_want_gro(struct nm_conn *conn)
{
	if (!(conn->traits & (NM_CONN_GRO | NM_CONN_NO_GRO)))
		(void)nm_socket_set(conn->fd, IPPROTO_UDP, UDP_GRO, 1);
	conn->traits |= NM_CONN_GRO;
}

int nm_udp_batch_receive(struct nm_udp_batch *batch, const struct nm_conn *conn, int flags)
{
	for (unsigned i = 0; i < NM_UDP_BATCH_SLOTS; i++)
		batch->in[i].msg_hdr.msg_controllen = sizeof batch->in_control[i];
	int n = recvmmsg(conn->fd, batch->in, NM_UDP_BATCH_SLOTS, flags ? flags : MSG_WAITFORONE,
			 NULL);

	return n < 0 ? -errno : n;
}

const char *nm_udp_batch_segment(const struct nm_udp_batch *batch, int slot, size_t *ret_size,
				 size_t *ret_each)
{
	const struct msghdr *header = &batch->in[slot].msg_hdr;
	const struct cmsghdr *control = header->msg_controllen ? CMSG_FIRSTHDR(header) : NULL;
	int each = 0;

	*ret_size = batch->in[slot].msg_len;
	if (control && control->cmsg_level == IPPROTO_UDP && control->cmsg_type == UDP_GRO)
		memcpy(&each, CMSG_DATA(control), sizeof each);
	*ret_each = each > 0 ? (size_t)each : *ret_size;
	return header->msg_iov->iov_base;
}
