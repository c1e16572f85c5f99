/* SPDX-License-Identifier: Apache-2.0 */
/* The slave: -s. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/dialect.h"
#include "cli/key.h"
#include "cli/log/log.h"
#include "cli/output_paths.h"
#include "cli/signals.h"
#include "cli/sink.h"
#include "control/slave/allow.h"
#include "control/slave/daemon.h"
#include "host/notify.h"

#define ROOM 4096u /* for a line, and for the one about lost lines before it */

#define RESULT_NS 2000000000u /* for the reader of a result, before its session ends */

/* A slave that is to be quiet, or whose reader sleeps, goes on without its lines. */
struct voice {
	const struct nm_args *args;
	struct nm_sink err, out;
	bool only_trouble; /* nothing is told of what goes as it should */
	struct nm_logs logs;
	_Atomic uint64_t *dropped; /* lines, of all its processes; shared with the sessions */
	struct nm_slave_key key;
};

/* Prints a line, and before it how many were lost. Bytes that are not taken at once are forgotten:
 * the next process would print them again. */
__attribute__((format(printf, 2, 3))) static void tell(struct voice *voice, const char *fmt, ...)
{
	uint64_t dropped = atomic_exchange(voice->dropped, 0);
	va_list args;

	if (!voice->err.stream || voice->args->output.quiet)
		return;
	if (dropped)
		fprintf(voice->err.stream,
			"netmodel: %" PRIu64 " lines were dropped: standard error was not read in "
			"time\n",
			dropped);
	fputs("netmodel: ", voice->err.stream);
	va_start(args, fmt);
	(void)vfprintf(voice->err.stream, fmt, args);
	va_end(args);
	fputc('\n', voice->err.stream);
	(void)nm_sink_flush(&voice->err);
	if (voice->err.from < voice->err.to)
		(void)atomic_fetch_add(voice->dropped, dropped + 1);
	voice->err.from = voice->err.to = 0;
}

