/* SPDX-License-Identifier: Apache-2.0 */
/* Runs getaddrinfo(3) in a child process, and reads its addresses from a pipe. */
#include "control/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/address.h"
#include "host/signals.h"
#include "host/clock.h"

/* The answer of the child process: much less than a pipe holds, so that the child never waits for
 * its reader. */
struct answer {
	int failure; /* answer of getaddrinfo */
	int error;   /* errno with EAI_SYSTEM */
	unsigned count;
	struct {
		socklen_t length;
		struct sockaddr_storage address;
	} found[NM_RESOLVE_MAX];
};

static void look_up(const char *name, uint16_t port, int flags, struct answer *ret)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags};
	struct addrinfo *found = NULL;
	char service[8];

	memset(ret, 0, sizeof *ret);
	(void)snprintf(service, sizeof service, "%u", port);
	ret->failure = getaddrinfo(name, service, &hints, &found);
	ret->error = errno;
	if (ret->failure)
		return;
	for (const struct addrinfo *at = found; at && ret->count < NM_RESOLVE_MAX;
	     at = at->ai_next) {
		if (at->ai_addrlen > sizeof ret->found[0].address)
			continue;
		ret->found[ret->count].length = at->ai_addrlen;
		memcpy(&ret->found[ret->count++].address, at->ai_addr, at->ai_addrlen);
	}
	freeaddrinfo(found);
}

static void run_child(int fd, pid_t parent, const char *name, uint16_t port)
{
	struct answer answer;

	nm_signals_forget_handlers();
	/* Signals of the terminal are for the parent, which then ends this process. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	nm_signals_unblock();
	look_up(name, port, AI_ADDRCONFIG, &answer);
	ssize_t written = write(fd, &answer, sizeof answer);
	_exit(written == (ssize_t)sizeof answer ? 0 : 1);
}

/* A process with the reading end of its pipe, or -errno. */
static pid_t start_child(const char *name, uint16_t port, int *ret_fd)
{
	sigset_t before;
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	/* A signal between fork and the child's own handling of it would go to the caller's
	 * handler, twice. */
	nm_signals_block(&before);
	pid_t pid = fork();

	if (pid == 0)
		run_child(ends[1], parent, name, port);
	int error = errno;
	nm_signals_restore(&before);
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return -error;
	}
	*ret_fd = ends[0];
	return pid;
}

/* Until the whole answer is there: 0, -ECANCELED, -ETIMEDOUT, or -EIO when the process ends without
 * one. */
static int await_answer(int fd, int interrupt_fd, uint64_t until_ns, struct answer *ret)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN},
				{.fd = interrupt_fd, .events = POLLIN}};
	size_t have = 0;
	uint64_t now_ns;

	while (have < sizeof *ret) {
		now_ns = nm_clock_ns();
		if (now_ns >= until_ns)
			return -ETIMEDOUT;
		int n = poll(fds, 2, (int)((until_ns - now_ns + 999999u) / 1000000u));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && (fds[1].revents & POLLIN))
			return -ECANCELED;
		if (n > 0 && fds[1].revents)
			fds[1].fd = -1; /* closed: none comes */
		if (n <= 0 || !fds[0].revents)
			continue;
		ssize_t got = read(fd, (char *)ret + have, sizeof *ret - have);

		if (got == 0)
			return -EIO;
		if (got < 0 && errno != EINTR)
			return -errno;
		have += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int ask_child(const char *name, uint16_t port, int interrupt_fd, uint64_t until_ns,
		     struct answer *ret)
{
	int fd = -1;
	pid_t pid = start_child(name, port, &fd);

	if (pid < 0)
		return (int)pid;
	int error = await_answer(fd, interrupt_fd, until_ns, ret);

	(void)close(fd);
	if (error)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return error;
}

static void fill(struct nm_resolved *resolved, const struct answer *answer)
{
	memset(resolved, 0, sizeof *resolved);
	for (unsigned i = 0; i < answer->count; i++) {
		resolved->addresses[i] = answer->found[i].address;
		resolved->list[i] = (struct addrinfo){
			.ai_family = answer->found[i].address.ss_family,
			.ai_socktype = SOCK_STREAM,
			.ai_addrlen = answer->found[i].length,
			.ai_addr = (struct sockaddr *)&resolved->addresses[i],
			.ai_next = i + 1 < answer->count ? &resolved->list[i + 1] : NULL};
	}
}

int nm_resolve(const char *name, uint16_t port, int interrupt_fd, uint64_t until_ns,
	       struct nm_resolved *ret_resolved, char *why, size_t why_size)
{
	uint64_t begin_ns = nm_clock_ns();
	struct answer answer;
	int error = 0;

	/* A numeric address needs no address of its family to be configured, as a name does. */
	look_up(name, port, AI_NUMERICHOST, &answer);
	if (answer.failure == EAI_NONAME)
		error = ask_child(name, port, interrupt_fd, until_ns, &answer);
	if (!error && !answer.failure && answer.count > 0) {
		fill(ret_resolved, &answer);
		return 0;
	}
	if (error == -ETIMEDOUT)
		(void)snprintf(why, why_size, "its name cannot be resolved: no answer for %.3g s",
			       (double)(nm_clock_ns() - begin_ns) / 1e9);
	else if (error)
		(void)snprintf(why, why_size, "its name cannot be resolved: %s", strerror(-error));
	else
		(void)snprintf(why, why_size, "its name cannot be resolved: %s",
			       answer.failure
				       ? nm_address_why_unknown(name, answer.failure, answer.error)
				       : "it has no address");
	return error ? error : -EADDRNOTAVAIL;
}
