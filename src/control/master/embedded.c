/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a session on this host, over a pair of loopback sockets, and sees to its end. */
#include "control/master/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/address.h"
#include "control/slave/session.h"
#include "control/wire/message.h"
#include "engine/thread.h"
#include "host/sandbox.h"
#include "host/signals.h"
#include "host/clock.h"
#include "profile/tree.h"
#include "transport/peers.h"

#define FIRST_FD 3u /* after the standard ones */

struct nm_embedded_thread {
	struct nm_thread thread;
	struct nm_slave_options options;
	locale_t locale;
	int fd;	     /* the session's end of the connection, which it closes */
	int shut_fd; /* a duplicate of fd, by which the session is cut off */
	atomic_bool done;
};

static const struct timespec step = {.tv_nsec =
					     2000000}; /* between two looks whether it has ended */

/* Closes all other inherited descriptors: the slave must not keep a stranger's pipe or port
 * open. */
static int keep_only(int fd)
{
	if (fd != (int)FIRST_FD) {
		if (dup3(fd, (int)FIRST_FD, O_CLOEXEC) < 0)
			return -errno;
		fd = (int)FIRST_FD;
	}
	(void)close_range(FIRST_FD + 1, ~0u, 0);
	return fd;
}

/* The master runs as the slave's own user, on its own host: no limits are needed. */
static void trust(struct nm_slave_options *options)
{
	options->max_flows = 0;
	options->max_duration_ns = 0;
	options->max_memory_bytes = 0;
	options->allowed = nm_nets_all;
	options->n_allowed = NM_NETS_ALL;
}

static void run_child(int fd, pid_t parent, uint64_t timeout_ns)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
	struct nm_sandbox *sandbox;
	struct nm_slave_options options;

	nm_signals_forget_handlers();
	/* Signals of the terminal are for the master, which then ends this process's session. */
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		(void)signal(ignored[i], SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NM_SESSION_BROKEN);
	nm_signals_unblock();
	fd = keep_only(fd);
	/* The master trusts this slave, but like any slave it reads the bytes of other hosts. */
	if (fd < 0 || nm_sandbox_new(&sandbox) < 0)
		_exit(NM_SESSION_BROKEN);
	(void)nm_sandbox_enter(sandbox);
	nm_message_wipe_all();
	nm_profile_wipe_all();
	nm_slave_options_default(&options);
	options.timeout_ns = timeout_ns;
	trust(&options);
	_exit((int)nm_session_serve(fd, &options, NULL));
}

