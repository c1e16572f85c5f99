/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated kernel: objects and their descriptors, pairs of sockets that pass descriptors,
 * eventfd, and what every call has in common. */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "fault.h"
#include "object.h"
#include "world.h"

struct sim_kernel sim_kernel;

_Noreturn void sim_unknown(const char *what, long detail)
{
	fprintf(stderr, "sim: %s (%ld) is not simulated\n", what, detail);
	abort();
}

/* --- objects --- */

bool sim_has(int fd)
{
	return sim_runs() && fd > FIRST_FD && fd < FIRST_FD + SIM_MOST;
}

struct object *sim_object_in(const struct sim_process *process, int fd)
{
	return sim_has(fd) ? sim_kernel.objects[process->places[fd - FIRST_FD]] : NULL;
}

struct object *sim_object_of(int fd, enum kind kind)
{
	struct object *object = sim_object_in(sim_process(), fd);

	return object && (kind == FREE || object->kind == kind) ? object : NULL;
}

unsigned sim_place_of(int fd)
{
	return sim_process()->places[fd - FIRST_FD];
}

/* A new descriptor of an object that has one reference more by now. */
int sim_give(unsigned at)
{
	unsigned *places = sim_process()->places;
	int i = 1;

	while (i < SIM_MOST && places[i])
		i++;
	places[i] = at;
	sim_kernel.state.descriptors++;
	return FIRST_FD + i;
}

/* The place of a new object. */
unsigned sim_make(enum kind kind, unsigned refs, bool blocks)
{
	unsigned at = 1;

	while (at < SIM_MOST && sim_kernel.objects[at])
		at++;
	if (at == SIM_MOST)
		sim_unknown("so many descriptors", SIM_MOST);
	struct object *object = sim_new(sizeof *object);

	*object = (struct object){
		.kind = kind, .refs = refs, .blocks = blocks, .host = sim_process()->host};
	sim_kernel.objects[at] = object;
	sim_kernel.lives[at]++;
	if (at >= sim_kernel.n_places)
		sim_kernel.n_places = at + 1;
	return at;
}

/* Takes it from each epoll's list. */
static void forget(unsigned at)
{
	for (unsigned i = 1; i < sim_kernel.n_places; i++) {
		struct item **item = sim_kernel.objects[i] ? &sim_kernel.objects[i]->items : NULL;

		while (item && *item) {
			struct item *one = *item;

			if (one->target != at) {
				item = &one->next;
				continue;
			}
			*item = one->next;
			free(one);
		}
	}
}

void sim_discard(unsigned at)
{
	struct object *object = sim_kernel.objects[at];

	while (object->items) {
		struct item *gone = object->items;

		object->items = gone->next;
		free(gone);
	}
	free(object->rx);
	free(object);
	sim_kernel.objects[at] = NULL;
}

struct object *sim_socket_of(int fd, int *ret_error)
{
	struct object *object = sim_object_of(fd, FREE);
	bool is_socket = object && (object->kind == STREAM || object->kind == LISTENER ||
				    object->kind == DATAGRAM || object->kind == PACKETS);

	*ret_error = object ? ENOTSOCK : EBADF;
	return is_socket ? object : NULL;
}

/* --- a call --- */

/* Each call takes its time, and sometimes others have a turn before it. */
int sim_call(const char *what, long detail)
{
	uint64_t most = sim_kernel.config.call_ns;

	sim_kernel.state.calls++;
	sim_spend(most / 3 + sim_random(most - most / 3));
	sim_happen();
	if (sim_once_in(20))
		sim_yield();
	sim_trace(what, detail, 0);
	return sim_fault_of_call(what);
}

/* While the network is parted TCP sends again, until it is whole. */
uint64_t sim_arrival_ns(void)
{
	uint64_t heals_ns = sim_fault_heals_ns();

	return (heals_ns > sim_now() ? heals_ns : sim_now()) + sim_kernel.config.delay_ns;
}

bool sim_is_partial(void)
{
	return sim_kernel.config.partial_in && sim_once_in(sim_kernel.config.partial_in);
}

