/* SPDX-License-Identifier: Apache-2.0 */
/* What a request and its response cost when nothing else is done: the bound that every tool can
 * only come near to. One flow blocks in its receive, several wait with epoll; one thread on each
 * side.
 *
 * bare server PORT                            answers each byte over TCP with one
 * bare client PORT FLOWS SECONDS              asks it; prints transactions=N and seconds=S
 * bare ask tcp|udp PORT FLOWS SECONDS FILE N  asks another server what is in the file: N bytes of
 *                                             answer, of which nothing is looked at */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 256

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static struct sockaddr_in loopback(const char *port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void at_once(int fd)
{
	const int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
		die("TCP_NODELAY");
}

static void watch(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		die("epoll_ctl");
}

static void serve_one(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1 && send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
		;
}

static void serve_many(int epoll_fd, int n_open)
{
	struct epoll_event events[EVENTS];
	char byte;

	while (n_open > 0) {
		int n = epoll_wait(epoll_fd, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (recv(fd, &byte, 1, 0) == 1 && send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
				continue;
			close(fd);
			n_open--;
		}
	}
}

/* The first byte of a connection says how many there will be. */
static void server(const char *port)
{
	struct sockaddr_in at = loopback(port);
	const int one = 1;
	int listen_fd = socket(AF_INET, SOCK_STREAM, 0), epoll_fd = epoll_create1(0);

	setsockopt(listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listen_fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(listen_fd, 1024) < 0)
		die("listen");
	for (;;) {
		uint32_t flows = 1;

		for (uint32_t i = 0; i < flows; i++) {
			int fd = accept(listen_fd, NULL, NULL);

			if (fd < 0)
				die("accept");
			at_once(fd);
			if (recv(fd, &flows, sizeof flows, MSG_WAITALL) != sizeof flows) {
				close(fd); /* somebody who looked whether the port is open */
				i--;
				continue;
			}
			if (flows == 1) {
				serve_one(fd);
				close(fd);
			} else {
				watch(epoll_fd, fd);
			}
		}
		if (flows > 1)
			serve_many(epoll_fd, (int)flows);
	}
}

struct exchange {
	int type;     /* of the socket */
	bool is_ours; /* the server, to which each connection first says how many there are */
	char request[4096];
	size_t request_bytes, answer_bytes;
};

static char answer[65536];

static void ask(int fd, const struct exchange *exchange)
{
	size_t n = exchange->request_bytes;

	if (send(fd, exchange->request, n, 0) != (ssize_t)n)
		die("send");
}

/* It is there as a whole, or the kernel says nothing of it (as_a_whole). */
static void take(int fd, size_t n)
{
	if (recv(fd, answer, n, 0) != (ssize_t)n)
		die("recv");
}

static uint64_t ask_one(int fd, const struct exchange *exchange, double until_s)
{
	uint64_t count = 0;

	do {
		ask(fd, exchange);
		take(fd, exchange->answer_bytes);
		count++;
	} while (now_s() < until_s);
	return count;
}

static uint64_t ask_many(int epoll_fd, const int *fds, uint32_t flows,
			 const struct exchange *exchange, double until_s)
{
	struct epoll_event events[EVENTS];
	uint64_t count = 0;

	for (uint32_t i = 0; i < flows; i++)
		ask(fds[i], exchange);
	for (;;) {
		int n = epoll_wait(epoll_fd, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			take(events[i].data.fd, exchange->answer_bytes);
			count++;
			/* As a tool that measures latency does. */
			if (now_s() >= until_s)
				return count;
			ask(events[i].data.fd, exchange);
		}
	}
}

static void as_a_whole(int fd, size_t bytes)
{
	const int least = (int)bytes;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least) < 0)
		die("SO_RCVLOWAT");
}

static void client(const char *port, uint32_t flows, double seconds,
		   const struct exchange *exchange)
{
	struct sockaddr_in to = loopback(port);
	int *fds = calloc(flows, sizeof *fds), epoll_fd = epoll_create1(0);

	for (uint32_t i = 0; i < flows; i++) {
		fds[i] = socket(AF_INET, exchange->type, 0);
		if (connect(fds[i], (struct sockaddr *)&to, sizeof to) < 0)
			die("connect");
		as_a_whole(fds[i], exchange->answer_bytes);
		if (exchange->type == SOCK_STREAM)
			at_once(fds[i]);
		if (exchange->is_ours && send(fds[i], &flows, sizeof flows, 0) != sizeof flows)
			die("send");
		if (flows > 1)
			watch(epoll_fd, fds[i]);
	}
	double begin_s = now_s(), until_s = begin_s + seconds;
	uint64_t count = flows == 1 ? ask_one(fds[0], exchange, until_s)
				    : ask_many(epoll_fd, fds, flows, exchange, until_s);

	printf("transactions=%llu\nseconds=%f\n", (unsigned long long)count, now_s() - begin_s);
	free(fds);
}

static void read_request(const char *path, struct exchange *exchange)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		die(path);
	exchange->request_bytes = fread(exchange->request, 1, sizeof exchange->request, file);
	fclose(file);
}

int main(int argc, char **argv)
{
	struct exchange exchange = {
		.type = SOCK_STREAM, .is_ours = true, .request_bytes = 1, .answer_bytes = 1};

	if (argc == 3 && argv[1][0] == 's')
		server(argv[2]);
	if (argc == 8 && argv[1][0] == 'a') {
		exchange.type = argv[2][0] == 'u' ? SOCK_DGRAM : SOCK_STREAM;
		exchange.is_ours = false;
		read_request(argv[6], &exchange);
		exchange.answer_bytes = strtoul(argv[7], NULL, 10);
		argv++;
	} else if (argc != 5) {
		fputs("bare server PORT\nbare client PORT FLOWS SECONDS\n"
		      "bare ask tcp|udp PORT FLOWS SECONDS FILE N\n",
		      stderr);
		return 1;
	}
	if (exchange.answer_bytes > sizeof answer)
		return 1;
	client(argv[2], (uint32_t)strtoul(argv[3], NULL, 10), strtod(argv[4], NULL), &exchange);
	return 0;
}
