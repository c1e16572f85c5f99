/* SPDX-License-Identifier: Apache-2.0 */
/* One UDP socket for many peers: finds the peer of each datagram, and keeps datagrams until they
 * are read. */
#include "transport/udp_mux.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/rng.h"
#include "transport/transport.h"

#define SLOTS	   32u	  /* datagrams that one call receives or sends */
#define SLOT_BYTES 65536u /* no datagram is longer */
#define HEAD_BYTES 16u	  /* of a datagram, which are kept and may differ */
#define ROUNDS	   8u	  /* calls that receive, before others have their turn */
/* Datagrams that may wait to be read: further ones are lost, as in a full socket. */
#define RECORDS_EACH 16u
#define RECORDS_MIN  4096u

struct record {
	struct record *next;
	uint32_t size;
	char head[HEAD_BYTES];
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct nm_udp_mux_peer {
	struct nm_udp_mux *mux;
	struct nm_udp_mux_peer *next;  /* in its bucket, or of the free ones */
	struct nm_udp_mux_peer *ready; /* the next that has something new */
	bool is_ready;		       /* it has something new */
	struct nm_conn *conn; /* NULL: it has sent its preamble, and nobody has accepted it yet */
	struct record *first, *last;
	union address at;
	socklen_t at_len;
};

struct nm_udp_mux {
	int fd;
	bool gathers; /* sends wait for flush */
	uint32_t n_out;
	uint32_t mask; /* buckets - 1 */
	struct nm_udp_mux_peer **buckets, *peers, *free_peers, *ready;
	struct record *records, *free_records;
	char *received, *payload;
	struct mmsghdr in[SLOTS], out[SLOTS];
	struct iovec in_bytes[SLOTS], out_bytes[SLOTS][2];
	union address from[SLOTS], to[SLOTS];
	char heads[SLOTS][HEAD_BYTES];
};

static int prepare(struct nm_udp_mux *mux, uint32_t n_conns)
{
	/* Connections that are closed here may be followed by new peers, which need room before
	 * their preambles are accepted. */
	uint32_t n_peers = 2 * n_conns + 64, buckets = 64;
	uint32_t n_records =
		n_conns > RECORDS_MIN / RECORDS_EACH ? n_conns * RECORDS_EACH : RECORDS_MIN;

	while (buckets < 2 * n_peers)
		buckets *= 2;
	mux->mask = buckets - 1;
	mux->buckets = calloc(buckets, sizeof(struct nm_udp_mux_peer *));
	mux->peers = calloc(n_peers, sizeof *mux->peers);
	mux->records = calloc(n_records, sizeof *mux->records);
	mux->received = malloc((size_t)SLOTS * SLOT_BYTES);
	mux->payload = malloc(SLOT_BYTES);
	if (!mux->buckets || !mux->peers || !mux->records || !mux->received || !mux->payload)
		return -ENOMEM;
	nm_rng_fill(mux->payload, SLOT_BYTES);
	for (uint32_t i = 0; i < n_peers; i++) {
		mux->peers[i] = (struct nm_udp_mux_peer){.mux = mux, .next = mux->free_peers};
		mux->free_peers = &mux->peers[i];
	}
	for (uint32_t i = 0; i < n_records; i++) {
		mux->records[i].next = mux->free_records;
		mux->free_records = &mux->records[i];
	}
	return 0;
}

struct nm_udp_mux *nm_udp_mux_new(int fd, uint32_t n_conns)
{
	struct nm_udp_mux *mux = calloc(1, sizeof *mux);

	if (!mux)
		return NULL;
	mux->fd = fd;
	if (prepare(mux, n_conns) < 0)
		return nm_udp_mux_free(mux);
	for (unsigned i = 0; i < SLOTS; i++) {
		mux->in_bytes[i] = (struct iovec){.iov_base = mux->received + i * SLOT_BYTES,
						  .iov_len = SLOT_BYTES};
		mux->in[i].msg_hdr = (struct msghdr){
			.msg_iov = &mux->in_bytes[i], .msg_iovlen = 1, .msg_name = &mux->from[i]};
		mux->out_bytes[i][0].iov_base = mux->heads[i];
		mux->out_bytes[i][1].iov_base = mux->payload;
		mux->out[i].msg_hdr =
			(struct msghdr){.msg_iov = mux->out_bytes[i], .msg_name = &mux->to[i]};
	}
	return mux;
}

struct nm_udp_mux *nm_udp_mux_free(struct nm_udp_mux *mux)
{
	if (mux) {
		free(mux->buckets);
		free(mux->peers);
		free(mux->records);
		free(mux->received);
		free(mux->payload);
		free(mux);
	}
	return NULL;
}

/* --- peers --- */

static bool is_same(const union address *a, const union address *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	if (a->any.sa_family == AF_INET)
		return a->v4.sin_port == b->v4.sin_port &&
		       a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
	return a->v6.sin6_port == b->v6.sin6_port && a->v6.sin6_scope_id == b->v6.sin6_scope_id &&
	       memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, sizeof a->v6.sin6_addr) == 0;
}

