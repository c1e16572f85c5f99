/* SPDX-License-Identifier: Apache-2.0 */
/* The guard of --guard. Its standard input says what to do, a line each:
 *
 *   key TEXT      the key of the child, which gets it as NETMODEL_KEY
 *   claim N WHO   the name N is that of WHO until the end, unless another has it
 *   remove PATH   a file, or a folder that is empty by then, which is removed at the end, the last
 *                 one first
 *   start         begin; without a child, there is nothing to begin
 *   (empty)       whoever has started this is still there
 *
 * When standard input ends, or no line comes for the time of --guard, the child and all of its
 * process group end: SIGTERM, and SIGKILL two seconds later. What happens is told on standard
 * error, in lines of JSON with a member "guard". */
#include "cli/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/claim.h"
#include "cli/cli.h"
#include "host/clock.h"
#include "host/sandbox.h"

#define LINE	   8192u
#define MAX_DOOM   64u
#define MERCY_NS   UINT64_C(2000000000)
#define ANSWER_NS  UINT64_C(2000000000) /* an owner that is stopped says nothing */
#define PORT_WORD  "X_PORT="
#define LONGEST_MS 60000

enum { INPUT, SIGNALS, NOTIFY, CLAIM, N_FDS };

struct guard {
	const struct nm_args *args;
	pid_t child; /* 0: none yet; -1: it has ended */
	int code;    /* of the child */
	uint64_t heard_ns, kill_ns;
	const char *why; /* why it ends; NULL: it goes on */
	bool started;
	struct pollfd fds[N_FDS];
	sigset_t before; /* the signals that were blocked before */
	char notify[32]; /* the name of the socket that the child tells its port on */
	char line[LINE]; /* of standard input, as far as it has come */
	size_t used;
	char *doomed[MAX_DOOM]; /* owned */
	size_t n_doomed;
	char *key;					 /* owned */
	char name[NM_CLAIM_NAME], owner[NM_CLAIM_OWNER]; /* that are claimed */
	unsigned tries;					 /* to claim it */
	char said[96];					 /* a why that is no constant */
	uint64_t asked_ns; /* another owner of it; 0: it has answered, or there is none */
};

__attribute__((format(printf, 1, 2))) static void tell(const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	int n = vsnprintf(text, sizeof text - 1, fmt, args);
	va_end(args);
	text[n] = '\n';
	/* Nobody may be left to read it. */
	if (write(STDERR_FILENO, text, (size_t)n + 1) < 0)
		return;
}

static void end(struct guard *guard, const char *why)
{
	if (!guard->why)
		guard->why = why;
}

static void misuse(struct guard *guard, const char *why)
{
	guard->code = NM_EXIT_USAGE;
	end(guard, why);
}

/* --- the child --- */

/* A socket on which the child tells when it is ready, as a service tells its manager. */
static int open_notify(struct guard *guard)
{
	struct sockaddr_un own = {.sun_family = AF_UNIX};
	socklen_t size = sizeof own;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* The kernel finds a free name: a zero and some digits. */
	if (bind(fd, (const struct sockaddr *)&own, sizeof(sa_family_t)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&own, &size) < 0) {
		int error = errno;

		(void)close(fd);
		return -error;
	}
	int n = (int)(size - offsetof(struct sockaddr_un, sun_path)) - 1;

	(void)snprintf(guard->notify, sizeof guard->notify, "@%.*s", n, own.sun_path + 1);
	return fd;
}

static void close_guard(struct guard *guard)
{
	for (size_t i = 0; i < guard->n_doomed; i++)
		free(guard->doomed[i]);
	if (guard->key)
		explicit_bzero(guard->key, strlen(guard->key));
	explicit_bzero(guard->line, sizeof guard->line);
	free(guard->key);
	for (size_t i = SIGNALS; i < N_FDS; i++)
		if (guard->fds[i].fd >= 0)
			(void)close(guard->fds[i].fd);
}

/* In the child: nothing of the guard is left but its care. */
static void become_child(struct guard *guard, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0)
		_exit(NM_EXIT_INTERNAL);
	(void)close(null);
	(void)setpgid(0, 0);
	if (setenv("NOTIFY_SOCKET", guard->notify, 1) != 0 ||
	    (guard->key && setenv("NETMODEL_KEY", guard->key, 1) != 0))
		_exit(NM_EXIT_INTERNAL);
	(void)sigprocmask(SIG_SETMASK, &guard->before, NULL);
	close_guard(guard);
}

/* Returns true in the child. */
static bool begin(struct guard *guard)
{
	guard->started = true;
	if (guard->args->action == NM_ACTION_GUARD) {
		tell("{\"guard\":\"started\"}");
		return false;
	}
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		become_child(guard, parent);
		return true;
	}
	if (pid < 0) {
		end(guard, "no process could be started");
		guard->code = NM_EXIT_INTERNAL;
		return false;
	}
	(void)setpgid(pid, pid);
	guard->child = pid;
	tell("{\"guard\":\"started\",\"pid\":%ld}", (long)pid);
	return false;
}

