/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of scripts. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "say.h"
#include "script.h"

#define FILL_BYTES   262144
#define FILL	     UCHAR_MAX /* what fills; no other byte has this value */
#define BUFFER_BYTES 32768
#define MOST_LOOKS   400 /* for bytes that must come; a kernel asks for room again in 0.2 s */
#define LOOK_MS	     10

/* A connection's bytes in one direction that were sent until there was no room. */
struct filled {
	uint16_t from, to;
	uint64_t bytes;
};

static struct {
	int fds[SIM_SLOTS];
	bool is_epoll[SIM_SLOTS];
	uint64_t sent[SIM_SLOTS]; /* bytes, whose values follow from it */
	struct filled filled[SIM_STEPS];
	unsigned n_filled;
	unsigned full_ms;
	unsigned step;
} run;

/* --- slots --- */

static int fd_of(unsigned slot)
{
	return run.fds[slot];
}

/* A slot that is in use is closed before. */
static void put(unsigned slot, int fd)
{
	run.is_epoll[slot] = false;
	if (run.fds[slot] >= 0)
		(void)close(run.fds[slot]);
	run.fds[slot] = fd;
	run.sent[slot] = 0;
}

static uint16_t port_of(unsigned slot, int (*name)(int fd, struct sockaddr *addr, socklen_t *size))
{
	struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
	socklen_t size = sizeof addr;
	struct sockaddr_in in;

	if (name(fd_of(slot), (struct sockaddr *)&addr, &size) < 0 || addr.ss_family != AF_INET)
		return 0;
	memcpy(&in, &addr, sizeof in);
	return ntohs(in.sin_port);
}