bool sim_is_over(const struct object *object)
{
	return object->state == CLOSED || (object->fin_in && object->fin_out);
}

struct object *sim_peer_of(const struct object *object)
{
	return object->peer && sim_kernel.lives[object->peer] == object->peer_life
		       ? sim_kernel.objects[object->peer]
		       : NULL;
}

bool sim_is_gone(const struct object *object)
{
	const struct object *peer = sim_peer_of(object);

	return sim_is_over(object) && !(peer && peer->fin_waits);
}

int sim_take_error(struct object *object)
{
	int error = object->error;

	object->error = 0;
	return error;
}

bool sim_has_room(const struct object *object)
{
	return !object->stuffed && object->held < sim_kernel.config.send_buffer * 2 / 3;
}

static uint32_t mask_of_stream(const struct object *object)
{
	uint32_t mask = sim_is_over(object) ? EPOLLHUP : 0u;

	if (object->fin_in || object->reset)
		mask |= EPOLLIN | EPOLLRDHUP;
	if (object->rx_size >= object->low_water + !object->low_water)
		mask |= EPOLLIN;
	if (object->fin_out || sim_is_over(object) ||
	    (object->state == ESTABLISHED && sim_has_room(object)))
		mask |= EPOLLOUT;
	return mask | (object->error ? EPOLLERR : 0u);
}

static uint32_t mask_of_pipe(const struct object *object)
{
	if (object->peer)
		return EPOLLOUT | (sim_peer_of(object) ? 0u : EPOLLERR);
	return (object->rx_size ? EPOLLIN : 0u) | (object->fin_in ? EPOLLHUP : 0u);
}

uint32_t sim_mask_of(const struct object *object)
{
	switch (object->kind) {
	case EVENT:
		return (object->count ? EPOLLIN : 0u) | EPOLLOUT;
	case LISTENER:
		return object->queued ? EPOLLIN : 0u;
	case DATAGRAM:
		return (object->n_datagrams ? EPOLLIN : 0u) | EPOLLOUT |
		       (object->error ? EPOLLERR : 0u);
	case PIPE:
		return mask_of_pipe(object);
	case PACKETS:
		return (object->n_packets ? EPOLLIN : 0u) | EPOLLOUT;
	case STREAM:
		return mask_of_stream(object);
	case EPOLL:
		return sim_has_due(object) ? EPOLLIN : 0u;
	case FREE:
		break;
	}
	return 0;
}

struct wait_for {
	const struct object *object;
	uint32_t mask;
};

static bool is_there(void *arg)
{
	const struct wait_for *wait = arg;

	return sim_mask_of(wait->object) & (wait->mask | EPOLLERR | EPOLLHUP);
}

/* Whether a call that finds nothing to do may sleep until there is something; false: -EAGAIN. */
bool sim_sleeps(struct object *object, uint32_t mask, int flags, const char *where)
{
	struct wait_for wait = {.object = object, .mask = mask};
	uint64_t limit_ns = mask & EPOLLIN ? object->sleep_ns : 0;

	return object->blocks && !(flags & MSG_DONTWAIT) &&
	       sim_block(is_there, &wait, limit_ns ? sim_now() + limit_ns : SIM_NEVER, where);
}

static void let_go(unsigned at);

static void close_pipe(const struct object *object, unsigned at)
{
	struct object *out = sim_peer_of(object);

	if (out) {
		out->fin_in = true;
		out->edges[EDGE_ANY]++;
	}
	for (unsigned i = 1; !object->peer && i < sim_kernel.n_places; i++)
		if (sim_kernel.objects[i] && sim_kernel.objects[i]->kind == PIPE &&
		    sim_kernel.objects[i]->peer == at)
			sim_kernel.objects[i]->edges[EDGE_ANY]++;
}

static void close_packets(struct object *object)
{
	for (unsigned i = 0; i < object->n_packets; i++)
		let_go(object->packets[i].passed);
}

