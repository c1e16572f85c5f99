/* SPDX-License-Identifier: Apache-2.0 */
/* Listens, forks a process for each session, and reaps it. */
#include "control/slave/daemon.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/address.h"
#include "control/wire/codec.h"
#include "control/peer.h"
#include "control/slave/allow.h"
#include "control/slave/slots.h"
#include "control/slave/visitors.h"
#include "control/options.h"
#include "control/slave/session.h"
#include "host/clock.h"
#include "host/facts.h"
#include "host/fork.h"
#include "host/privileges.h"
#include "host/sandbox.h"
#include "profile/tree.h"
#include "transport/address.h"
#include "transport/socket.h"

#define BACKLOG 128
#define REAP_MS 100
#define END_NS	2000000000u /* time for sessions to end when the slave does */
#define DAY_NS	UINT64_C(86400000000000)

struct child {
	pid_t pid; /* 0: the slot is free */
	uint64_t since_ns;
};

struct daemon {
	const struct nm_slave_options *options;
	int listener;
	struct nm_sandbox *sandbox;	/* owned; for each session */
	struct nm_session_slots *slots; /* owned; shared with the sessions */
	struct child sessions[NM_SESSION_SLOTS];
	size_t n_sessions;
	struct nm_visitors visitors;
	uint64_t served; /* sessions that have run to their end */
};

void nm_slave_options_default(struct nm_slave_options *ret_options)
{
	*ret_options = (struct nm_slave_options){.port = NM_DEFAULT_PORT,
						 .max_flows = 1000000,
						 .max_duration_ns = DAY_NS,
						 .max_memory_bytes = nm_half_of_memory(),
						 .timeout_ns = 10000000000u,
						 .asked.sessions_words = "--once, --sessions",
						 .files = {.fd = -1},
						 .interrupt_fd = -1};
}

__attribute__((format(printf, 2, 3))) static void say(const struct daemon *daemon, const char *fmt,
						      ...)
{
	char line[704];
	va_list args;

	if (!daemon->options->log)
		return;
	va_start(args, fmt);
	(void)vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	daemon->options->log(daemon->options->arg, line);
}

/* Like say, for events that no master has caused: not each of them is told. */
__attribute__((format(printf, 2, 3))) static void say_of_stranger(const struct daemon *daemon,
								  const char *fmt, ...)
{
	unsigned untold;
	char text[640];
	va_list args;

	if (!nm_session_slots_may_tell(daemon->slots, nm_clock_ns(), &untold))
		return;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (untold)
		say(daemon, "%s (%u more before)", text, untold);
	else
		say(daemon, "%s", text);
}

/* A socket that listens at an address, or -errno. */
static int listen_at(const struct sockaddr *address, socklen_t length, bool both_families)
{
	const int on = 1, v6only = !both_families;
	bool internet = address->sa_family != AF_VSOCK;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* Not SO_REUSEPORT: a second slave on the port is a mistake, and must be told. */
	if ((internet && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) ||
	    (address->sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof v6only) < 0) ||
	    bind(fd, address, length) < 0 || listen(fd, BACKLOG) < 0) {
		int error = -errno;

		(void)close(fd);
		return error;
	}
	return fd;
}

/* On all addresses of both families, or of IPv4 where there is no IPv6. */
static int listen_everywhere(uint16_t port)
{
	const struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_ANY_INIT};
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_ANY)};
	int fd = listen_at((const struct sockaddr *)&in6, sizeof in6, true);

	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL || fd == -EPROTONOSUPPORT)
		fd = listen_at((const struct sockaddr *)&in, sizeof in, false);
	return fd;
}

/* The kernel chooses ports of vsock with 32 bits, which a master could not name. */
#define FIRST_FREE 49152u

static int listen_on_vsock(const char *bind_to, uint16_t port, struct nm_diags *diags)
{
	struct nm_addr at = {.len = sizeof(struct sockaddr_vm)};
	struct sockaddr_vm *vm = (struct sockaddr_vm *)(void *)&at.sa;
	unsigned last = port ? port : 65535;
	int fd = -EADDRINUSE;

	*vm = (struct sockaddr_vm){.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY};
	if (bind_to && nm_addr_parse_cid(bind_to, &at) < 0) {
		nm_diag_error(diags, NULL, 0,
			      "cannot listen on \"%s\" over vsock: not a CID, which is a number",
			      bind_to);
		return -EADDRNOTAVAIL;
	}
	for (unsigned p = port ? port : FIRST_FREE; p <= last && fd == -EADDRINUSE; p++) {
		vm->svm_port = p;
		fd = listen_at((const struct sockaddr *)&at.sa, at.len, false);
	}
	if (fd == -EADDRINUSE)
		nm_diag_error(diags, NULL, 0,
			      "port %u of vsock is in use: stop the other slave or choose another "
			      "port",
			      port);
	else if (fd < 0)
		nm_diag_error(diags, NULL, 0, "cannot listen on port %u of vsock: %s", port,
			      fd == -EAFNOSUPPORT ? "the kernel has no vsock (CONFIG_VSOCKETS)"
						  : strerror(-fd));
	return fd;
}