static struct sockaddr_in here(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Where a slot can be reached; a port of nobody, if it cannot. */
static struct sockaddr_in address_of(unsigned slot)
{
	uint16_t port = port_of(slot, getsockname);

	return here(port ? port : SIM_NOBODY);
}

/* What is sent towards a slot without room; NULL: nothing. */
static struct filled *filled_between(uint16_t from, uint16_t to)
{
	for (unsigned i = 0; from && to && i < run.n_filled; i++)
		if (run.filled[i].from == from && run.filled[i].to == to)
			return &run.filled[i];
	return NULL;
}

static struct filled *filled_towards(unsigned slot)
{
	struct filled *filled =
		filled_between(port_of(slot, getpeername), port_of(slot, getsockname));

	return filled && filled->bytes ? filled : NULL;
}

/* --- sockets --- */

static void make_socket(unsigned slot, int type, char *say)
{
	const int bytes = BUFFER_BYTES, yes = 1;
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (!sim_say_whether(say, fd))
		return;
	put(slot, fd);
	if (type == SOCK_STREAM) {
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	}
}

static void do_socket(const struct sim_step *step, char *say)
{
	make_socket(step->slot, SOCK_STREAM, say);
}

static void do_datagram(const struct sim_step *step, char *say)
{
	make_socket(step->slot, SOCK_DGRAM, say);
}

static void do_bind(const struct sim_step *step, char *say)
{
	const struct sockaddr_in addr = here(0);

	(void)sim_say_result(say, bind(fd_of(step->slot), (const void *)&addr, sizeof addr));
}

static void do_listen(const struct sim_step *step, char *say)
{
	(void)sim_say_result(say, listen(fd_of(step->slot), (int)(step->number % 4)));
}

static void do_connect(const struct sim_step *step, char *say)
{
	const struct sockaddr_in addr = address_of(step->other);

	(void)sim_say_result(say, connect(fd_of(step->slot), (const void *)&addr, sizeof addr));
}

static void do_accept(const struct sim_step *step, char *say)
{
	struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
	socklen_t size = sizeof addr;
	int fd = accept4(fd_of(step->slot), (struct sockaddr *)&addr, &size,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (!sim_say_whether(say, fd))
		return;
	sim_say_address(say, &addr, size);
	put(step->other, fd);
}

static void do_name(const struct sim_step *step, char *say)
{
	struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
	socklen_t size = sizeof addr;
	bool of_peer = step->number % 2;

	if (sim_say_result(say, (of_peer ? getpeername : getsockname)(
					fd_of(step->slot), (struct sockaddr *)&addr, &size)))
		sim_say_address(say, &addr, size);
}

/* Of what is no connection yet, later calls would differ in ways that nobody uses. */
static void do_shutdown(const struct sim_step *step, char *say)
{
	if (port_of(step->slot, getpeername))
		(void)sim_say_result(say, shutdown(fd_of(step->slot), SHUT_WR));
}

static void do_linger(const struct sim_step *step, char *say)
{
	const struct linger none = {.l_onoff = 1};

	(void)sim_say_result(
		say, setsockopt(fd_of(step->slot), SOL_SOCKET, SO_LINGER, &none, sizeof none));
}

static void do_low_water(const struct sim_step *step, char *say)
{
	const int bytes = 1 << step->number % 9;

	(void)sim_say_result(
		say, setsockopt(fd_of(step->slot), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes));
}

static void do_error(const struct sim_step *step, char *say)
{
	int error = 0;
	socklen_t size = sizeof error;

	if (sim_say_result(say,
			   getsockopt(fd_of(step->slot), SOL_SOCKET, SO_ERROR, &error, &size))) {
		sim_say(say, " ");
		sim_say_error(say, error);
	}
}

static void do_close(const struct sim_step *step, char *say)
{
	(void)sim_say_result(say, close(fd_of(step->slot)));
	run.fds[step->slot] = -1;
}

static void do_flags(const struct sim_step *step, char *say)
{
	int flags = fcntl(fd_of(step->slot), F_GETFL);

	if (sim_say_whether(say, flags) && flags & O_NONBLOCK)
		sim_say(say, " O_NONBLOCK");
}

/* --- bytes --- */

static size_t next_bytes(const struct sim_step *step, char *data)
{
	size_t size = 1 + step->number % 100;

	for (size_t i = 0; i < size; i++)
		data[i] = (char)((step->slot * 31 + run.sent[step->slot] + i) % FILL);
	return size;
}

static void sent(const struct sim_step *step, ssize_t n, char *say)
{
	if (sim_say_result(say, n))
		run.sent[step->slot] += (uint64_t)n;
}

static void do_send(const struct sim_step *step, char *say)
{
	char data[128];
	size_t size = next_bytes(step, data);

	sent(step, send(fd_of(step->slot), data, size, MSG_NOSIGNAL | MSG_DONTWAIT), say);
}

static void do_write(const struct sim_step *step, char *say)
{
	char data[128];
	size_t size = next_bytes(step, data);

	sent(step, write(fd_of(step->slot), data, size), say);
}

static void do_send_to(const struct sim_step *step, char *say)
{
	const struct sockaddr_in addr = address_of(step->other);
	char data[128];
	size_t size = next_bytes(step, data);

	sent(step,
	     sendto(fd_of(step->slot), data, size, MSG_NOSIGNAL, (const void *)&addr, sizeof addr),
	     say);
}

/* Sends until there is no room, and none comes when the other end has taken what it can. */
static void do_fill(const struct sim_step *step, char *say)
{
	static char data[FILL_BYTES];
	uint16_t from = port_of(step->slot, getsockname), to = port_of(step->slot, getpeername);
	struct filled *filled = filled_between(from, to);
	ssize_t first = 0, n = 0;

	memset(data, FILL, sizeof data);
	for (unsigned looks = 0, full = 0; full < run.full_ms && looks < MOST_LOOKS; looks++) {
		n = send(fd_of(step->slot), data, sizeof data, MSG_NOSIGNAL);
		first = looks ? first : n;
		if (n < 0 && errno != EAGAIN)
			break;
		full = n < 0 ? full + 1 : 0;
		if (n > 0 && !filled) {
			filled = &run.filled[run.n_filled++];
			*filled = (struct filled){.from = from, .to = to};
		}
		if (n > 0)
			filled->bytes += (uint64_t)n;
		(void)poll(NULL, 0, 1);
	}
	sim_say(say, "%s, then ", first == FILL_BYTES ? "all" : first > 0 ? "a part" : "none");
	(void)sim_say_whether(say, n);
}

/* All that was sent without room, and what was sent before. */
static void drain(int fd, struct filled *filled, char *say)
{
	static char data[FILL_BYTES];
	uint64_t fills = 0, hash = 0;
	ssize_t n = -1;

	for (unsigned looks = 0; looks < MOST_LOOKS && fills < filled->bytes;) {
		n = recv(fd, data, sizeof data, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		for (ssize_t i = 0; i < n; i++)
			if ((unsigned char)data[i] == FILL)
				fills++;
			else
				hash = nm_rng(hash, (unsigned char)data[i]);
		looks += n < 0;
		if (n < 0)
			(void)poll(NULL, 0, LOOK_MS);
	}
	if (fills == filled->bytes || n >= 0)
		sim_say(say, "%s of what has no room, %08" PRIx32,
			fills == filled->bytes ? "all" : "a part", (uint32_t)hash);
	else
		(void)sim_say_result(say, n);
	filled->bytes = 0;
}

static void received(ssize_t n, const char *data, char *say)
{
	if (sim_say_result(say, n) && n > 0)
		sim_say_bytes(say, data, (size_t)n);
}

static void do_recv(const struct sim_step *step, char *say)
{
	char data[128] = "";
	const int flags = step->number % 4 == 0 ? MSG_PEEK : 0;

	received(recv(fd_of(step->slot), data, 1 + step->number / 4 % 128, flags | MSG_DONTWAIT),
		 data, say);
}

static void do_read(const struct sim_step *step, char *say)
{
	char data[128] = "";

	received(read(fd_of(step->slot), data, 8 + step->number % 100), data, say);
}

static void do_recv_from(const struct sim_step *step, char *say)
{
	struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
	socklen_t size = sizeof addr;
	char data[128] = "";
	ssize_t n = recvfrom(fd_of(step->slot), data, 1 + step->number % 128, MSG_DONTWAIT,
			     (struct sockaddr *)&addr, &size);

	received(n, data, say);
	if (n >= 0 && size)
		sim_say_address(say, &addr, size);
}

/* --- events --- */

static void do_event(const struct sim_step *step, char *say)
{
	int fd = eventfd((unsigned)(step->number % 3), EFD_NONBLOCK | EFD_CLOEXEC);

	if (sim_say_whether(say, fd))
		put(step->slot, fd);
}

static void do_signal(const struct sim_step *step, char *say)
{
	const uint64_t count = step->number % 5;

	(void)sim_say_result(say, write(fd_of(step->slot), &count, sizeof count));
}

static void do_pipe(const struct sim_step *step, char *say)
{
	int fds[2];

	if (!sim_say_whether(say, pipe2(fds, O_NONBLOCK | O_CLOEXEC)))
		return;
	put(step->slot, fds[0]);
	put(step->other, fds[1]);
}

static void do_epoll(const struct sim_step *step, char *say)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (!sim_say_whether(say, fd))
		return;
	put(step->slot, fd);
	run.is_epoll[step->slot] = true;
}

static uint32_t mask_of(uint64_t number)
{
	static const uint32_t masks[] = {
		EPOLLIN | EPOLLOUT | EPOLLET,
		EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP,
		EPOLLIN,
		EPOLLOUT,
		EPOLLIN | EPOLLRDHUP,
		EPOLLIN | EPOLLET,
		EPOLLOUT | EPOLLET,
		EPOLLIN | EPOLLONESHOT,
		EPOLLIN | EPOLLOUT,
		0,
	};

	return masks[number % (sizeof masks / sizeof *masks)];
}

static void do_control(const struct sim_step *step, char *say)
{
	const int how = step->number % 8 < 5   ? EPOLL_CTL_ADD
			: step->number % 8 < 7 ? EPOLL_CTL_MOD
					       : EPOLL_CTL_DEL;
	struct epoll_event event = {.events = mask_of(step->number / 8), .data.u32 = run.step};

	if (run.is_epoll[step->other]) /* no edges come from there */
		return;
	(void)sim_say_result(say, epoll_ctl(fd_of(step->slot), how, fd_of(step->other), &event));
}

/* In the order of the steps that have added them: theirs is any. */
static void do_wait(const struct sim_step *step, char *say)
{
	struct epoll_event events[2 * SIM_SLOTS];
	int n = epoll_wait(fd_of(step->slot), events, 2 * SIM_SLOTS, 0);

	if (!sim_say_result(say, n))
		return;
	for (uint32_t added = 0; added < SIM_STEPS; added++)
		for (int i = 0; i < n; i++)
			if (events[i].data.u32 == added) {
				sim_say(say, ", of step %" PRIu32 ":", added);
				sim_say_mask(say, events[i].events);
			}
}

static void do_poll(const struct sim_step *step, char *say)
{
	struct pollfd one = {.fd = fd_of(step->slot),
			     .events = (short)(POLLIN | (step->number % 2 ? POLLOUT : 0) |
					       (step->number % 3 ? POLLRDHUP : 0))};

	if (sim_say_result(say, poll(&one, 1, 0)))
		sim_say_mask(say, (uint32_t)one.revents);
}

/* --- all of them --- */

#define ANY_SOCKET (SIM_SOCKET | SIM_LISTENER | SIM_STREAM | SIM_DATAGRAM)
#define READABLE   (SIM_STREAM | SIM_DATAGRAM | SIM_EVENT | SIM_PIPE_OUT)
#define WRITABLE   (SIM_STREAM | SIM_DATAGRAM | SIM_PIPE_IN)
#define ANY	   (ANY_SOCKET | SIM_EVENT | SIM_PIPE_OUT | SIM_PIPE_IN)

const struct sim_script_call sim_script_calls[] = {
	{.name = "socket", .of = SIM_EMPTY, .makes = SIM_SOCKET, .weight = 6, .perform = do_socket},
	{.name = "bind", .of = SIM_SOCKET, .weight = 3, .perform = do_bind},
	{.name = "listen",
	 .of = SIM_SOCKET,
	 .makes = SIM_LISTENER,
	 .weight = 6,
	 .perform = do_listen},
	{.name = "connect",
	 .of = SIM_SOCKET,
	 .with = SIM_LISTENER,
	 .makes = SIM_STREAM,
	 .weight = 9,
	 .perform = do_connect},
	{.name = "accept",
	 .of = SIM_LISTENER,
	 .with = SIM_EMPTY,
	 .gives = SIM_STREAM,
	 .weight = 9,
	 .perform = do_accept},
	{.name = "name", .of = ANY_SOCKET, .weight = 2, .perform = do_name},
	{.name = "shutdown", .of = SIM_STREAM, .weight = 6, .sends = true, .perform = do_shutdown},
	{.name = "linger", .of = SIM_STREAM, .weight = 2, .perform = do_linger},
	{.name = "low_water", .of = SIM_STREAM, .weight = 1, .perform = do_low_water},
	{.name = "error", .of = ANY_SOCKET, .weight = 3, .perform = do_error},
	{.name = "close",
	 .of = ANY | SIM_EPOLL,
	 .makes = SIM_EMPTY,
	 .weight = 5,
	 .perform = do_close},
	{.name = "send",
	 .of = SIM_STREAM | SIM_DATAGRAM,
	 .weight = 8,
	 .sends = true,
	 .perform = do_send},
	{.name = "recv",
	 .of = SIM_STREAM | SIM_DATAGRAM,
	 .weight = 8,
	 .takes = true,
	 .perform = do_recv},
	{.name = "fill", .of = SIM_STREAM, .weight = 2, .sends = true, .perform = do_fill},
	{.name = "epoll", .of = SIM_EMPTY, .makes = SIM_EPOLL, .weight = 3, .perform = do_epoll},
	{.name = "control", .of = SIM_EPOLL, .with = ANY, .weight = 10, .perform = do_control},
	{.name = "wait", .of = SIM_EPOLL, .weight = 10, .perform = do_wait},
	{.name = "poll", .of = ANY, .weight = 6, .perform = do_poll},
	{.name = "write", .of = WRITABLE, .weight = 3, .sends = true, .perform = do_write},
	{.name = "read", .of = READABLE, .weight = 3, .takes = true, .perform = do_read},
	{.name = "flags", .of = ANY, .weight = 1, .perform = do_flags},
	{.name = "event", .of = SIM_EMPTY, .makes = SIM_EVENT, .weight = 2, .perform = do_event},
	{.name = "signal", .of = SIM_EVENT, .weight = 4, .sends = true, .perform = do_signal},
	{.name = "pipe",
	 .of = SIM_EMPTY,
	 .with = SIM_EMPTY,
	 .makes = SIM_PIPE_OUT,
	 .gives = SIM_PIPE_IN,
	 .weight = 1,
	 .perform = do_pipe},
	{.name = "datagram",
	 .of = SIM_EMPTY,
	 .makes = SIM_DATAGRAM,
	 .weight = 3,
	 .perform = do_datagram},
	{.name = "send_to",
	 .of = SIM_DATAGRAM,
	 .with = SIM_DATAGRAM,
	 .weight = 6,
	 .sends = true,
	 .perform = do_send_to},
	{.name = "recv_from",
	 .of = SIM_DATAGRAM,
	 .weight = 5,
	 .takes = true,
	 .perform = do_recv_from},
};
const unsigned sim_n_script_calls = sizeof sim_script_calls / sizeof *sim_script_calls;

/* Where the other end has no room, all that it has sent is taken, and nothing is sent: that may
 * tell it of more room than there was. */
static void perform(const struct sim_step *step, char *say)
{
	const struct sim_script_call *call = &sim_script_calls[step->call];
	struct filled *filled = call->sends || call->takes ? filled_towards(step->slot) : NULL;

	if (!filled)
		call->perform(step, say);
	else if (call->takes)
		drain(fd_of(step->slot), filled, say);
}

unsigned sim_script_perform(const struct sim_script *script, uint64_t without,
			    const struct sim_patience *patience, const sim_says *expected,
			    sim_says *ret_said)
{
	memset(ret_said, 0, sizeof *ret_said);
	memset(&run, 0, sizeof run);
	memset(run.fds, -1, sizeof run.fds);
	sim_say_begin();
	run.full_ms = patience->full_ms;
	for (run.step = 0; run.step < SIM_STEPS; run.step++) {
		const struct sim_step *step = &script->steps[run.step];
		char *say = (*ret_said)[run.step];

		if (without & UINT64_C(1) << run.step)
			continue;
		perform(step, say);
		patience->settle();
		if (expected && strcmp(say, (*expected)[run.step]) != 0)
			break;
	}
	for (unsigned slot = 0; slot < SIM_SLOTS; slot++)
		put(slot, -1);
	patience->settle();
	return run.step;
}
