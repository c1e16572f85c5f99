/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reaching a slave. */
#include "control/master/connect.h"

#include <errno.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/host_port.h"
#include "control/address.h"
#include "control/master/event_loop.h"
#include "control/peer.h"
#include "control/resolve.h"
#include "host/clock.h"
#include "transport/address.h"

#define RETRY_PAUSE_NS 50000000u
#define TELL_NS	       1000000000u /* longer waits are told */

/* Where a slave is to be. */
struct slave_at {
	char name[NM_HOST_MAX + 1];
	uint16_t port;
	const struct addrinfo *found; /* its addresses */
};

int nm_master_wait_for(const struct nm_master *master, int fd, short events, uint64_t until_ns)
{
	struct pollfd fds[2] = {
		{.fd = fd, .events = events},
		{.fd = master->interrupt_closed ? -1 : master->options->interrupt_fd,
		 .events = POLLIN}};
	uint64_t left_ns;

	do {
		const uint64_t now_ns = nm_clock_ns();

		left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		int n = poll(fds, 2, (int)((left_ns + 999999u) / 1000000u));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0 && (fds[1].revents & POLLIN))
			return -ECANCELED; /* the event loop takes the byte */
		if (n > 0 && fds[1].revents)
			fds[1].fd = -1; /* closed: none comes */
		if (n > 0 && fds[0].revents)
			return 1;
	} while (left_ns);
	return 0;
}

/* Where no socket listens on a port that the kernel may choose, a connection can be its own other
 * end. */
static bool is_to_itself(int fd)
{
	struct sockaddr_storage local = {0}, remote = {0};
	socklen_t local_size = sizeof local, remote_size = sizeof remote;

	return getsockname(fd, (struct sockaddr *)&local, &local_size) == 0 &&
	       getpeername(fd, (struct sockaddr *)&remote, &remote_size) == 0 &&
	       local_size == remote_size && memcmp(&local, &remote, local_size) == 0;
}

/* One attempt at one address: 0 with *ret_fd, or -errno. */
static int try_address(struct nm_master *master, const struct addrinfo *at, uint64_t until_ns,
		       int *ret_fd)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int segment = NM_CONTROL_SEGMENT_BYTES;
	int error = 0;
	socklen_t length = sizeof error;

	struct nm_addr to = {.len = at->ai_addrlen};

	if (fd < 0)
		return -errno;
	memcpy(&to.sa, at->ai_addr, at->ai_addrlen);
	/* Nothing would answer, and nothing would say so. */
	if (nm_addr_is_loopback(&to) && nm_address_flaw(&to, true)) {
		(void)close(fd);
		return -ENETDOWN;
	}
	if (at->ai_family != AF_VSOCK)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
	if (connect(fd, at->ai_addr, at->ai_addrlen) < 0)
		error = errno;
	if (error == EINPROGRESS) {
		int answer = nm_master_wait_for(master, fd, POLLOUT, until_ns);

		error = answer < 0 ? -answer : ETIMEDOUT;
		if (answer > 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
			error = errno;
	}
	if (!error && is_to_itself(fd))
		error = ECONNREFUSED;
	if (error) {
		(void)close(fd);
		/* The error of a connect to a port of vsock on which nobody listens. */
		return at->ai_family == AF_VSOCK && error == ECONNRESET ? -ECONNREFUSED : -error;
	}
	*ret_fd = fd;
	return 0;
}

/* The share of time of each address leaves some to the ones after it. */
int nm_master_try_all(struct nm_master *master, const struct addrinfo *found, uint64_t until_ns,
		      int *ret_fd)
{
	int error = -EADDRNOTAVAIL;
	unsigned left = 0;

	for (const struct addrinfo *at = found; at; at = at->ai_next)
		left++;
	for (const struct addrinfo *at = found; at; at = at->ai_next, left--) {
		uint64_t now_ns = nm_clock_ns();
		uint64_t share_ns = until_ns > now_ns ? (until_ns - now_ns) / left : 0;
		int answer = try_address(master, at, now_ns + share_ns, ret_fd);

		if (answer == 0 || answer == -ECANCELED)
			return answer;
		/* The error of a host that refuses says more than that of a host that is not
		 * there. */
		if (error != -ECONNREFUSED)
			error = answer;
	}
	return error;
}

