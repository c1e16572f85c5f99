/* SPDX-License-Identifier: Apache-2.0 */
/* What a request and its response of one byte over TCP cost when nothing else is done: the bound
 * that every tool can only come near to. One flow blocks in its receive, several wait with epoll;
 * one thread on each side.
 *
 * bare server PORT bare client PORT FLOWS SECONDS     prints transactions=N and seconds=S */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

static uint64_t ask_one(int fd, double until_s)
{
	uint64_t count = 0;
	char byte = 0;

	do {
		if (send(fd, &byte, 1, 0) != 1 || recv(fd, &byte, 1, 0) != 1)
			die("ask");
		count++;
	} while (now_s() < until_s);
	return count;
}

static uint64_t ask_many(int epoll_fd, const int *fds, uint32_t flows, double until_s)
{
	struct epoll_event events[EVENTS];
	uint64_t count = 0;
	char byte = 0;

	for (uint32_t i = 0; i < flows; i++)
		if (send(fds[i], &byte, 1, 0) != 1)
			die("send");
	for (;;) {
		int n = epoll_wait(epoll_fd, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (recv(events[i].data.fd, &byte, 1, 0) != 1)
				die("recv");
			count++;
			/* As a tool that measures latency does. */
			if (now_s() >= until_s)
				return count;
			if (send(events[i].data.fd, &byte, 1, 0) != 1)
				die("send");
		}
	}
}

static void client(const char *port, uint32_t flows, double seconds)
{
	struct sockaddr_in to = loopback(port);
	int *fds = calloc(flows, sizeof *fds), epoll_fd = epoll_create1(0);

	for (uint32_t i = 0; i < flows; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fds[i], (struct sockaddr *)&to, sizeof to) < 0)
			die("connect");
		at_once(fds[i]);
		if (send(fds[i], &flows, sizeof flows, 0) != sizeof flows)
			die("send");
		if (flows > 1)
			watch(epoll_fd, fds[i]);
	}
	double begin_s = now_s();
	uint64_t count = flows == 1 ? ask_one(fds[0], begin_s + seconds)
				    : ask_many(epoll_fd, fds, flows, begin_s + seconds);

	printf("transactions=%llu\nseconds=%f\n", (unsigned long long)count, now_s() - begin_s);
	free(fds);
}

int main(int argc, char **argv)
{
	if (argc == 3 && argv[1][0] == 's')
		server(argv[2]);
	if (argc != 5) {
		fputs("bare server PORT\nbare client PORT FLOWS SECONDS\n", stderr);
		return 1;
	}
	client(argv[2], (uint32_t)strtoul(argv[3], NULL, 10), strtod(argv[4], NULL));
	return 0;
}