static struct nm_udp_mux_peer **bucket_of(const struct nm_udp_mux *mux, const union address *at)
{
	uint64_t words[2] = {0, 0};
	uint16_t port = at->v4.sin_port; /* sockaddr_in6 has its port there, too */

	if (at->any.sa_family == AF_INET)
		words[0] = at->v4.sin_addr.s_addr;
	else
		memcpy(words, &at->v6.sin6_addr, sizeof words);
	return &mux->buckets[nm_rng(nm_rng(words[0], words[1]), port) & mux->mask];
}

static struct nm_udp_mux_peer *find(struct nm_udp_mux *mux, const union address *at)
{
	struct nm_udp_mux_peer *peer = *bucket_of(mux, at);

	while (peer && !is_same(&peer->at, at))
		peer = peer->next;
	return peer;
}

static union address address_of(const struct nm_addr *at)
{
	union address address = {.any = {.sa_family = AF_UNSPEC}};

	memcpy(&address, &at->sa, at->len < sizeof address ? at->len : sizeof address);
	return address;
}

struct nm_udp_mux_peer *nm_udp_mux_find(struct nm_udp_mux *mux, const struct nm_addr *at)
{
	union address address = address_of(at);

	return find(mux, &address);
}

struct nm_udp_mux_peer *nm_udp_mux_add(struct nm_udp_mux *mux, const struct nm_addr *at)
{
	struct nm_udp_mux_peer *peer = mux->free_peers, **bucket;

	if (!peer)
		return NULL;
	mux->free_peers = peer->next;
	*peer = (struct nm_udp_mux_peer){.mux = mux, .at = address_of(at), .at_len = at->len};
	bucket = bucket_of(mux, &peer->at);
	peer->next = *bucket;
	*bucket = peer;
	return peer;
}

static void drop_records(struct nm_udp_mux_peer *peer)
{
	struct record *record;

	while ((record = peer->first)) {
		peer->first = record->next;
		record->next = peer->mux->free_records;
		peer->mux->free_records = record;
	}
}

void nm_udp_mux_forget(struct nm_udp_mux_peer *peer)
{
	struct nm_udp_mux *mux = peer->mux;
	struct nm_udp_mux_peer **at = bucket_of(mux, &peer->at);

	while (*at != peer)
		at = &(*at)->next;
	*at = peer->next;
	for (at = &mux->ready; peer->is_ready && *at; at = &(*at)->ready) {
		if (*at == peer) {
			*at = peer->ready;
			break;
		}
	}
	drop_records(peer);
	peer->conn = NULL;
	peer->is_ready = false;
	peer->next = mux->free_peers;
	mux->free_peers = peer;
}

void nm_udp_mux_attach(struct nm_conn *conn, struct nm_udp_mux_peer *peer)
{
	*conn = (struct nm_conn){.fd = peer->mux->fd,
				 /* The worker that has the socket reports it for all. */
				 .traits = NM_CONN_ACCEPTED,
				 .flags = NM_CONN_OPEN | NM_CONN_OUT | NM_CONN_IN | NM_CONN_ARMED |
					  NM_CONN_ARMED_OUT,
				 .transport = conn->transport,
				 .state = peer,
				 .flow = conn->flow,
				 .number = conn->number,
				 .bind_count = conn->bind_count,
				 .zc_slot = conn->zc_slot};
	peer->conn = conn;
}

/* --- receiving --- */

static void note_ready(struct nm_udp_mux *mux, struct nm_udp_mux_peer *peer)
{
	if (peer->is_ready)
		return;
	peer->is_ready = true;
	peer->ready = mux->ready;
	mux->ready = peer;
}

static void keep(struct nm_udp_mux *mux, struct nm_udp_mux_peer *peer, const char *data,
		 uint32_t size)
{
	struct record *record = mux->free_records;

	if (!record)
		return;
	mux->free_records = record->next;
	*record = (struct record){.size = size};
	memcpy(record->head, data, size < HEAD_BYTES ? size : HEAD_BYTES);
	if (peer->first)
		peer->last->next = record;
	else
		peer->first = record;
	peer->last = record;
	note_ready(mux, peer);
}