/* Whether one of the addresses is this host's own: the way to it begins where it ends. */
static bool is_own(const struct addrinfo *found)
{
	bool own = false;

	for (const struct addrinfo *at = found; at && !own; at = at->ai_next) {
		struct nm_addr remote = {.len = at->ai_addrlen}, local;

		memcpy(&remote.sa, at->ai_addr, at->ai_addrlen);
		if (at->ai_family == AF_VSOCK)
			return nm_addr_is_loopback(&remote);
		int fd = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		own = fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0 &&
		      nm_address_of_ends(fd, &local, &remote) == 0 &&
		      nm_address_is_own(&remote, &local);
		if (fd >= 0)
			(void)close(fd);
	}
	return own;
}

static void start_slave(const struct nm_missing_slave *slave, char *buf, size_t size)
{
	char option[16] = "";

	if (slave->port != NM_DEFAULT_PORT)
		(void)snprintf(option, sizeof option, " -P %u", slave->port);
	(void)snprintf(buf, size, "start a slave with \"netmodel -s%s%s\"%s",
		       slave->vsock ? " -S vsock" : "", option, slave->key_words);
}

static const char *key_words(const struct nm_master *master, bool own_host)
{
	if (master->options->trust.key)
		return " and the key of this master (--key-file FILE, or NETMODEL_KEY in its "
		       "environment)";
	return own_host ? ""
			: " in a terminal there, and run the command that it prints, which has its "
			  "key";
}

/* The command that would have helped. */
static void explain_refusal(const struct nm_master *master, const struct slave_at *at, char *why,
			    size_t why_size)
{
	const struct nm_run_words *words = &master->options->words;
	bool own = is_own(at->found);
	const struct nm_missing_slave slave = {.port = at->port,
					       .vsock = at->found->ai_family == AF_VSOCK,
					       .own_host = own,
					       .key_words = key_words(master, own)};
	char command[320];

	if (words->start)
		words->start(words->arg, &slave, command, sizeof command);
	else
		start_slave(&slave, command, sizeof command);
	(void)snprintf(why, why_size, "nothing listens on port %u there: %s", at->port, command);
}

static void tell_wait(const struct nm_master *master, const struct slave_at *at, int error)
{
	const struct nm_run_events *events = &master->options->events;
	char line[NM_HOST_MAX + 160];

	(void)snprintf(line, sizeof line,
		       "waiting for a slave on %s, port %u, for up to %.3g s: %s", at->name,
		       at->port, (double)master->options->wait.slaves_ns / 1e9, strerror(-error));
	nm_make_plain(line);
	if (events->waits)
		events->waits(events->arg, line);
}

/* Whether a connect may fail in this way while a slave, or its host, is just starting. */
static bool may_come(int error)
{
	return error == -ECONNREFUSED || error == -EHOSTUNREACH || error == -ETIMEDOUT;
}

/* The meaning of an error of a connect, where its name alone leaves the user to guess. */
static const char *meaning_of(int error)
{
	switch (error) {
	case -ENETDOWN:
		return ": the interface is down (ip link)";
	case -ETIMEDOUT:
		return ": the host is down, its address is another, or a firewall drops what is "
		       "for "
		       "that port";
	case -EHOSTUNREACH:
		return ": the host is down, its address is another, or a router or firewall says "
		       "that it cannot be reached";
	case -ENETUNREACH:
		return ": this host has no route to it (ip route get ADDRESS)";
	case -EACCES:
	case -EPERM:
		return ": a route or a firewall of this host forbids it";
	default:
		return "";
	}
}