/* Takes the child's end. What else is of its group then ends, too: before the child's number is
 * free for others. */
static void reap(struct guard *guard)
{
	siginfo_t info = {0};
	int status;

	if (guard->child <= 0 ||
	    waitid(P_PID, (id_t)guard->child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    info.si_pid != guard->child)
		return;
	(void)kill(-guard->child, SIGKILL);
	if (waitpid(guard->child, &status, 0) == guard->child)
		guard->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	guard->child = -1;
	end(guard, "the command has ended");
}

/* --- what is read --- */

static void take_notice(const struct guard *guard)
{
	char text[256];
	ssize_t n = recv(guard->fds[NOTIFY].fd, text, sizeof text - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	const char *port = strstr(text, PORT_WORD);

	if (port)
		tell("{\"guard\":\"ready\",\"port\":%lu}",
		     strtoul(port + strlen(PORT_WORD), NULL, 10));
}

static void doom(struct guard *guard, const char *path)
{
	char *copy = guard->n_doomed < MAX_DOOM && *path == '/' ? strdup(path) : NULL;

	if (copy)
		guard->doomed[guard->n_doomed++] = copy;
	else
		end(guard, "a path to be removed is not absolute, or there are too many");
}

/* What a line of JSON has as a string. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '"' || *text == '\\')
			*text = '?';
}

/* A descriptor of the name that is claimed, or why there is none. */
static void settle_claim(struct guard *guard, int fd, char *holder)
{
	guard->asked_ns = 0;
	guard->fds[CLAIM].fd = fd < 0 ? -1 : fd;
	if (fd >= 0) {
		tell("{\"guard\":\"claimed\"}");
		return;
	}
	*guard->owner = '\0';
	if (fd == -EADDRINUSE) {
		make_plain(holder);
		tell("{\"guard\":\"taken\",\"by\":\"%s\"}", holder);
	} else {
		guard->code = NM_EXIT_INTERNAL;
		end(guard, "a name could not be claimed");
	}
}

static void try_to_claim(struct guard *guard)
{
	char nobody[] = "";
	bool asks = false;
	int fd = nm_claim(guard->name, &asks);

	guard->tries++;
	if (fd < 0 || !asks) {
		settle_claim(guard, fd, nobody);
		return;
	}
	guard->fds[CLAIM].fd = fd;
	guard->asked_ns = nm_clock_ns();
}

static void take_answer(struct guard *guard)
{
	char holder[NM_CLAIM_OWNER];
	int fd = nm_claim_hear(guard->fds[CLAIM].fd, guard->owner, holder);

	if (fd == -ECONNRESET && guard->tries < NM_CLAIM_TRIES)
		try_to_claim(guard);
	else
		settle_claim(guard, fd == -ECONNRESET ? -EADDRINUSE : fd, holder);
}

static void claim(struct guard *guard, const char *words)
{
	size_t length = strcspn(words, " ");
	const char *owner = words + length + strspn(words + length, " ");

	if (*guard->owner || !length || !*owner) {
		misuse(guard, "a name is claimed without an owner, or a second one");
		return;
	}
	if (length >= sizeof guard->name || strlen(owner) >= sizeof guard->owner) {
		(void)snprintf(guard->said, sizeof guard->said,
			       "a name of more than %zu bytes is claimed, or by an owner of more "
			       "than %zu",
			       sizeof guard->name - 1, sizeof guard->owner - 1);
		misuse(guard, guard->said);
		return;
	}
	(void)snprintf(guard->name, sizeof guard->name, "%.*s", (int)length, words);
	(void)snprintf(guard->owner, sizeof guard->owner, "%s", owner);
	guard->tries = 0;
	try_to_claim(guard);
}

/* Takes one line. Returns true in the child. */
static bool take_line(struct guard *guard, const char *line)
{
	guard->heard_ns = nm_clock_ns();
	if (strncmp(line, "key ", 4) == 0 && !guard->key && !guard->started) {
		nm_sandbox_keep_memory();
		guard->key = strdup(line + 4);
		if (!guard->key)
			end(guard, "no memory");
	} else if (strncmp(line, "claim ", 6) == 0) {
		claim(guard, line + 6);
	} else if (strncmp(line, "remove ", 7) == 0) {
		doom(guard, line + 7);
	} else if (strcmp(line, "start") == 0 && !guard->started) {
		return begin(guard);
	} else if (*line) {
		misuse(guard, "a line of standard input is unknown");
	}
	return false;
}

/* Takes what standard input has. Returns true in the child. */
static bool take_input(struct guard *guard)
{
	ssize_t n = read(STDIN_FILENO, guard->line + guard->used, LINE - 1 - guard->used);

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			end(guard, "standard input has ended");
		return false;
	}
	guard->used += (size_t)n;
	for (char *stop; !guard->why && (stop = memchr(guard->line, '\n', guard->used));) {
		size_t length = (size_t)(stop - guard->line) + 1;

		*stop = '\0';
		if (take_line(guard, guard->line))
			return true;
		memmove(guard->line, guard->line + length, guard->used - length);
		explicit_bzero(guard->line + guard->used - length, length);
		guard->used -= length;
	}
	if (guard->used == LINE - 1)
		end(guard, "a line of standard input is too long");
	return false;
}

static void take_signals(struct guard *guard)
{
	struct signalfd_siginfo info;

	while (read(guard->fds[SIGNALS].fd, &info, sizeof info) == (ssize_t)sizeof info)
		if (info.ssi_signo != SIGCHLD)
			end(guard, "a signal has come");
	reap(guard);
}

/* --- to the end --- */

/* Milliseconds until something is due. */
static int wait_ms(const struct guard *guard, uint64_t now)
{
	uint64_t due = guard->why ? guard->kill_ns : guard->heard_ns + guard->args->key.guard_ns;

	if (guard->asked_ns && guard->asked_ns + ANSWER_NS < due)
		due = guard->asked_ns + ANSWER_NS;
	uint64_t ms = due <= now ? 0 : (due - now) / 1000000 + 1;

	return ms < LONGEST_MS ? (int)ms : LONGEST_MS;
}

/* Asks the child to end, and later does not ask any more. */
static void end_child(struct guard *guard, uint64_t now)
{
	if (!guard->kill_ns) {
		(void)kill(-guard->child, SIGTERM);
		guard->kill_ns = now + MERCY_NS;
	} else if (now >= guard->kill_ns) {
		(void)kill(-guard->child, SIGKILL);
		guard->kill_ns = now + MERCY_NS;
	}
}

static void take_silence(struct guard *guard, uint64_t now)
{
	if (guard->asked_ns && now >= guard->asked_ns + ANSWER_NS)
		take_answer(guard);
	if (now >= guard->heard_ns + guard->args->key.guard_ns)
		end(guard, "standard input was silent for too long");
}

/* Returns true in the child. A guard that the machine has held up has not heard what has come
 * meanwhile: silence is where nothing has. */
static bool watch(struct guard *guard)
{
	for (;;) {
		uint64_t now = nm_clock_ns();

		if (guard->why && guard->child <= 0)
			return false;
		if (guard->why)
			end_child(guard, now);
		guard->fds[INPUT].fd = guard->why ? -1 : STDIN_FILENO;
		int n = poll(guard->fds, N_FDS, wait_ms(guard, now));

		if (n == 0)
			take_silence(guard, nm_clock_ns());
		if (n <= 0)
			continue;
		if (guard->fds[NOTIFY].revents)
			take_notice(guard);
		if (guard->fds[CLAIM].revents && guard->asked_ns)
			take_answer(guard);
		else if (guard->fds[CLAIM].revents)
			nm_claim_answer(guard->fds[CLAIM].fd, guard->owner);
		if (guard->fds[SIGNALS].revents)
			take_signals(guard);
		if (guard->fds[INPUT].revents && take_input(guard))
			return true;
	}
}

static int open_guard(struct guard *guard)
{
	sigset_t taken;

	(void)sigemptyset(&taken);
	for (const int *s = (const int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0}; *s; s++)
		(void)sigaddset(&taken, *s);
	if (sigprocmask(SIG_BLOCK, &taken, &guard->before) < 0)
		return -errno;
	(void)signal(SIGPIPE, SIG_IGN);
	int signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	int notify = signals < 0 ? -errno : open_notify(guard);

	for (size_t i = 0; i < N_FDS; i++)
		guard->fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	guard->fds[SIGNALS].fd = signals;
	guard->fds[NOTIFY].fd = notify;
	return notify < 0 ? notify : 0;
}

int nm_cli_guard(const struct nm_args *args, struct nm_diags *diags)
{
	struct guard guard = {.args = args, .heard_ns = nm_clock_ns()};
	int error = open_guard(&guard);

	if (error) {
		nm_diag_error(diags, NULL, 0, "--guard: %s", strerror(-error));
		return NM_EXIT_INTERNAL;
	}
	if (watch(&guard))
		return -1;
	for (size_t i = guard.n_doomed; i--;) /* a folder may have been told before what is in it */
		if (remove(guard.doomed[i]) < 0)
			tell("{\"guard\":\"kept\",\"why\":\"%s\"}", strerror(errno));
	tell("{\"guard\":\"ended\",\"code\":%d,\"why\":\"%s\"}", guard.code, guard.why);
	close_guard(&guard);
	return guard.code;
}