static void take(struct nm_udp_mux *mux, unsigned slot, nm_udp_mux_preamble_fn preamble, void *arg)
{
	const char *data = mux->received + slot * SLOT_BYTES;
	uint32_t size = mux->in[slot].msg_len;
	struct nm_addr from = {.len = mux->in[slot].msg_hdr.msg_namelen};

	memcpy(&from.sa, &mux->from[slot], sizeof mux->from[slot]);
	if (preamble(arg, &from, data, size))
		return;
	struct nm_udp_mux_peer *peer = find(mux, &mux->from[slot]);

	if (peer)
		keep(mux, peer, data, size);
}

static int receive_some(struct nm_udp_mux *mux, nm_udp_mux_preamble_fn preamble, void *arg)
{
	for (unsigned i = 0; i < SLOTS; i++)
		mux->in[i].msg_hdr.msg_namelen = sizeof mux->from[i];
	int n = recvmmsg(mux->fd, mux->in, SLOTS, MSG_DONTWAIT, NULL);

	for (int i = 0; i < n; i++)
		take(mux, (unsigned)i, preamble, arg);
	return n;
}

/* How long it waits for room, ms. */
#define ROOM_MS 10

/* All peers share the socket, and so all wait for its room. A message that cannot be sent for
 * another reason is lost, like one that the network drops: it is too long for the path, or its host
 * does not answer. */
static void flush(struct nm_udp_mux *mux)
{
	struct pollfd room = {.fd = mux->fd, .events = POLLOUT};
	uint32_t done = 0;

	while (done < mux->n_out) {
		int n = sendmmsg(mux->fd, mux->out + done, mux->n_out - done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0)
			done += (uint32_t)n;
		else if (errno != EAGAIN || poll(&room, 1, ROOM_MS) == 0)
			done++;
	}
	mux->n_out = 0;
}

void nm_udp_mux_receive(struct nm_udp_mux *mux, nm_udp_mux_preamble_fn preamble,
			nm_udp_mux_ready_fn ready, void *arg)
{
	unsigned rounds = 0;
	int n;

	mux->gathers = true;
	do {
		n = receive_some(mux, preamble, arg);
		while (mux->ready) {
			struct nm_udp_mux_peer *peer = mux->ready;

			mux->ready = peer->ready;
			peer->is_ready = false;
			if (peer->conn)
				ready(arg, peer->conn);
		}
		flush(mux);
	} while (n == SLOTS && ++rounds < ROUNDS);
	mux->gathers = false;
}

void nm_udp_mux_answer(struct nm_udp_mux *mux, const struct nm_addr *to, const char *data,
		       size_t size)
{
	(void)sendto(mux->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL,
		     (const struct sockaddr *)&to->sa, to->len);
}

/* --- the transport --- */

ssize_t nm_udp_mux_recv(struct nm_conn *conn, void *buf, size_t size)
{
	struct nm_udp_mux_peer *peer = conn->state;
	struct record *record = peer->first;

	if (!record)
		return -EAGAIN;
	uint32_t length = record->size < size ? record->size : (uint32_t)size;

	memcpy(buf, record->head, length < HEAD_BYTES ? length : HEAD_BYTES);
	peer->first = record->next;
	record->next = peer->mux->free_records;
	peer->mux->free_records = record;
	return length;
}

ssize_t nm_udp_mux_send(struct nm_conn *conn, const void *opts, void *data, size_t size)
{
	struct nm_udp_mux_peer *peer = conn->state;
	struct nm_udp_mux *mux = peer->mux;
	size_t head = size < HEAD_BYTES ? size : HEAD_BYTES;

	(void)opts;
	if (!mux->gathers) {
		ssize_t n = sendto(mux->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL, &peer->at.any,
				   peer->at_len);

		/* Nobody reports room: the flow tries again in its next turn. */
		return n >= 0 ? n : errno == EAGAIN ? -ENOBUFS : -errno;
	}
	if (mux->n_out == SLOTS)
		flush(mux);
	struct msghdr *header = &mux->out[mux->n_out].msg_hdr;

	memcpy(mux->heads[mux->n_out], data, head);
	mux->out_bytes[mux->n_out][0].iov_len = head;
	mux->out_bytes[mux->n_out][1].iov_len = size - head;
	header->msg_iovlen = size > head ? 2 : 1;
	mux->to[mux->n_out] = peer->at;
	header->msg_namelen = peer->at_len;
	mux->n_out++;
	return (ssize_t)size;
}

void nm_udp_mux_close(struct nm_conn *conn, bool reset)
{
	(void)reset;
	if (conn->state)
		nm_udp_mux_forget(conn->state);
	conn->state = NULL;
	conn->fd = -1;
	conn->flags = 0;
	conn->traits = 0;
}
