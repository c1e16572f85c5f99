/* SPDX-License-Identifier: Apache-2.0 */
/* The slave: -s. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/dialect.h"
#include "cli/key.h"
#include "cli/signals.h"
#include "control/slave/daemon.h"

/* What is called from the slave gets. */
struct context {
	const struct nm_args *args;
	struct nm_slave_key key;
};

static void on_listening(void *arg, const char *address, uint16_t port)
{
	struct context *context = arg;

	if (!context->args->output.quiet)
		fprintf(stderr, "netmodel: slave listening on %s port %u\n", address,
			(unsigned)port);
	nm_cli_print_key(context->args, &context->key, port);
}

/* Sessions are worth a line each, so a slave tells them unless it is told not to. */
static void on_log(void *arg, const char *line)
{
	const struct context *context = arg;

	if (!context->args->output.quiet)
		fprintf(stderr, "netmodel: %s\n", line);
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* What a slave's own result is to the tool whose line has started it: in one piece, as others may
 * print, too. */
static void on_ended(void *arg, struct nm_result *result)
{
	const struct nm_args *args = ((const struct context *)arg)->args;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int error = out ? nm_dialect.write_slave(args, result, out) : -ENOMEM;

	if (out && fclose(out) != 0 && !error)
		error = -ENOMEM;
	if (!error)
		error = write_all(STDOUT_FILENO, text, size);
	if (error)
		fprintf(stderr, "netmodel: standard output: %s\n", strerror(-error));
	free(text);
}

static int open_file_root(const char *path, struct nm_file_root *ret_root, struct nm_diags *diags)
{
	int error = nm_file_root_open(ret_root, path);

	if (error)
		nm_diag_add(diags, NM_SEV_ERROR, NULL, 0,
			    &(const struct nm_subject){
				    .kind = NM_SUBJECT_OPTION, .name = "file-root", .value = path},
			    ": %s", strerror(-error));
	return error;
}

int nm_cli_slave(const struct nm_args *args, struct nm_diags *diags)
{
	struct nm_slave_options options;
	struct context context = {.args = args};
	int interrupt_fd = nm_signals_start();

	if (interrupt_fd < 0) {
		nm_diag_error(diags, NULL, 0, "no pipe for signals: %s", strerror(-interrupt_fd));
		return NM_EXIT_INTERNAL;
	}
	if (nm_cli_slave_key(args, &context.key, diags) != 0)
		return NM_EXIT_USAGE;
	nm_slave_options_default(&options);
	options.strangers_hint = nm_dialect.strangers;
	options.control = args->control;
	options.bind = args->as_slave.bind;
	options.port = (uint16_t)args->port;
	options.admission = context.key.admission;
	options.key = context.key.key;
	if (args->as_slave.max_flows)
		options.max_flows = args->as_slave.max_flows;
	if (args->max_duration_ns)
		options.max_duration_ns = args->max_duration_ns;
	options.timeout_ns = args->timeout_ns;
	options.sessions = args->as_slave.once ? 1 : args->as_slave.sessions;
	if (args->line) {
		options.sessions_words = nm_dialect.sessions;
		options.ended = on_ended;
	}
	options.cpus = args->cpus;
	if (open_file_root(args->as_slave.file_root, &options.files, diags) < 0)
		return NM_EXIT_USAGE;
	options.interrupt_fd = interrupt_fd;
	options.arg = &context;
	options.listening = on_listening;
	options.log = on_log;
	if (args->as_slave.max_lifetime_ns)
		(void)nm_signals_limit(args->as_slave.max_lifetime_ns);
	int error = nm_slave_serve(&options, diags);

	context.key.key = nm_key_free(context.key.key);
	if (error)
		return NM_EXIT_FAILED;
	if (!nm_signals_limited())
		return NM_EXIT_OK;
	nm_cli_tell_limit(diags, "max-lifetime", args->as_slave.max_lifetime_ns,
			  ": the slave ends");
	return NM_EXIT_FAILED;
}