/* As above, but by what this host knows about the address, where that says it. */
static void print_meaning(const struct addrinfo *found, int error, char *buf, size_t size)
{
	struct nm_addr to = {.len = found->ai_addrlen};

	memcpy(&to.sa, found->ai_addr, found->ai_addrlen);
	const char *flaw = nm_address_flaw(&to, nm_addr_is_loopback(&to) || is_own(found));

	(void)snprintf(buf, size, "%s%s", flaw ? ": " : meaning_of(error), flaw ? flaw : "");
}

/* Tries again for a while where nobody listens yet. Meanwhile the slaves that are there are kept in
 * touch with. */
static int dial(struct nm_master *master, const struct slave_at *at, uint64_t until_ns, int *ret_fd,
		char *why, size_t why_size)
{
	const struct addrinfo *found = at->found;
	uint64_t begin_ns = nm_clock_ns();
	bool told = false;
	char meaning[192];
	int error;

	for (;;) {
		error = nm_master_try_all(master, found, until_ns, ret_fd);
		uint64_t now_ns = nm_clock_ns(), waited_ns = now_ns - begin_ns;

		if (!may_come(error) || waited_ns >= master->options->wait.slaves_ns)
			break;
		if (!told && waited_ns >= TELL_NS)
			tell_wait(master, at, error);
		told |= waited_ns >= TELL_NS;
		for (uint64_t end_ns = now_ns + RETRY_PAUSE_NS; nm_clock_ns() < end_ns;)
			nm_master_poll(master, end_ns);
		if (nm_outcome_ends(&master->outcome)) {
			error = -ECANCELED;
			break;
		}
		until_ns = nm_clock_ns() + nm_master_patience_ns(master);
	}
	if (error == -ECONNREFUSED)
		explain_refusal(master, at, why, why_size);
	else if (error && found->ai_family == AF_VSOCK)
		(void)snprintf(why, why_size, "cannot connect to port %u over vsock: %s", at->port,
			       error == -EAFNOSUPPORT ? "the kernel has no vsock (CONFIG_VSOCKETS)"
						      : strerror(-error));
	else if (error) {
		print_meaning(found, error, meaning, sizeof meaning);
		(void)snprintf(why, why_size, "cannot connect to port %u: %s%s", at->port,
			       strerror(-error), meaning);
	}
	return error;
}

static int dial_vsock(struct nm_master *master, struct slave_at *at, int *ret_fd, char *why,
		      size_t why_size)
{
	struct nm_addr to;

	if (nm_addr_parse_cid(at->name, &to) < 0) {
		(void)snprintf(why, why_size,
			       "not a CID: with -S vsock, remotehost is a number, or local");
		return -EADDRNOTAVAIL;
	}
	((struct sockaddr_vm *)(void *)&to.sa)->svm_port = at->port;
	const struct addrinfo found = {
		.ai_family = AF_VSOCK, .ai_addr = (struct sockaddr *)&to.sa, .ai_addrlen = to.len};

	at->found = &found;
	return dial(master, at, nm_clock_ns() + nm_master_patience_ns(master), ret_fd, why,
		    why_size);
}

int nm_master_connect(struct nm_master *master, const char *name, uint64_t until_ns, int *ret_fd,
		      char *why, size_t why_size)
{
	struct nm_resolved resolved;
	struct slave_at at = {.found = resolved.list};

	/* The plan has hosts only that can be parted. */
	if (nm_host_port_split(name, at.name, &at.port) < 0)
		return -EINVAL;
	if (!at.port)
		at.port = master->options->port;
	if (master->options->control == NM_CONTROL_VSOCK)
		return dial_vsock(master, &at, ret_fd, why, why_size);
	int error = nm_resolve(at.name, at.port, master->options->interrupt_fd, until_ns, &resolved,
			       why, why_size);

	if (error)
		return error;
	return dial(master, &at, nm_clock_ns() + nm_master_patience_ns(master), ret_fd, why,
		    why_size);
}
