/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets of TCP in the simulated kernel. A connection is two sockets that know each other; what
 * one sends is an event at the other, after the delay of the link and in order. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "control/options.h"
#include "object.h"
#include "world.h"

#define SYN_AGAIN_NS UINT64_C(1000000000)

/* A segment on its way. */
struct segment {
	void (*arrive)(struct segment *segment);
	unsigned to, from;
	uint64_t to_life, from_life;
	uint16_t port;
	size_t size;
	char data[];
};

/* --- segments --- */

static void data_arrives(struct segment *segment);
static void fin_arrives(struct segment *segment);
static void refuse(const struct segment *segment);

static void arrive(void *arg)
{
	struct segment *segment = arg;

	if (sim_kernel.objects[segment->to] && sim_kernel.lives[segment->to] == segment->to_life)
		segment->arrive(segment);
	else if (segment->arrive == data_arrives || segment->arrive == fin_arrives)
		refuse(segment);
	free(segment);
}

static struct segment *new_segment(unsigned from, unsigned to, uint64_t to_life, size_t size,
				   void (*what)(struct segment *segment))
{
	struct segment *segment = sim_grow(NULL, sizeof *segment + size);

	*segment = (struct segment){.arrive = what,
				    .from = from,
				    .to = to,
				    .from_life = sim_kernel.lives[from],
				    .to_life = to_life,
				    .size = size};
	return segment;
}

static struct segment *to_peer(unsigned from, size_t size, void (*what)(struct segment *segment))
{
	const struct object *object = sim_kernel.objects[from];

	return new_segment(from, object->peer, object->peer_life, size, what);
}

/* Sends a segment, of a socket behind all that it has sent before. */
static void emit(struct object *from, struct segment *segment)
{
	uint64_t at_ns = sim_arrival_ns() + sim_random(sim_kernel.config.jitter_ns + 1);

	if (from && at_ns < from->clear_ns)
		at_ns = from->clear_ns;
	if (from)
		from->clear_ns = at_ns;
	sim_at(at_ns, arrive, segment);
}

/* What a receiver has room for. What is behind that has not come yet, as the end and a reset show;
 * as bytes that can be read it has. */
static size_t window_of(const struct object *object)
{
	size_t half = sim_kernel.config.send_buffer / 2;

	return half < object->low_water ? object->low_water : half;
}

static void break_off(unsigned at, int error)
{
	struct object *object = sim_kernel.objects[at];

	object->reset = true;
	object->error = error;
	object->state = CLOSED;
	object->fin_waits = false;
	object->peer = 0;
	object->gave_port = !object->keeps_port;
	if (object->rx_size > window_of(object))
		object->rx_size = window_of(object);
	object->edges[EDGE_ANY]++;
	if (!object->refs && (!object->is_new || object->count))
		sim_discard(at);
}

static void reset_arrives(struct segment *segment)
{
	struct object *object = sim_kernel.objects[segment->to];

	sim_trace("rst", (int64_t)segment->to, 0);
	if (object->reset || (object->fin_in && object->fin_out && object->refs))
		return;
	break_off(segment->to, object->state == CONNECTING ? ECONNREFUSED
			       : object->fin_in		   ? EPIPE
							   : ECONNRESET);
}

/* Answers a segment that nobody takes. */
static void refuse(const struct segment *segment)
{
	if (sim_kernel.objects[segment->from] &&
	    sim_kernel.lives[segment->from] == segment->from_life)
		emit(NULL,
		     new_segment(segment->to, segment->from, segment->from_life, 0, reset_arrives));
}

/* Whether it is a control connection. */
static bool is_control(const struct object *object)
{
	return object->port == NM_DEFAULT_PORT || object->peer_port == NM_DEFAULT_PORT;
}

void sim_tell_bytes(struct object *object)
{
	object->edges[EDGE_IN] +=
		object->fin_in || (object->rx_size && object->rx_size >= object->low_water);
}

static void data_arrives(struct segment *segment)
{
	struct object *object = sim_kernel.objects[segment->to];

	if (!object->refs && object->fin_out) { /* closed: nobody will read it */
		refuse(segment);
		break_off(segment->to, 0);
		return;
	}
	if (object->state != ESTABLISHED)
		return;
	sim_append(object, segment->data, segment->size);
	object->heard_ns = sim_now();
	sim_tell_bytes(object);
	if (!is_control(object))
		sim_kernel.state.carried_bytes += segment->size;
	sim_trace("data", (int64_t)segment->to, (int64_t)segment->size);
}