static int listen_on(const char *bind_to, uint16_t port, struct nm_diags *diags)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *found = NULL;
	char service[8];
	const char *flaw = NULL;
	int fd = -EADDRNOTAVAIL;

	if (!bind_to) {
		fd = listen_everywhere(port);
	} else {
		(void)snprintf(service, sizeof service, "%u", port);
		int failure = getaddrinfo(bind_to, service, &hints, &found);

		if (failure) {
			nm_diag_error(diags, NULL, 0,
				      "cannot listen on \"%s\" port %u: the address cannot be "
				      "resolved: %s",
				      bind_to, port,
				      nm_address_why_unknown(bind_to, failure, errno));
			return -EADDRNOTAVAIL;
		}
		for (struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
			struct nm_addr addr = {.len = at->ai_addrlen};

			fd = listen_at(at->ai_addr, at->ai_addrlen, false);
			memcpy(&addr.sa, at->ai_addr, at->ai_addrlen);
			flaw = nm_address_flaw(&addr, nm_addr_is_loopback(&addr));
		}
		freeaddrinfo(found);
	}
	if (fd == -EADDRINUSE)
		nm_diag_error(diags, NULL, 0,
			      "port %u is in use%s%s: stop the other slave or choose another port",
			      port, bind_to ? " on " : "", bind_to ? bind_to : "");
	else if (fd < 0)
		nm_diag_error(diags, NULL, 0, "cannot listen on %s port %u: %s%s%s",
			      bind_to ? bind_to : "any address", port, strerror(-fd),
			      flaw ? ": " : "", flaw ? flaw : "");
	return fd;
}

/* A session for a master of another host has fewer privileges than the slave. */
static void drop_privileges(const struct daemon *daemon, int fd)
{
	const struct nm_slave_options *options = daemon->options;
	uint64_t kept = nm_allow_capabilities(options->lent);
	struct nm_addr local, remote;

	if (nm_address_of_ends(fd, &local, &remote) == 0 && nm_address_is_own(&remote, &local))
		return;
	/* The folder was given so that its files are read. */
	if (options->files.fd >= 0)
		kept |= NM_CAP(CAP_DAC_READ_SEARCH);
	if (nm_privileges_keep(kept) < 0)
		_exit(NM_SESSION_BROKEN);
}

struct new_session {
	const struct daemon *daemon;
	int fd;
	pid_t parent;
	size_t index;
};

/* In the session's own process. */
static void run_session(const void *arg)
{
	const struct new_session session = *(const struct new_session *)arg;
	const struct daemon *daemon = session.daemon;
	const struct nm_session_slot slot = {.slots = daemon->slots, .index = session.index};

	/* An interrupt is for the slave, which then ends its sessions by SIGTERM. */
	nm_session_end_by_signal();
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != session.parent)
		_exit(NM_SESSION_BROKEN);
	(void)close(daemon->listener);
	if (daemon->options->interrupt_fd >= 0)
		(void)close(daemon->options->interrupt_fd);
	drop_privileges(daemon, session.fd);
	nm_message_wipe_all();
	nm_profile_wipe_all();
	int error = nm_sandbox_enter(daemon->sandbox);

	if (error)
		say(daemon, "session %d has no filter of system calls: %s", (int)getpid(),
		    strerror(-error));
	_exit((int)nm_session_serve(session.fd, daemon->options, &slot));
}

static void free_slot(struct daemon *daemon, size_t index)
{
	daemon->sessions[index].pid = 0;
	daemon->n_sessions--;
	nm_slave_runs_leave(&daemon->slots->runs, index, nm_clock_ns());
	atomic_store(&daemon->slots->state[index], NM_SESSION_SLOT_FREE);
}

/* Makes room for one more connection of a host (0: of any) by closing those that have been silent
 * for longest. */
