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
#include "transport/uncopied.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define SLOT_BYTES 65536u /* no datagram and no train is longer */

/* The most that one send is given: more spares no system calls worth mentioning, and leaves the
 * cache. */
#define SEND_BYTES    (256u * 1024u)
#define SEND_MESSAGES 64u
/* The bounds of a train: UDP_MAX_SEGMENTS of kernels before 6.9, and the longest datagram over
 * IPv6. */
#define TRAIN_MESSAGES 64u
#define TRAIN_BYTES    65487u

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* What the next send is made of: parts of the same number of datagrams, but for the last. */
struct layout {
	size_t size;
	unsigned count, part,
		/* datagrams: all, of a part, and of a train, which a part has whole ones of */
		train;
	bool uncopied;
	/* Where they are sent without a copy. */
	char *parts[4 * TRAIN_MESSAGES];
	unsigned slots[4 * TRAIN_MESSAGES];
};

struct nm_many {
	char *sent, *received;
	struct nm_uncopied *uncopied; /* NULL: nothing is sent so */
	struct layout laid;
	struct mmsghdr in[NM_MANY_SLOTS], out[SEND_MESSAGES];
	struct iovec in_bytes[NM_MANY_SLOTS], out_bytes[SEND_MESSAGES];
	union control in_control[NM_MANY_SLOTS], out_control[SEND_MESSAGES];
};

/* No memory of the slots is used before something is received there. */
struct nm_many *nm_many_new(unsigned uncopied)
{
	struct nm_many *many = calloc(1, sizeof *many);

	if (!many)
		return NULL;
	many->sent = malloc(SEND_BYTES);
	many->received = malloc((size_t)NM_MANY_SLOTS * SLOT_BYTES);
	if (uncopied)
		many->uncopied = nm_uncopied_new(uncopied);
	if (!many->sent || !many->received || (uncopied && !many->uncopied))
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
		many->uncopied = nm_uncopied_free(many->uncopied);
		free(many);
	}
	return NULL;
}

struct nm_uncopied *nm_many_uncopied(const struct nm_many *many)
{
	return many->uncopied;
}

/* The most datagrams of that size that one send takes; at least 1. */
static unsigned most_of(size_t size)
{
	size_t most = SEND_BYTES / size;

	return most < 4 * TRAIN_MESSAGES ? (unsigned)most : 4 * TRAIN_MESSAGES;
}

/* How many datagrams one message of sendmmsg is made of. */
static unsigned train_of(const struct nm_conn *conn, size_t size)
{
	size_t most = TRAIN_BYTES / size;

	if ((conn->flags & NM_CONN_NO_TRAINS) || most < 2)
		return 1;
	return most < TRAIN_MESSAGES ? (unsigned)most : TRAIN_MESSAGES;
}

unsigned nm_many_lay(struct nm_many *many, const struct nm_conn *conn, size_t size, unsigned count,
		     bool uncopied)
{
	struct layout *laid = &many->laid;
	/* Also where each is a message of its own, several are in one buffer. */
	size_t most = TRAIN_BYTES / size < TRAIN_MESSAGES ? TRAIN_BYTES / size : TRAIN_MESSAGES;
	unsigned n = 0;

	if (count > most_of(size))
		count = most_of(size);
	laid->size = size;
	laid->train = train_of(conn, size);
	laid->uncopied = uncopied;
	laid->part = most ? (unsigned)most : 1;
	for (unsigned at = 0; uncopied && at < count; at += laid->part, n++) {
		laid->parts[n] = nm_uncopied_take(many->uncopied, conn, &laid->slots[n]);
		if (!laid->parts[n])
			return laid->count = at;
	}
	return laid->count = count;
}

char *nm_many_at(const struct nm_many *many, unsigned n)
{
	const struct layout *laid = &many->laid;

	if (!laid->uncopied)
		return many->sent + n * laid->size;
	return laid->parts[n / laid->part] + n % laid->part * laid->size;
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

static int send_trains(struct nm_many *many, struct nm_conn *conn)
{
	const struct layout *laid = &many->laid;
	unsigned n = 0, train = laid->train;

	for (unsigned at = 0; at < laid->count && n < SEND_MESSAGES; at += train, n++) {
		unsigned length = laid->count - at < train ? laid->count - at : train;

		many->out_bytes[n] = (struct iovec){.iov_base = nm_many_at(many, at),
						    .iov_len = length * laid->size};
		many->out[n].msg_hdr.msg_control = NULL;
		many->out[n].msg_hdr.msg_controllen = 0;
		if (length > 1)
			set_train(many, n, (uint16_t)laid->size);
	}
	int sent = sendmmsg(conn->fd, many->out, n,
			    MSG_DONTWAIT | MSG_NOSIGNAL | (laid->uncopied ? MSG_ZEROCOPY : 0));

	if (sent < 0)
		return -errno;
	for (int i = 0; i < sent && laid->uncopied; i++)
		nm_uncopied_sent(many->uncopied, laid->slots[(unsigned)i * train / laid->part],
				 conn);
	return (unsigned)sent * train < laid->count ? (int)((unsigned)sent * train)
						    : (int)laid->count;
}

int nm_many_send(struct nm_many *many, struct nm_conn *conn)
{
	int sent = send_trains(many, conn);

	/* The way takes none: its packets are too small, or something on it, as IPsec, cannot. */
	if (many->laid.train > 1 && (sent == -EINVAL || sent == -EIO || sent == -EMSGSIZE)) {
		conn->flags |= NM_CONN_NO_TRAINS;
		many->laid.train = 1;
		sent = send_trains(many, conn);
	}
	for (unsigned at = 0; at < many->laid.count && many->laid.uncopied; at += many->laid.part)
		nm_uncopied_give_back(many->uncopied, many->laid.slots[at / many->laid.part]);
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