/* A pair of connected loopback sockets. The listener is gone before anybody else can find it. */
static int connect_pair(int ret_fds[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in ours, theirs;
	socklen_t length = sizeof address, ours_length = sizeof ours, length2 = sizeof theirs;
	struct nm_addr loopback = {.len = sizeof address};

	memcpy(&loopback.sa, &address, sizeof address);
	ret_fds[0] = ret_fds[1] = -1;
	/* The connect would wait for minutes. */
	if (nm_address_flaw(&loopback, true))
		return -ENETDOWN;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = 0;

	ret_fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || ret_fds[0] < 0 ||
	    bind(listener, (const struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(listener, 8) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &length) < 0 ||
	    connect(ret_fds[0], (const struct sockaddr *)&address, sizeof address) < 0 ||
	    getsockname(ret_fds[0], (struct sockaddr *)&ours, &ours_length) < 0)
		error = -errno;
	/* Somebody else may have been quicker to connect. */
	while (!error && ret_fds[1] < 0) {
		ret_fds[1] = accept4(listener, (struct sockaddr *)&theirs, &length2, SOCK_CLOEXEC);
		if (ret_fds[1] < 0 && errno != EINTR) {
			error = -errno;
		} else if (ret_fds[1] >= 0 && theirs.sin_port != ours.sin_port) {
			(void)close(ret_fds[1]);
			ret_fds[1] = -1;
		}
	}
	if (listener >= 0)
		(void)close(listener);
	if (error && ret_fds[0] >= 0)
		(void)close(ret_fds[0]);
	return error;
}

static int start_process(struct nm_embedded *embedded, uint64_t timeout_ns, const int fds[2])
{
	sigset_t before;
	pid_t parent = getpid();

	/* A signal between fork and the child's own handling of it would go to the caller's
	 * handler, twice. */
	nm_signals_block(&before);
	pid_t pid = fork();
	int error = pid < 0 ? -errno : 0;

	if (pid == 0)
		run_child(fds[1], parent, timeout_ns);
	nm_signals_restore(&before);
	(void)close(fds[1]);
	embedded->pid = pid > 0 ? pid : 0;
	return error;
}

static void *run_thread(void *arg)
{
	struct nm_embedded_thread *thread = arg;

	/* The session writes numbers as in the C locale, also when the program has another. */
	if (thread->locale)
		(void)uselocale(thread->locale);
	(void)nm_session_serve(thread->fd, &thread->options, NULL);
	atomic_store(&thread->done, true);
	return NULL;
}

static void free_thread(struct nm_embedded_thread *thread)
{
	if (thread->locale)
		freelocale(thread->locale);
	if (thread->shut_fd >= 0)
		(void)close(thread->shut_fd);
	free(thread);
}

static int start_thread(struct nm_embedded *embedded, uint64_t timeout_ns, const int fds[2])
{
	struct nm_embedded_thread *thread = calloc(1, sizeof *thread);
	int error = -ENOMEM;

	if (thread) {
		thread->fd = fds[1];
		thread->locale = newlocale(LC_ALL_MASK, "C", NULL);
		thread->shut_fd = fcntl(fds[1], F_DUPFD_CLOEXEC, (int)FIRST_FD);
		nm_slave_options_default(&thread->options);
		thread->options.timeout_ns = timeout_ns;
		trust(&thread->options);
		thread->options.in_process = true;
		error = thread->shut_fd < 0
				? -errno
				: nm_thread_start(&thread->thread, 0, run_thread, thread);
	}
	if (!error) {
		embedded->thread = thread;
		return 0;
	}
	(void)close(fds[1]);
	if (thread)
		free_thread(thread);
	return error;
}

int nm_embedded_start(struct nm_embedded *embedded, bool in_process, uint64_t timeout_ns,
		      int *ret_fd)
{
	int fds[2];
	sigset_t before;

	/* A signal that interrupts connect(2) leaves it half done. */
	nm_signals_block(&before);
	int error = connect_pair(fds);

	nm_signals_restore(&before);
	if (error)
		return error;
	error = in_process ? start_thread(embedded, timeout_ns, fds)
			   : start_process(embedded, timeout_ns, fds);
	if (error) {
		(void)close(fds[0]);
		return error;
	}
	*ret_fd = fds[0];
	return 0;
}

bool nm_embedded_is_started(const struct nm_embedded *embedded)
{
	return embedded->pid > 0 || embedded->thread;
}

/* A thread cannot be killed. Without its connection its session ends by itself. */
static void end_thread(struct nm_embedded *embedded, uint64_t wait_ns)
{
	struct nm_embedded_thread *thread = embedded->thread;
	uint64_t until_ns = nm_clock_ns() + wait_ns;

	while (!atomic_load(&thread->done) && nm_clock_ns() < until_ns)
		(void)nanosleep(&step, NULL);
	(void)shutdown(thread->shut_fd, SHUT_RDWR);
	nm_thread_join(&thread->thread);
	free_thread(thread);
	embedded->thread = NULL;
}

void nm_embedded_end(struct nm_embedded *embedded, uint64_t wait_ns, char *how, size_t how_size)
{
	uint64_t until_ns = nm_clock_ns() + wait_ns;
	int status = 0;
	pid_t pid = 0;
	int options = WNOHANG;
	bool killed = false;

	how[0] = '\0';
	if (embedded->thread)
		end_thread(embedded, wait_ns);
	if (embedded->pid <= 0)
		return;
	for (;;) {
		pid = waitpid(embedded->pid, &status, options);
		if (pid == embedded->pid || (pid < 0 && errno != EINTR))
			break;
		if (pid == 0 && nm_clock_ns() >= until_ns) {
			(void)kill(embedded->pid, SIGKILL);
			killed = true;
			options = 0;
		} else if (pid == 0) {
			(void)nanosleep(&step, NULL);
		}
	}
	if (pid > 0 && WIFSIGNALED(status) && !killed)
		(void)snprintf(how, how_size, "it was ended by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	embedded->pid = 0;
}
