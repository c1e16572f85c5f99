/* SPDX-License-Identifier: Apache-2.0 */
/* The whole command: finds the tool that a line is for, does what it asks for, prints the
 * diagnostics, and returns the exit code. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/dialect.h"
#include "cli/guard.h"
#include "cli/key.h"
#include "cli/stock.h"
#include "host/sandbox.h"

#define UPERF "uperf" /* the name of a program, and of the form of its report */

static int act(const struct nm_args *args, const char *word, struct nm_diags *diags)
{
	diags->lenient = args->lenient;
	if (args->key.guard_ns) {
		int code = nm_cli_guard(args, diags);

		if (code >= 0)
			return code;
	}
	switch (args->action) {
	case NM_ACTION_RUN:
		diags->form_told = args->output.quiet ? NM_FORM_NOTHING : NM_FORM_NUMBER;
		return args->run.sweep.scan || args->run.sweep.search ? nm_cli_sweep(args, diags)
								      : nm_cli_run(args, diags);
	case NM_ACTION_SLAVE:
		return nm_cli_slave(args, diags);
	case NM_ACTION_CHECK:
	case NM_ACTION_PARAMS:
	case NM_ACTION_DUMP_PLAN:
	case NM_ACTION_OPTIONS:
		return nm_cli_inspect(args, stdout, diags);
	case NM_ACTION_DESCRIBE:
		return nm_cli_describe(args->words, args->n_words, stdout, diags);
	case NM_ACTION_LIST:
		return nm_stock_list(stdout, diags);
	case NM_ACTION_GENERATE:
		return nm_cli_generate(args->generate, stdout, diags);
	case NM_ACTION_MAKE_KEY:
		return nm_cli_make_key(args->key.make, stdout, diags);
	case NM_ACTION_PROBE:
		return nm_cli_probe(stdout, diags);
	case NM_ACTION_VERSION:
		printf("netmodel %s\n", nm_cli_version());
		return NM_EXIT_OK;
	case NM_ACTION_HELP:
		if (args->line)
			nm_dialect.help(word, stdout);
		else if (args->n_words)
			nm_cli_help_all(stdout);
		else if (args->run.as_uperf)
			nm_cli_help_uperf(stdout);
		else
			nm_cli_help(stdout);
		return NM_EXIT_OK;
	case NM_ACTION_GUARD:
	case NM_ACTION_NONE:
		break;
	}
	return NM_EXIT_USAGE;
}

/* The next file or pipe would get the number of a closed standard descriptor, and then the text for
 * standard error. Writes to a closed standard output fail here as well. 0 or -errno. */
static int hold_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* The lowest free number: this one. */
		if (open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return -errno;
	}
	return 0;
}

/* Flushes standard output, and prints the diagnostics. Returns the exit code. */
static int finish(int code, struct nm_diags *diags, const struct nm_wording *wording)
{
	if (fflush(stdout) != 0 &&
	    (code == NM_EXIT_UNMET || (code == NM_EXIT_OK && !diags->n_errors))) {
		nm_diag_error(diags, NULL, 0, "standard output cannot be written: %s",
			      strerror(errno));
		code = NM_EXIT_FAILED;
	}
	nm_cli_print_diags(diags, wording);
	return code;
}

/* A command line as it is read: with the tool that it is for. */
struct call {
	int argc;
	char **argv;	/* the second word is the tool's, if it is another one */
	char **made;	/* owned; NULL: argv is the caller's */
	bool for_other; /* nm_dialect's tool */
	bool as_uperf;	/* its profiles are uperf's */
};

/* The tool is found by the name by which the program was called, a link to it for example, or by
 * the first word. 0 or -ENOMEM; call->made must be freed in any case. */
static int find_tool(int argc, char **argv, struct call *call)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	char *name = slash ? (char *)slash + 1 : argc ? argv[0] : NULL;

	*call = (struct call){.argc = argc, .argv = argv};
	if (!name || strcmp(name, UPERF) == 0) {
		call->as_uperf = name;
		return 0;
	}
	if (nm_dialect.knows(name)) {
		call->for_other = true;
		call->made = calloc((size_t)argc + 2, sizeof(*call->made));
		if (!call->made)
			return -ENOMEM;
		call->made[0] = argv[0];
		call->made[1] = name;
		memcpy(call->made + 2, argv + 1, (size_t)argc * sizeof(*argv)); /* with the NULL */
		call->argc = argc + 1;
		call->argv = call->made;
	} else if (argc > 1 && strcmp(argv[1], UPERF) == 0) {
		call->as_uperf = true;
		call->argc--;
		call->argv++;
	} else {
		call->for_other = argc > 1 && nm_dialect.knows(argv[1]);
	}
	return 0;
}

static int run_call(const struct call *call, struct nm_args *args, struct nm_diags *diags)
{
	int error = call->for_other ? nm_dialect.parse(call->argc, call->argv, args, diags)
				    : nm_args_parse(call->argc, call->argv,
						    call->as_uperf ? UPERF : NULL, args, diags);

	args->run.as_uperf = call->as_uperf;
	return error ? NM_EXIT_USAGE : act(args, call->argv[1], diags);
}

int nm_cli_main(int argc, char **argv)
{
	struct nm_diags diags = {0};
	struct nm_args args = {.action = NM_ACTION_NONE};
	struct call call;
	int code = NM_EXIT_INTERNAL;

	if (hold_standard_descriptors() != 0)
		return NM_EXIT_INTERNAL; /* and nowhere to say so */
	const char *sandbox = getenv("NETMODEL_SANDBOX");
	if (sandbox && strcmp(sandbox, "kill") == 0)
		nm_sandbox_be_strict();
	if (find_tool(argc, argv, &call) == 0)
		code = run_call(&call, &args, &diags);
	else
		nm_diag_error(&diags, NULL, 0, "out of memory");
	code = finish(code, &diags, &args.wording);
	if (call.for_other)
		nm_dialect.free_line(args.line);
	nm_args_fini(&args);
	free(call.made);
	return code;
}
