/* SPDX-License-Identifier: Apache-2.0 */
/* The peer of a session, its network and its clock: the linker puts the functions __wrap_x in the
 * place of x. No time passes but what the lines and the waits of the session say. */
#include "talk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define TURN_NS	   1000000u /* that pass while a line comes */
#define READING_NS 1000u    /* that pass between two readings of the clock */
#define MAX_LINE   65536u

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_getsockname(int fd, struct sockaddr *at, socklen_t *size);
int __wrap_getpeername(int fd, struct sockaddr *at, socklen_t *size);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

static char *whole;
static size_t whole_size;
static struct {
	int fd; /* -1: closed */
	const char *at, *end;
	uint64_t now_ns;
	char heard[4096]; /* the last that the session has said */
	char ping[32];	  /* the time in its last ping */
	bool silent;
} talk = {.fd = -1};

int talk_begin(const uint8_t *data, size_t size)
{
	int fds[2];

	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	talk.fd = fds[0];
	talk.at = (const char *)data;
	talk.end = talk.at + size;
	talk.now_ns = UINT64_C(1000000000000);
	talk.silent = false;
	strcpy(talk.ping, "0");
	return fds[1];
}

/* Reads what the session has said, for the pings in it. */
static void hear(void)
{
	ssize_t n;

	while ((n = recv(talk.fd, talk.heard, sizeof talk.heard - 1, 0)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (!talk.heard[i])
				talk.heard[i] = ' ';
		talk.heard[n] = '\0';
		if (getenv("NETMODEL_FUZZ_SHOW"))
			fprintf(stderr, "heard: %s\n", talk.heard);
		for (const char *c = talk.heard; (c = strstr(c, "[\"ping\"")); c++) {
			const char *digits = strpbrk(c, "0123456789");

			snprintf(talk.ping, sizeof talk.ping, "%.*s",
				 digits ? (int)strspn(digits, "0123456789") : 1,
				 digits ? digits : "0");
		}
	}
}

void talk_end(void)
{
	if (talk.fd >= 0)
		hear();
	if (talk.fd >= 0)
		(void)close(talk.fd);
	talk.fd = -1;
}

static void say(const char *text, size_t length)
{
	static char frame[MAX_LINE + 64];
	static const char mark[] = "\"t\":-7";
	const char *answer = memmem(text, length, mark, sizeof mark - 1);
	size_t used = 4;

	if (answer) {
		size_t before = (size_t)(answer - text);

		memcpy(frame + used, text, before);
		used += before;
		used += (size_t)snprintf(frame + used, 40, "\"t\":%s", talk.ping);
		text = answer + sizeof mark - 1;
		length -= before + sizeof mark - 1;
	}
	memcpy(frame + used, text, length);
	used += length;
	uint32_t size = htonl((uint32_t)used - 4);

	memcpy(frame, &size, sizeof size);
	(void)!send(talk.fd, frame, used, MSG_NOSIGNAL);
}

/* The next line, or the end of all. */
static void say_next(void)
{
	if (talk.fd < 0 || talk.silent)
		return;
	hear();
	if (talk.at >= talk.end) {
		talk.silent = true;
		(void)shutdown(talk.fd, SHUT_WR);
		return;
	}
	const char *line = talk.at, *end = memchr(line, '\n', (size_t)(talk.end - line));
	size_t length = (size_t)((end ? end : talk.end) - line);
	char word[32];

	talk.at = line + length + 1;
	snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), line);
	if (getenv("NETMODEL_FUZZ_SHOW"))
		fprintf(stderr, "says: %.*s\n", (int)length, line);
	if (strncmp(word, "wait ", 5) == 0)
		talk.now_ns += strtoull(word + 5, NULL, 10) % UINT64_C(100000000000);
	else if (length && length < MAX_LINE)
		say(line, length);
}

/* --- inputs --- */

const uint8_t *talk_whole(const struct fuzz_line *lines, size_t *ret_size)
{
	free(whole);
	whole = fuzz_talk(lines, &whole_size);
	*ret_size = whole_size;
	return (const uint8_t *)whole;
}

/* An input that depends on nothing but the seed of all and its number; not on data, which was
 * chosen by what inputs before have reached. */
static size_t put_numbered(uint8_t *data, size_t size, size_t max_size, const char *seed_of_all)
{
	static unsigned number;
	unsigned seed = (unsigned)strtoul(seed_of_all, NULL, 10) * 1000003u;

	seed = (seed + ++number) * 2654435761u;

	size = fuzz_splice(data, size, max_size, 0, size, whole, whole_size);
	for (size_t left = 1 + pick(&seed, 8); left; left--) {
		size = fuzz_lines(data, size, max_size, seed);
		(void)pick(&seed, 2);
	}
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	const char *seed_of_all = getenv("NETMODEL_FUZZ_NUMBERED");

	if (seed_of_all)
		return put_numbered(data, size, max_size, seed_of_all);
	if (size < 2 && whole_size < max_size)
		return fuzz_splice(data, size, max_size, 0, size, whole, whole_size);
	return fuzz_messages(data, size, max_size, seed);
}

/* --- what the session is linked with --- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, ret);
	talk.now_ns += READING_NS;
	*ret = (struct timespec){.tv_sec = (time_t)(talk.now_ns / 1000000000u),
				 .tv_nsec = (long)(talk.now_ns % 1000000000u)};
	return 0;
}

static int wait_for(struct pollfd *fds, nfds_t n, uint64_t wait_ns)
{
	say_next();
	int ready = __real_poll(fds, n, 0);

	talk.now_ns += ready > 0 || wait_ns < TURN_NS || !talk.silent ? TURN_NS : wait_ns;
	return ready;
}

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	(void)mask;
	return wait_for(fds, n,
			timeout ? (uint64_t)timeout->tv_sec * 1000000000u +
					  (uint64_t)timeout->tv_nsec
				: UINT64_C(1000000000));
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return wait_for(fds, n, timeout_ms > 0 ? (uint64_t)timeout_ms * 1000000u : 0);
}

static int loopback(struct sockaddr *at, socklen_t *size)
{
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_port = htons(20000),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	memcpy(at, &in, *size < sizeof in ? *size : sizeof in);
	*size = sizeof in;
	return 0;
}

int __wrap_getsockname(int fd, struct sockaddr *at, socklen_t *size)
{
	(void)fd;
	return loopback(at, size);
}

int __wrap_getpeername(int fd, struct sockaddr *at, socklen_t *size)
{
	(void)fd;
	return loopback(at, size);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	(void)fd, (void)level, (void)name, (void)value, (void)size;
	return 0;
}