static int voice_open(struct voice *voice, const struct nm_args *args)
{
	void *shared = mmap(NULL, sizeof *voice->dropped, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return -errno;
	/* Scripts that start the other tool take what it says for a failure. */
	*voice = (struct voice){.args = args,
				.dropped = shared,
				.only_trouble = args->line && !args->output.verbose &&
						!isatty(STDERR_FILENO)};
	/* A closed descriptor gets no lines; but without memory no user would learn where the slave
	 * is. */
	if (nm_sink_open_fd(&voice->err, STDERR_FILENO, ROOM) == -ENOMEM ||
	    nm_sink_open_fd(&voice->out, STDOUT_FILENO, ROOM) == -ENOMEM)
		return -ENOMEM;
	/* For tools that look at the process, descriptor 1 is the one that it writes to. */
	if (voice->out.way == NM_SINK_NONBLOCKING && voice->out.owns_fd &&
	    dup2(voice->out.fd, STDOUT_FILENO) == STDOUT_FILENO) {
		(void)close(voice->out.fd);
		voice->out.fd = STDOUT_FILENO;
		voice->out.owns_fd = false;
	}
	voice->out.waits = true;
	voice->out.patience_ns = RESULT_NS;
	return 0;
}

static void voice_close(struct voice *voice)
{
	(void)nm_sink_close(&voice->out);
	(void)nm_sink_close(&voice->err);
	(void)munmap((void *)voice->dropped, sizeof *voice->dropped);
}

static void on_listening(void *arg, const char *address, uint16_t port)
{
	struct voice *voice = arg;
	char hint[400], state[32];

	if (!voice->only_trouble)
		tell(voice, "slave listening on %s port %u", address, (unsigned)port);
	if (geteuid() == 0 && !voice->args->line)
		tell(voice, "warning: the slave runs as root: --user NAME gives that up once it "
			    "listens");
	if (voice->args->line && !voice->only_trouble) {
		nm_dialect.waits(voice->args, *voice->key.text, port, hint, sizeof hint);
		tell(voice, "%s", hint);
	}
	nm_cli_print_key(voice->args, &voice->key, port);
	(void)snprintf(state, sizeof state, "READY=1\nX_PORT=%u", (unsigned)port);
	nm_notify(getenv("NOTIFY_SOCKET"), state);
}

/* A session is worth a line, so a slave prints them unless it is to be quiet. */
static void on_log(void *arg, const char *line)
{
	tell(arg, "%s", line);
}

static void on_flows(void *arg, const struct nm_flow_rows *rows)
{
	struct voice *voice = arg;

	nm_logs_flows(&voice->logs, rows);
	int error = nm_logs_flush(&voice->logs);

	if (error)
		tell(voice, "--all-samples: cannot be written: %s", nm_output_error_text(error));
}

/* Prints a slave's own result in the form of the tool whose line has started it: in one piece, as
 * other sessions may print, too. */
static void on_ended(void *arg, struct nm_result *result)
{
	struct voice *voice = arg;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int error = out ? nm_dialect.write_slave(voice->args, result, out) : -ENOMEM;

	if (out && fclose(out) != 0 && !error)
		error = -ENOMEM;
	if (!error)
		error = voice->out.stream ? nm_sink_write(&voice->out, text, size) : -ENOMEM;
	if (error)
		tell(voice, "standard output: %s", nm_output_error_text(error));
	free(text);
}

static int read_allow(const char *list, uint32_t *ret_lent, struct nm_diags *diags)
{
	char why[160];
	int error = nm_allow_parse(list, ret_lent, why, sizeof why);

	if (error)
		nm_cli_refuse(diags, "allow", list, "%s", why);
	return error;
}

static int open_file_root(const char *path, struct nm_file_root *ret_root, struct nm_diags *diags)
{
	int error = nm_file_root_open(ret_root, path);

	if (error)
		nm_cli_refuse(diags, "file-root", path, "%s", strerror(-error));
	return error;
}

static void take_options(struct nm_slave_options *options, struct voice *voice)
{
	const struct nm_args *args = voice->args;

	nm_slave_options_default(options);
	options->strangers_hint = nm_dialect.strangers;
	options->control = args->control;
	options->bind = args->as_slave.bind;
	options->port = (uint16_t)args->port;
	options->admission = voice->key.admission;
	options->allowed = args->as_slave.allowed;
	options->n_allowed = args->as_slave.n_allowed;
	options->key = voice->key.key;
	if (args->as_slave.max_flows)
		options->max_flows = args->as_slave.max_flows;
	if (args->as_slave.max_memory_bytes)
		options->max_memory_bytes = args->as_slave.max_memory_bytes;
	if (args->has_max_duration)
		options->max_duration_ns = args->max_duration_ns;
	options->timeout_ns = args->timeout_ns;
	options->exclusive = args->as_slave.exclusive;
	options->sessions = args->as_slave.once ? 1 : args->as_slave.sessions;
	if (args->line) {
		options->asked.sessions_words = nm_dialect.sessions;
		options->ended = on_ended;
		options->asked.workers = nm_dialect.threads(args);
	}
	options->asked.only_trouble = voice->only_trouble;
	if (nm_logs_take_flows(&voice->logs))
		options->asked.flows = on_flows;
	options->cpus = args->cpus;
	options->arg = voice;
	options->listening = on_listening;
	options->log = on_log;
}

static int serve(struct voice *voice, struct nm_diags *diags)
{
	const struct nm_args *args = voice->args;
	struct nm_slave_options options;
	int interrupt_fd = nm_signals_start();

	if (interrupt_fd < 0) {
		nm_diag_error(diags, NULL, 0, "no pipe for signals: %s", strerror(-interrupt_fd));
		return NM_EXIT_INTERNAL;
	}
	if (nm_cli_slave_key(args, &voice->key, diags) != 0)
		return NM_EXIT_USAGE;
	if (nm_logs_open(&voice->logs, args, diags) != 0)
		return NM_EXIT_USAGE;
	(void)nm_logs_flush(&voice->logs); /* each session would write it again */
	take_options(&options, voice);
	options.interrupt_fd = interrupt_fd;
	options.user = args->as_slave.user;
	if (read_allow(args->as_slave.allow, &options.lent, diags) < 0)
		return NM_EXIT_USAGE;
	if (open_file_root(args->as_slave.file_root, &options.files, diags) < 0)
		return NM_EXIT_USAGE;
	if (args->as_slave.max_lifetime_ns)
		(void)nm_signals_limit(args->as_slave.max_lifetime_ns);
	int error = nm_slave_serve(&options, diags);

	nm_notify(getenv("NOTIFY_SOCKET"), "STOPPING=1");
	voice->key.key = nm_key_free(voice->key.key);
	if (error)
		return NM_EXIT_FAILED;
	if (!nm_signals_limited())
		return NM_EXIT_OK;
	nm_cli_tell_limit(diags, "max-lifetime", args->as_slave.max_lifetime_ns,
			  ": the slave ends");
	return NM_EXIT_FAILED;
}

int nm_cli_slave(const struct nm_args *args, struct nm_diags *diags)
{
	struct voice voice;
	int error = voice_open(&voice, args);

	if (error) {
		nm_diag_error(diags, NULL, 0, "%s", strerror(-error));
		return NM_EXIT_INTERNAL;
	}
	int code = serve(&voice, diags);

	if (nm_logs_close(&voice.logs, 0, NULL, diags) != 0 && code == NM_EXIT_OK)
		code = NM_EXIT_FAILED;
	voice_close(&voice);
	return code;
}