static void room_arrives(struct segment *segment)
{
	struct object *object = sim_kernel.objects[segment->to];

	bool had_room = sim_has_room(object);

	object->held -= segment->size;
	object->heard_ns = sim_now();
	object->stuffed = false;
	object->edges[EDGE_OUT] += !had_room && sim_has_room(object);
}

/* Both ends have closed: nothing remains. */
static void end_if_over(unsigned at)
{
	struct object *object = sim_kernel.objects[at];

	if (!object->refs && object->fin_in && object->fin_out && !object->peer)
		sim_discard(at);
}

static void fin_arrives(struct segment *segment)
{
	struct object *object = sim_kernel.objects[segment->to];

	object->fin_waits = (object->refs || object->is_new) && object->rx_size > window_of(object);
	if (object->fin_waits)
		return;
	sim_trace("fin", (int64_t)segment->to, 0);
	object->fin_in = true;
	object->gave_port = object->fin_out && !object->keeps_port;
	object->edges[EDGE_ANY]++;
	if (object->fin_out && !object->refs) {
		object->peer = 0;
		end_if_over(segment->to);
	}
}

static void send_fin(unsigned at)
{
	struct object *object = sim_kernel.objects[at];

	object->fin_out = true;
	object->gave_port = object->fin_in && !object->keeps_port;
	if (object->peer)
		emit(object, to_peer(at, 0, fin_arrives));
}

/* --- connecting --- */

static void syn_arrives(struct segment *segment);

static unsigned find_listener(unsigned host, uint16_t port)
{
	unsigned found = 0, n = 0;

	for (unsigned i = 1; i < sim_kernel.n_places; i++) {
		struct object *object = sim_kernel.objects[i];

		if (object && object->kind == LISTENER && object->host == host &&
		    object->port == port && sim_random(++n) == 0)
			found = i;
	}
	return found;
}

static void send_syn(unsigned from, uint16_t port, uint64_t after_ns)
{
	unsigned listener = find_listener(
		sim_host_at(sim_kernel.objects[from], sim_kernel.objects[from]->peer_address),
		port);
	struct segment *segment =
		new_segment(from, listener, sim_kernel.lives[listener], 0, syn_arrives);

	segment->port = port;
	if (listener) {
		sim_at(sim_arrival_ns() + after_ns, arrive, segment);
		return;
	}
	segment->to = from;
	segment->to_life = sim_kernel.lives[from];
	segment->arrive = reset_arrives;
	sim_at(sim_now() + after_ns + 2 * sim_kernel.config.delay_ns, arrive, segment);
}

/* The last part of the handshake: the connection can be accepted. */
static void ack_arrives(struct segment *segment)
{
	struct object *object = sim_kernel.objects[segment->to];
	unsigned listener = object->count ? (unsigned)object->count - 1 : 0;
	struct object *at = sim_kernel.objects[listener];

	object->count = 0;
	if (!at || at->kind != LISTENER) {
		refuse(segment);
		sim_discard(segment->to);
		return;
	}
	at->queue[at->queued++] = segment->to;
	at->edges[EDGE_IN]++;
	sim_trace("acceptable", (int64_t)segment->to, 0);
}

static void syn_ack_arrives(struct segment *segment)
{
	struct object *object = sim_kernel.objects[segment->to];

	if (object->state != CONNECTING) {
		refuse(segment);
		return;
	}
	object->state = ESTABLISHED;
	object->peer = segment->from;
	object->peer_life = segment->from_life;
	object->edges[EDGE_ANY]++;
	sim_trace("connected", (int64_t)segment->to, 0);
	emit(object, to_peer(segment->to, 0, ack_arrives));
}