/* One reference less; the last one closes the object. */
static void let_go(unsigned at)
{
	struct object *object = sim_kernel.objects[at];

	if (--object->refs)
		return;
	forget(at);
	if (object->kind == STREAM) {
		sim_stream_close(at);
		return;
	}
	if (object->kind == LISTENER)
		sim_listener_close(object);
	if (object->kind == DATAGRAM)
		sim_datagrams_close(object);
	if (object->kind == PIPE)
		close_pipe(object, at);
	if (object->kind == PACKETS)
		close_packets(object);
	sim_discard(at);
}

int sim_close(int fd)
{
	sim_call("close", fd);
	if (!sim_object_of(fd, FREE))
		return -EBADF;
	unsigned at = sim_place_of(fd);

	sim_process()->places[fd - FIRST_FD] = 0;
	sim_release(at);
	return 0;
}

/* --- bytes that have come --- */

void sim_append(struct object *object, const void *data, size_t size)
{
	if (object->rx_begin + object->rx_size + size > object->rx_room) {
		if (object->rx_size)
			memmove(object->rx, object->rx + object->rx_begin, object->rx_size);
		object->rx_begin = 0;
	}
	if (object->rx_size + size > object->rx_room / 2) {
		object->rx_room = 4 * (object->rx_size + size);
		object->rx = sim_grow(object->rx, object->rx_room);
	}
	memcpy(object->rx + object->rx_begin + object->rx_size, data, size);
	object->rx_size += size;
}

void sim_consume(struct object *object, size_t size)
{
	object->rx_size -= size;
	object->rx_begin = object->rx_size ? object->rx_begin + size : 0;
}

void sim_hold(unsigned at)
{
	sim_kernel.objects[at]->refs++;
	sim_kernel.state.descriptors++;
}

void sim_release(unsigned at)
{
	sim_kernel.state.descriptors--;
	let_go(at);
}

/* --- packets that pass descriptors --- */

int sim_socketpair(int family, int type, int fds[2])
{
	unsigned one, other;

	if (family != AF_UNIX || (type & 0xf) != SOCK_SEQPACKET)
		sim_unknown("socketpair", type);
	one = sim_make(PACKETS, 1, !(type & SOCK_NONBLOCK));
	other = sim_make(PACKETS, 1, !(type & SOCK_NONBLOCK));
	sim_kernel.objects[one]->peer = other;
	sim_kernel.objects[other]->peer = one;
	fds[0] = sim_give(one);
	fds[1] = sim_give(other);
	return 0;
}

ssize_t sim_sendmsg(int fd, const struct msghdr *message)
{
	struct object *object = sim_object_of(fd, PACKETS);
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	struct object *to = object ? sim_kernel.objects[object->peer] : NULL;
	int passed;

	sim_call("sendmsg", fd);
	if (!object || !header || message->msg_iovlen != 1)
		sim_unknown("sendmsg", fd);
	if (!to)
		return -EPIPE;
	if (to->n_packets == sizeof to->packets / sizeof *to->packets)
		return -EAGAIN;
	memcpy(&passed, CMSG_DATA(header), sizeof passed);
	struct packet *packet = &to->packets[to->n_packets++];

	packet->size = message->msg_iov[0].iov_len;
	memcpy(packet->data, message->msg_iov[0].iov_base, packet->size);
	packet->passed = sim_place_of(passed);
	sim_kernel.objects[packet->passed]->refs++;
	to->edges[EDGE_IN]++;
	return (ssize_t)packet->size;
}

ssize_t sim_recvmsg(int fd, struct msghdr *message)
{
	struct object *object = sim_object_of(fd, PACKETS);
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	sim_call("recvmsg", fd);
	if (!object || !header)
		sim_unknown("recvmsg", fd);
	if (!object->n_packets)
		return -EAGAIN;
	struct packet packet = object->packets[0];
	int number = sim_give(packet.passed); /* the packet's reference becomes its own */

	memmove(object->packets, object->packets + 1, --object->n_packets * sizeof packet);
	memcpy(message->msg_iov[0].iov_base, packet.data, packet.size);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof number);
	memcpy(CMSG_DATA(header), &number, sizeof number);
	return (ssize_t)packet.size;
}

