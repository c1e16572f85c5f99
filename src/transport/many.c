/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/many.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/draw.h"
#include "transport/conn.h"
#include "transport/socket.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define SLOT_BYTES 65536u /* no datagram and no train is longer */

/* The most that one send is given: more spares no system calls worth mentioning, and leaves the cache. */
#define SEND_BYTES    (256u * 1024u)
#define SEND_MESSAGES 64u
/* The bounds of a train: UDP_MAX_SEGMENTS of kernels before 6.9, and the longest datagram over IPv6. */
#define TRAIN_MESSAGES 64u
#define TRAIN_BYTES    65487u

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

struct nm_many {
	char *sent, *received;
	struct mmsghdr in[NM_MANY_SLOTS], out[SEND_MESSAGES];
	struct iovec in_bytes[NM_MANY_SLOTS], out_bytes[SEND_MESSAGES];
	union control in_control[NM_MANY_SLOTS], out_control[SEND_MESSAGES];
};

/* No memory of the slots is used before something is received there. */
struct nm_many *nm_many_new(void)
{
	struct nm_many *many = calloc(1, sizeof *many);

	if (!many)
		return NULL;
	many->sent = malloc(SEND_BYTES);
	many->received = malloc((size_t)NM_MANY_SLOTS * SLOT_BYTES);
	if (!many->sent || !many->received)
		return nm_many_free(many);
	nm_draw_fill(many->sent, SEND_BYTES);
	for (unsigned i = 0; i < NM_MANY_SLOTS; i++) {
		many->in_bytes[i] = (struct iovec){.iov_base = many->received + i * SLOT_BYTES,
						   .iov_len = SLOT_BYTES};
		many->in[i].msg_hdr = (struct msghdr){.msg_iov = &many->in_bytes[i],
						      .msg_iovlen = 1,
						      .msg_control = &many->in_control[i]};
	}
	for (unsigned i = 0; i < SEND_MESSAGES; i++)
		many->out[i].msg_hdr =
			(struct msghdr){.msg_iov = &many->out_bytes[i], .msg_iovlen = 1};
	return many;
}

struct nm_many *nm_many_free(struct nm_many *many)
{
	if (many) {
		free(many->sent);
		free(many->received);
		free(many);
	}
	return NULL;
}

unsigned nm_many_most(size_t size)
{
	size_t most = SEND_BYTES / size;

	return most < 4 * TRAIN_MESSAGES ? (unsigned)most : 4 * TRAIN_MESSAGES;
}

char *nm_many_at(struct nm_many *many, size_t size, unsigned n)
{
	return many->sent + n * size;
}

/* How many datagrams one message of sendmmsg is made of. */
static unsigned train_of(const struct nm_conn *conn, size_t size)
{
	size_t most = TRAIN_BYTES / size;

	if ((conn->flags & NM_CONN_NO_TRAINS) || most < 2)
		return 1;
	return most < TRAIN_MESSAGES ? (unsigned)most : TRAIN_MESSAGES;
}

static void set_train(struct nm_many *many, unsigned i, uint16_t size)
{
	struct msghdr *header = &many->out[i].msg_hdr;

	header->msg_control = &many->out_control[i];
	header->msg_controllen = CMSG_SPACE(sizeof size);
	struct cmsghdr *control = CMSG_FIRSTHDR(header);

	control->cmsg_level = IPPROTO_UDP;
	control->cmsg_type = UDP_SEGMENT;
	control->cmsg_len = CMSG_LEN(sizeof size);
	memcpy(CMSG_DATA(control), &size, sizeof size);
}

static int send_trains(struct nm_many *many, const struct nm_conn *conn, size_t size,
		       unsigned count, unsigned train)
{
	unsigned n = 0;

	for (unsigned at = 0; at < count && n < SEND_MESSAGES; at += train, n++) {
		unsigned length = count - at < train ? count - at : train;

		many->out_bytes[n] = (struct iovec){.iov_base = many->sent + at * size,
						    .iov_len = length * size};
		many->out[n].msg_hdr.msg_control = NULL;
		many->out[n].msg_hdr.msg_controllen = 0;
		if (length > 1)
			set_train(many, n, (uint16_t)size);
	}
	int sent = sendmmsg(conn->fd, many->out, n, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0)
		return -errno;
	return (unsigned)sent * train < count ? (int)((unsigned)sent * train) : (int)count;
}

int nm_many_send(struct nm_many *many, struct nm_conn *conn, size_t size, unsigned count)
{
	unsigned train = train_of(conn, size);
	int sent = send_trains(many, conn, size, count, train);

	/* The way takes none: its packets are too small, or something on it, as IPsec, cannot. */
	if (train > 1 && (sent == -EINVAL || sent == -EIO || sent == -EMSGSIZE)) {
		conn->flags |= NM_CONN_NO_TRAINS;
		sent = send_trains(many, conn, size, count, 1);
	}
	return sent;
}

void nm_many_want_trains(struct nm_conn *conn)
{
	if (!(conn->flags & (NM_CONN_TRAINS_IN | NM_CONN_NO_TRAINS_IN)))
		(void)nm_socket_set(conn->fd, IPPROTO_UDP, UDP_GRO, 1);
	conn->flags |= NM_CONN_TRAINS_IN;
}

int nm_many_receive(struct nm_many *many, const struct nm_conn *conn, int flags)
{
	for (unsigned i = 0; i < NM_MANY_SLOTS; i++)
		many->in[i].msg_hdr.msg_controllen = sizeof many->in_control[i];
	int n = recvmmsg(conn->fd, many->in, NM_MANY_SLOTS, flags ? flags : MSG_WAITFORONE, NULL);

	return n < 0 ? -errno : n;
}

const char *nm_many_got(const struct nm_many *many, int slot, size_t *ret_size, size_t *ret_each)
{
	const struct msghdr *header = &many->in[slot].msg_hdr;
	const struct cmsghdr *control = header->msg_controllen ? CMSG_FIRSTHDR(header) : NULL;
	int each = 0;

	*ret_size = many->in[slot].msg_len;
	if (control && control->cmsg_level == IPPROTO_UDP && control->cmsg_type == UDP_GRO)
		memcpy(&each, CMSG_DATA(control), sizeof each);
	*ret_each = each > 0 ? (size_t)each : *ret_size;
	return header->msg_iov->iov_base;
}