static void syn_arrives(struct segment *segment)
{
	struct object *listener = sim_kernel.objects[segment->to];
	struct object *from = sim_kernel.lives[segment->from] == segment->from_life
				      ? sim_kernel.objects[segment->from]
				      : NULL;

	if (!from || from->state != CONNECTING)
		return;
	if (listener->queued > listener->backlog) { /* it is dropped, and sent again */
		send_syn(segment->from, segment->port, SYN_AGAIN_NS);
		return;
	}
	unsigned at = sim_make(STREAM, 0, true);
	struct object *object = sim_kernel.objects[at];

	object->host = listener->host;
	object->address = from->peer_address;
	object->peer_address = from->address;
	object->state = ESTABLISHED;
	object->told = TOLD;
	object->is_new = true;
	object->peer = segment->from;
	object->peer_life = segment->from_life;
	object->port = segment->port;
	object->peer_port = from->port;
	object->sleep_ns = listener->sleep_ns;
	object->count = (uint64_t)segment->to + 1; /* of the listener, until it is in its queue */
	emit(object, to_peer(at, 0, syn_ack_arrives));
}

/* --- sockets --- */

int sim_listen(int fd, int backlog)
{
	int error, fault = sim_call("listen", fd);
	struct object *object = sim_socket_of(fd, &error);

	if (fault)
		return fault;
	if (!object)
		return -error;
	if (object->kind != STREAM && object->kind != LISTENER)
		return -EOPNOTSUPP;
	if (object->kind == STREAM && (object->state != CLOSED || object->told != NOT_CALLED))
		return -EINVAL;
	object->kind = LISTENER;
	object->port = object->port ? object->port : sim_free_port();
	object->backlog = backlog < 200 ? (unsigned)backlog : 200;
	return 0;
}

/* What a connect that has begun before, or waits, says of its end. */
static int tell_connected(struct object *object)
{
	if (object->state == CONNECTING)
		return -EALREADY;
	if (!sim_is_over(object)) {
		object->told = TOLD;
		return 0;
	}
	int error = sim_take_error(object);

	/* It can be connected once more. */
	object->told = NOT_CALLED;
	object->edges[EDGE_ANY]++;
	object->reset = object->fin_in = object->fin_out = false;
	object->rx_size = 0;
	object->peer_port = 0;
	object->peer_address = 0;
	if (!object->bound)
		object->address = 0;
	return error ? -error : -ECONNABORTED;
}

int sim_stream_connect(struct object *object, unsigned at, const struct sockaddr *addr)
{
	if (object->told == TOLD || object->kind == LISTENER)
		return -EISCONN;
	if (object->told == NOT_TOLD)
		return tell_connected(object);
	sim_name_ends(object, addr);
	object->told = NOT_TOLD;
	object->state = CONNECTING;
	send_syn(at, object->peer_port, 0);
	if (!object->blocks)
		return -EINPROGRESS;
	(void)sim_sleeps(object, EPOLLOUT, 0, "connect");
	return tell_connected(object);
}

int sim_accept(int fd, struct sockaddr *addr, socklen_t *size, int flags)
{
	int error, fault = sim_call("accept", fd);
	struct object *object = sim_socket_of(fd, &error);

	if (fault)
		return fault;
	if (!object)
		return -error;
	if (object->kind != LISTENER)
		return object->kind == STREAM ? -EINVAL : -EOPNOTSUPP;
	if (!object->queued && !sim_sleeps(object, EPOLLIN, 0, "accept"))
		return -EAGAIN;
	unsigned at = object->queue[0];
	struct object *accepted = sim_kernel.objects[at];

	memmove(object->queue, object->queue + 1, --object->queued * sizeof *object->queue);
	accepted->refs = 1;
	accepted->is_new = false;
	sim_kernel.state.connections += !is_control(accepted);
	accepted->blocks = !(flags & SOCK_NONBLOCK);
	int accepted_fd = sim_give(at);

	if (addr)
		sim_put_address(addr, size, accepted->peer_address, accepted->peer_port);
	return accepted_fd;
}

/* In one segment or in several, which may arrive apart. */
static void send_bytes(struct object *object, unsigned at, const char *data, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		size_t n = size - sent;

		if (n > 1 && sim_is_partial())
			n = 1 + (size_t)sim_random(n);
		struct segment *segment = to_peer(at, n, data_arrives);

		memcpy(segment->data, data + sent, n);
		emit(object, segment);
		sent += n;
	}
	object->held += size;
}