static void close_oldest_silent(struct daemon *daemon, uint64_t host, size_t most)
{
	while (nm_session_slots_count_of(daemon->slots, NM_SESSION_SLOT_SILENT, host) >= most) {
		size_t oldest = NM_SESSION_SLOTS;

		for (size_t i = 0; i < NM_SESSION_SLOTS; i++) {
			if (atomic_load(&daemon->slots->state[i]) == NM_SESSION_SLOT_SILENT &&
			    (!host || atomic_load(&daemon->slots->host[i]) == host) &&
			    (oldest == NM_SESSION_SLOTS ||
			     daemon->sessions[i].since_ns < daemon->sessions[oldest].since_ns))
				oldest = i;
		}
		if (oldest == NM_SESSION_SLOTS || !nm_session_slots_close(daemon->slots, oldest))
			continue; /* the connection has just said hello */
		(void)kill(daemon->sessions[oldest].pid, SIGKILL);
		while (waitpid(daemon->sessions[oldest].pid, NULL, 0) < 0 && errno == EINTR)
			continue;
		free_slot(daemon, oldest);
	}
}

/* host: as in slots.h */
static void start_session(struct daemon *daemon, int fd, uint64_t host)
{
	sigset_t all, before;
	size_t index = 0;

	if (host)
		close_oldest_silent(daemon, host, NM_SESSION_SLOTS_OF_HOST);
	close_oldest_silent(daemon, 0, NM_SESSION_SLOTS_SILENT);
	while (index < NM_SESSION_SLOTS && daemon->sessions[index].pid)
		index++;
	if (index == NM_SESSION_SLOTS)
		return; /* too many sessions have just lost their places; they go within a second */
	nm_session_slots_begin(daemon->slots, index, host);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	const struct new_session session = {
		.daemon = daemon, .fd = fd, .parent = getpid(), .index = index};
	pid_t pid = nm_fork(run_session, &session);

	daemon->sessions[index] = (struct child){.pid = pid, .since_ns = nm_clock_ns()};
	daemon->n_sessions++;
	if (pid < 0) {
		say(daemon, "cannot fork a session: %s", strerror(errno));
		free_slot(daemon, index);
	}
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Refuses a master that this slave does not take, before the master has said anything and without a
 * process for it. Takes fd. */
static void turn_away(struct daemon *daemon, int fd, const struct nm_addr *remote)
{
	uint64_t now_ns = nm_clock_ns();
	struct nm_peer peer;
	char address[NM_ADDRESS_TEXT], text[512];

	nm_admission_explain(daemon->options->admission,
			     nm_addr_text(remote, address, sizeof address), text, sizeof text);
	if (nm_peer_init(&peer, fd, NM_SIDE_MASTER, NULL, daemon->options->timeout_ns, now_ns) ==
	    0) {
		(void)nm_peer_send(&peer, NM_MESSAGE_REFUSE, nm_refuse_pack("auth", text), now_ns);
		/* Bytes that are left unread would turn the end into a reset. */
		nm_peer_receive(&peer, now_ns);
		nm_peer_fini(&peer);
	}
	say_of_stranger(daemon, "master %s: refused: %s", address, text);
}

static void take_connection(struct daemon *daemon, int fd)
{
	struct nm_addr local, remote;
	uint64_t host;

	if (nm_address_of_ends(fd, &local, &remote) != 0) {
		(void)close(fd); /* the other end has gone already */
		return;
	}
	if (!nm_admission_may_connect(daemon->options->admission,
				      nm_address_is_own(&remote, &local))) {
		turn_away(daemon, fd, &remote);
		return;
	}
	host = nm_address_is_own(&remote, &local) ? 0 : nm_visitors_host(&remote);
	if (nm_visitors_admit(&daemon->visitors, host, nm_clock_ns()))
		start_session(daemon, fd, host);
	(void)close(fd);
}

/* Takes waiting connections, some at a time. False when the system has no room for one: try again
 * later. */
static bool accept_some(struct daemon *daemon)
{
	for (int i = 0; i < BACKLOG; i++) {
		int fd = accept4(daemon->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			take_connection(daemon, fd);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			return true;
		} else if (nm_socket_lacks_room(errno)) {
			say_of_stranger(daemon, "cannot take a connection: %s", strerror(errno));
			return false;
		} /* all other errors are about one connection */
	}
	return true;
}

/* Leaves places for as many sessions as are still wanted, so that of masters that come at once only
 * these are served. */
static void set_room(struct daemon *daemon)
{
	uint64_t wanted = daemon->options->sessions, left = NM_SESSION_SLOTS_SERVED;

	if (wanted)
		left = daemon->served < wanted ? wanted - daemon->served : 0;
	atomic_store(&daemon->slots->room,
		     left < NM_SESSION_SLOTS_SERVED ? (int)left : NM_SESSION_SLOTS_SERVED);
}

static void reap(struct daemon *daemon)
{
	for (size_t i = 0; i < NM_SESSION_SLOTS; i++) {
		int status;

		if (!daemon->sessions[i].pid)
			continue;
		pid_t pid = waitpid(daemon->sessions[i].pid, &status, WNOHANG);

		if (pid == 0 || (pid < 0 && errno == EINTR))
			continue;
		if (pid > 0 && WIFSIGNALED(status))
			say(daemon, "session %d was ended by signal %d (%s)", (int)pid,
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
		else if (pid > 0 && WEXITSTATUS(status) != NM_SESSION_NOTHING)
			daemon->served++;
		set_room(daemon);
		free_slot(daemon, i);
	}
}

static void end_sessions(struct daemon *daemon)
{
	const struct timespec step = {.tv_nsec = 5000000};
	uint64_t until_ns = nm_clock_ns() + END_NS;

	for (size_t i = 0; i < NM_SESSION_SLOTS; i++) {
		if (daemon->sessions[i].pid)
			(void)kill(daemon->sessions[i].pid, SIGTERM);
	}
	while (daemon->n_sessions && nm_clock_ns() < until_ns) {
		for (size_t i = 0; i < NM_SESSION_SLOTS; i++) {
			if (daemon->sessions[i].pid &&
			    waitpid(daemon->sessions[i].pid, NULL, WNOHANG) != 0)
				free_slot(daemon, i);
		}
		(void)nanosleep(&step, NULL);
	}
	for (size_t i = 0; i < NM_SESSION_SLOTS; i++) {
		if (!daemon->sessions[i].pid)
			continue;
		(void)kill(daemon->sessions[i].pid, SIGKILL);
		(void)waitpid(daemon->sessions[i].pid, NULL, 0);
		free_slot(daemon, i);
	}
}

static int serve(struct daemon *daemon)
{
	bool room = true;

	for (;;) {
		bool closing =
			daemon->options->sessions && daemon->served >= daemon->options->sessions;
		struct pollfd fds[2] = {
			{.fd = room && !closing ? daemon->listener : -1, .events = POLLIN},
			{.fd = daemon->options->interrupt_fd, .events = POLLIN},
		};

		if (closing && daemon->n_sessions == 0)
			return 0;
		if (poll(fds, 2, daemon->n_sessions || !room ? REAP_MS : -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents) {
			char byte = SIGTERM;

			if (read(daemon->options->interrupt_fd, &byte, 1) == 1)
				atomic_store(&daemon->slots->ended_by, byte);
			reap(daemon);
			if (daemon->n_sessions)
				say(daemon, "interrupted: ends %zu session%s under way",
				    daemon->n_sessions, daemon->n_sessions == 1 ? "" : "s");
			return 0;
		}
		reap(daemon);
		room = fds[0].revents ? accept_some(daemon) : true;
	}
}

int nm_slave_serve(const struct nm_slave_options *options, struct nm_diags *diags)
{
	struct daemon daemon = {.options = options};
	struct nm_addr address = {.len = sizeof address.sa};
	char text[NM_ADDRESS_TEXT];

	daemon.listener = options->control == NM_CONTROL_VSOCK
				  ? listen_on_vsock(options->bind, options->port, diags)
				  : listen_on(options->bind, options->port, diags);
	if (daemon.listener < 0)
		return daemon.listener;
	daemon.slots = nm_session_slots_new();
	int error = daemon.slots ? nm_sandbox_new(&daemon.sandbox) : -ENOMEM;
	if (!error &&
	    getsockname(daemon.listener, (struct sockaddr *)&address.sa, &address.len) < 0)
		error = -errno;
	if (!error && options->user) {
		error = nm_privileges_become(options->user, text, sizeof text);
		if (error)
			nm_diag_error(diags, NULL, 0, "--user %s: %s", options->user, text);
	}
	if (!error) {
		if (options->listening)
			options->listening(options->arg, nm_addr_text(&address, text, sizeof text),
					   nm_address_port(&address));
		set_room(&daemon);
		if (!nm_sandbox_filters(daemon.sandbox))
			say(&daemon, "this kernel has no filters of system calls "
				     "(CONFIG_SECCOMP_FILTER): sessions may make any");
		/* Once, instead of in each session. */
		if (options->key)
			nm_channel_warm_up();
		error = serve(&daemon);
	}
	end_sessions(&daemon);
	(void)close(daemon.listener);
	daemon.slots = nm_session_slots_free(daemon.slots);
	daemon.sandbox = nm_sandbox_free(daemon.sandbox);
	if (error && diags->n_errors == 0)
		nm_diag_error(diags, NULL, 0, "the slave cannot go on: %s", strerror(-error));
	return error;
}
