/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets of UDP in the simulated kernel. A datagram is an event at the host that it is for; some
 * are lost, come twice, or overtake others. */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "object.h"
#include "world.h"

#define ROOM 256 /* datagrams that wait to be read */

struct sim_datagram {
	struct sim_datagram *next;
	unsigned host, sender; /* it is for; the socket that has sent it */
	uint64_t sender_life;
	uint32_t from, to;
	uint16_t from_port, to_port;
	size_t size;
	char data[];
};

/* The socket that takes it: one that is connected to its sender, or one that takes any. 0: none. */
static unsigned find_taker(const struct sim_datagram *datagram)
{
	unsigned any = 0;

	for (unsigned i = 1; i < sim_kernel.n_places; i++) {
		const struct object *object = sim_kernel.objects[i];

		if (!object || object->kind != DATAGRAM || object->host != datagram->host ||
		    object->port != datagram->to_port)
			continue;
		if (object->peer_port == datagram->from_port &&
		    object->peer_address == datagram->from)
			return i;
		/* Of several the one that was bound last takes it. */
		if (!object->peer_port && (!any || object->bound > sim_kernel.objects[any]->bound))
			any = i;
	}
	return any;
}

static void emit(struct sim_datagram *datagram, void (*what)(void *arg))
{
	if (sim_fault_heals_ns() > sim_now()) {
		free(datagram);
		return;
	}
	sim_at(sim_now() + sim_kernel.config.delay_ns + sim_random(sim_kernel.config.jitter_ns + 1),
	       what, datagram);
}

/* The message of ICMP that nobody takes it; only connected sockets hear of it. */
static void unreachable_arrives(void *arg)
{
	struct sim_datagram *datagram = arg;
	struct object *sender = sim_kernel.lives[datagram->sender] == datagram->sender_life
					? sim_kernel.objects[datagram->sender]
					: NULL;

	if (sender && sender->peer_port == datagram->to_port) {
		sender->error = ECONNREFUSED;
		sender->edges[EDGE_ANY]++;
	}
	free(datagram);
}

static void arrive(void *arg)
{
	struct sim_datagram *datagram = arg;
	unsigned at = find_taker(datagram);
	struct object *taker = at ? sim_kernel.objects[at] : NULL;
	struct sim_datagram **last = taker ? &taker->datagrams : NULL;

	sim_trace(taker ? "datagram" : "unreachable", (int64_t)at, (int64_t)datagram->size);
	if (!taker) {
		emit(datagram, unreachable_arrives);
		return;
	}
	if (taker->n_datagrams == ROOM) {
		free(datagram);
		return;
	}
	while (*last)
		last = &(*last)->next;
	*last = datagram;
	taker->n_datagrams++;
	taker->edges[EDGE_IN]++;
}

static void send_one(struct object *from, unsigned at, const void *data, size_t size, uint32_t to,
		     uint16_t to_port)
{
	struct sim_datagram *datagram = sim_new(sizeof *datagram + size);

	datagram->sender = at;
	datagram->sender_life = sim_kernel.lives[at];
	datagram->host = sim_host_at(from, to);
	datagram->from = from->address ? from->address : sim_address_towards(from, to);
	datagram->to = to;
	datagram->from_port = from->port;
	datagram->to_port = to_port;
	datagram->size = size;
	memcpy(datagram->data, data, size);
	emit(datagram, arrive);
}

ssize_t sim_datagram_send(int fd, const void *data, size_t size, const struct sockaddr *to)
{
	struct object *object = sim_object_of(fd, DATAGRAM);
	unsigned copies = 1;

	if (!object->port)
		object->port = sim_free_port();
	if (size > UINT16_MAX)
		return -EMSGSIZE;
	if (!to && !object->peer_port)
		return -EDESTADDRREQ;
	if (object->error)
		return -sim_take_error(object);
	if (object->fin_out)
		return -EPIPE;
	object->edges[EDGE_OUT]++; /* its memory is given back on the way */
	if (sim_kernel.config.lose_in && sim_once_in(sim_kernel.config.lose_in))
		copies = 2 * (unsigned)sim_random(2);
	for (unsigned i = 0; i < copies; i++)
		send_one(object, sim_place_of(fd), data, size,
			 to ? sim_address_of(to) : object->peer_address,
			 to ? sim_port_of(to) : object->peer_port);
	return (ssize_t)size;
}

ssize_t sim_datagram_recv(int fd, void *data, size_t size, int flags, struct sockaddr *from,
			  socklen_t *from_size)
{
	struct object *object = sim_object_of(fd, DATAGRAM);

	if (flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_TRUNC | MSG_WAITFORONE | MSG_PEEK))
		sim_unknown("a receive of datagrams with flags", flags);
	if (!object->n_datagrams && !object->error && !sim_sleeps(object, EPOLLIN, flags, "recv"))
		return -EAGAIN;
	if (object->error)
		return -sim_take_error(object);
	struct sim_datagram *datagram = object->datagrams;
	size_t whole = datagram->size;

	memcpy(data, datagram->data, whole < size ? whole : size);
	if (from)
		sim_put_address(from, from_size, datagram->from, datagram->from_port);
	if (!(flags & MSG_PEEK)) {
		object->datagrams = datagram->next;
		object->n_datagrams--;
		sim_kernel.state.carried_bytes += whole;
		free(datagram);
	}
	return (ssize_t)(flags & MSG_TRUNC || whole < size ? whole : size);
}

int sim_sendmmsg(int fd, struct mmsghdr *messages, unsigned count)
{
	int fault = sim_call("send", (long)count);

	if (fault)
		return fault;
	if (!sim_object_of(fd, DATAGRAM))
		sim_unknown("sendmmsg", fd);
	for (unsigned i = 0; i < count; i++) {
		const struct msghdr *header = &messages[i].msg_hdr;

		if (header->msg_iovlen != 1 || header->msg_controllen)
			sim_unknown("sendmmsg in parts", (long)header->msg_iovlen);
		ssize_t n = sim_datagram_send(fd, header->msg_iov->iov_base,
					      header->msg_iov->iov_len, header->msg_name);

		if (n < 0)
			return i ? (int)i : (int)n;
		messages[i].msg_len = (unsigned)n;
	}
	return (int)count;
}

int sim_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	int fault = sim_call("recv", (long)count);

	if (fault)
		return fault;
	if (!sim_object_of(fd, DATAGRAM))
		sim_unknown("recvmmsg", fd);
	for (unsigned i = 0; i < count; i++) {
		struct msghdr *header = &messages[i].msg_hdr;
		bool waits = i == 0 || !(flags & MSG_WAITFORONE);
		ssize_t n =
			sim_datagram_recv(fd, header->msg_iov->iov_base, header->msg_iov->iov_len,
					  waits ? flags : flags | MSG_DONTWAIT, header->msg_name,
					  header->msg_name ? &header->msg_namelen : NULL);

		if (n < 0)
			return i ? (int)i : (int)n;
		messages[i].msg_len = (unsigned)n;
		header->msg_controllen = 0;
	}
	return (int)count;
}

void sim_datagrams_close(struct object *object)
{
	while (object->datagrams) {
		struct sim_datagram *gone = object->datagrams;

		object->datagrams = gone->next;
		free(gone);
	}
}