ssize_t sim_stream_send(int fd, const void *data, size_t size, int flags)
{
	struct object *object = sim_object_of(fd, STREAM);

	if (!object) /* one that listens has no connection */
		return -EPIPE;
	while (!object->error && object->state == ESTABLISHED && !object->fin_out &&
	       (object->stuffed || object->held >= sim_kernel.config.send_buffer))
		if (!sim_sleeps(object, EPOLLOUT, flags, "send"))
			return -EAGAIN;
	if (object->error)
		return -sim_take_error(object);
	if (object->fin_out || object->state != ESTABLISHED)
		return object->state == CONNECTING ? -EAGAIN : -EPIPE;
	uint64_t room = sim_kernel.config.send_buffer - object->held;
	size_t n = size < room ? size : (size_t)room;

	if (n > 1 && object->has_sent && sim_is_partial()) {
		n = 1 + (size_t)sim_random(n - 1);
		object->stuffed = true;
	}
	object->has_sent = true;
	if (object->peer)
		send_bytes(object, sim_place_of(fd), data, n);
	return (ssize_t)n;
}

ssize_t sim_stream_recv(int fd, void *data, size_t size, int flags)
{
	struct object *object = sim_object_of(fd, STREAM);

	if (!object)
		return -ENOTCONN;
	if (flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_TRUNC | MSG_PEEK))
		sim_unknown("recv with flags", flags);
	if (!object->rx_size && !object->fin_in && !object->reset && !object->error &&
	    object->state == CLOSED)
		return -ENOTCONN;
	if (!object->rx_size && !object->fin_in && !object->reset && !object->error &&
	    !sim_sleeps(object, EPOLLIN, flags, "recv"))
		return -EAGAIN;
	if (!object->rx_size)
		return object->fin_in ? 0 : -sim_take_error(object);
	size_t n = size < object->rx_size ? size : object->rx_size;

	if (!(flags & MSG_TRUNC))
		memcpy(data, object->rx + object->rx_begin, n);
	if (flags & MSG_PEEK)
		return (ssize_t)n;
	sim_consume(object, n);
	if (object->fin_waits && object->rx_size <= window_of(object)) {
		object->fin_waits = false;
		emit(NULL, new_segment(sim_place_of(fd), sim_place_of(fd),
				       sim_kernel.lives[sim_place_of(fd)], 0, fin_arrives));
	}
	if (object->peer) {
		struct segment *segment = to_peer(sim_place_of(fd), 0, room_arrives);

		segment->size = n;
		emit(NULL, segment);
	}
	return (ssize_t)n;
}

int sim_shutdown(int fd, int how)
{
	int error, fault = sim_call("shutdown", fd);
	struct object *object = sim_socket_of(fd, &error);

	if (fault)
		return fault;
	if (how != SHUT_WR)
		sim_unknown("shutdown", how);
	if (!object)
		return -error;
	if (object->kind == LISTENER)
		return 0;
	if (object->kind == DATAGRAM ? !object->peer_port : sim_is_gone(object))
		return -ENOTCONN;
	object->edges[EDGE_ANY]++;
	if (object->kind == DATAGRAM) {
		object->fin_out = true;
		return 0;
	}
	if (object->state == CONNECTING)
		sim_unknown("shutdown before the connection is there", fd);
	object->told = TOLD;
	if (!object->fin_out)
		send_fin(sim_place_of(fd));
	return 0;
}

void sim_listener_close(struct object *object)
{
	for (unsigned i = 0; i < object->queued; i++) {
		unsigned at = object->queue[i];
		struct object *queued = sim_kernel.objects[at];

		if (queued->peer)
			emit(queued, to_peer(at, 0, reset_arrives));
		sim_discard(at);
	}
}

/* One that nobody has asked for is not sent again. */
static void send_reset(struct object *object, unsigned at)
{
	uint64_t lose_in = sim_kernel.config.lose_resets_in;

	if (!lose_in || is_control(object) || !sim_once_in(lose_in))
		emit(object, to_peer(at, 0, reset_arrives));
	else
		sim_trace("lost rst", (int64_t)at, 0);
}

void sim_stream_close(unsigned at)
{
	struct object *object = sim_kernel.objects[at];

	if (object->state != ESTABLISHED || !object->peer) {
		sim_discard(at);
		return;
	}
	if ((object->aborts || object->rx_size) && !sim_is_gone(object)) {
		send_reset(object, at);
		sim_discard(at);
		return;
	}
	if (!object->fin_out)
		send_fin(at);
	if (object->fin_in)
		object->peer = 0;
	end_if_over(at);
}