/* --- pipes --- */

/* What is written is at the reading end at once. */
int sim_pipe(int fds[2], int flags)
{
	unsigned out, in;

	sim_call("pipe", flags);
	out = sim_make(PIPE, 1, !(flags & O_NONBLOCK));
	in = sim_make(PIPE, 1, !(flags & O_NONBLOCK));
	sim_kernel.objects[in]->peer = out;
	sim_kernel.objects[in]->peer_life = sim_kernel.lives[out];
	fds[0] = sim_give(out);
	fds[1] = sim_give(in);
	return 0;
}

static ssize_t read_pipe(struct object *object, void *data, size_t size)
{
	if (object->peer)
		return -EBADF;
	if (!object->rx_size && !object->fin_in && !sim_sleeps(object, EPOLLIN, 0, "read"))
		return -EAGAIN;
	size_t n = size < object->rx_size ? size : object->rx_size;

	if (n)
		memcpy(data, object->rx + object->rx_begin, n);
	sim_consume(object, n);
	return (ssize_t)n;
}

static ssize_t write_pipe(const struct object *object, const void *data, size_t size)
{
	struct object *out = sim_peer_of(object);

	if (!out)
		return object->peer ? -EPIPE : -EBADF;
	sim_append(out, data, size);
	out->edges[EDGE_IN]++;
	return (ssize_t)size;
}

/* --- eventfd --- */

int sim_eventfd(unsigned count, int flags)
{
	int fault = sim_call("eventfd", (long)count);

	if (fault)
		return fault;
	unsigned at = sim_make(EVENT, 1, !(flags & EFD_NONBLOCK));

	sim_kernel.objects[at]->count = count;
	return sim_give(at);
}

static bool is_connection(const struct object *object)
{
	return object &&
	       (object->kind == STREAM || object->kind == LISTENER || object->kind == DATAGRAM);
}

ssize_t sim_read(int fd, void *data, size_t size)
{
	struct object *object = sim_object_of(fd, FREE);

	if (is_connection(object))
		return sim_recv(fd, data, size, 0, NULL, NULL);
	int fault = sim_call("read", fd);

	if (fault)
		return fault;
	if (!object)
		return -EBADF;
	if (object->kind == PIPE)
		return read_pipe(object, data, size);
	if (object->kind != EVENT || size < sizeof object->count)
		return -EINVAL;
	if (!object->count && !sim_sleeps(object, EPOLLIN, 0, "read"))
		return -EAGAIN;
	memcpy(data, &object->count, sizeof object->count);
	object->count = 0;
	object->edges[EDGE_OUT]++;
	return sizeof object->count;
}

ssize_t sim_write(int fd, const void *data, size_t size)
{
	struct object *object = sim_object_of(fd, FREE);
	uint64_t count;

	if (is_connection(object))
		return sim_send(fd, data, size, 0, NULL);
	int fault = sim_call("write", fd);

	if (fault)
		return fault;
	if (!object)
		return -EBADF;
	if (object->kind == PIPE)
		return write_pipe(object, data, size);
	if (object->kind != EVENT || size != sizeof count)
		return -EINVAL;
	memcpy(&count, data, sizeof count);
	object->count += count;
	object->edges[EDGE_IN]++;
	return sizeof count;
}

/* --- a run --- */

void sim_kernel_begin(const struct sim_choices *choices)
{
	memset(&sim_kernel, 0, sizeof sim_kernel);
	sim_kernel.config = *choices;
	sim_fault_arm(NULL);
	sim_processes_begin();
}

struct sim_kernel_state sim_kernel_state(void)
{
	return sim_kernel.state;
}

void sim_kernel_end(struct sim_kernel_state *ret_state)
{
	*ret_state = sim_kernel.state;
	ret_state->processes = !sim_processes_end();
	for (unsigned i = 1; i < sim_kernel.n_places; i++)
		if (sim_kernel.objects[i])
			sim_discard(i);
}
