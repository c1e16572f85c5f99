/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of another tool, which netmodel understands besides its own: the functions and
 * words that the rest of this room needs of it. There is one such tool, in a folder of its own, and
 * nothing else names it. */
#ifndef NM_CLI_DIALECT_H
#define NM_CLI_DIALECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"
#include "report/view.h"
#include "result/result.h"

/* The options of the tool with the values that are in force. */
struct nm_tool_options {
	struct nm_tool_option *items; /* with names and values owned */
	size_t count;
};

struct nm_dialect {
	const char *kind; /* the kind of its first words: "one of the tool's workloads" */
	/* A hint for a user who has connected to a slave with the tool itself. */
	const char *strangers;
	const char *sessions; /* its option of how many sessions a slave serves */
	/* Whether a line that begins with the word belongs to the tool. */
	bool (*knows)(const char *word);
	/* Reads a line, whose second word it knows, into args: 0, or -EINVAL with errors in diags.
	 * args must be given to nm_args_fini, and args->line to free_line, in any case: until then
	 * the wording of args may be used. */
	int (*parse)(int argc, char *const argv[], struct nm_args *ret_args,
		     struct nm_diags *diags);
	void (*free_line)(void *line);
	/* A line of the tool's with its meaning, as --help has examples. */
	const char *example;
	/* Prints the help of a line that begins with the word. */
	void (*help)(const char *word, FILE *out);
	/* Prints a table of all of the tool's options, for the documents. */
	void (*print_table)(FILE *out);
	/* The meaning of a letter for the tool, as a phrase into buf; false: there is nothing to
	 * say. */
	bool (*letter)(char letter, char *buf, size_t size);
	/* The tool's options for the run that the args describe, whichever tool's line set them;
	 * none when the tool has no such workload. 0 or -ENOMEM; to be given to free_options in any
	 * case. */
	int (*options)(const struct nm_args *args, const struct nm_params *params,
		       struct nm_tool_options *ret_options);
	void (*free_options)(struct nm_tool_options *options);
	/* Whether the args, whichever tool's line set them, run or serve one of the tool's
	 * streams. */
	bool (*is_stream)(const struct nm_args *args);
	/* Prints these options, as the tool does when it is to run nothing. 0 or -ENOMEM. */
	int (*print_options)(const struct nm_args *args, const struct nm_params *params, FILE *out);
	/* The threads that the slave which the args start is to have; 0: as its masters say. */
	uint64_t (*threads)(const struct nm_args *args);
	/* Says how to get a result from the slave that the args have started: by its client's line,
	 * unless the user has that already, or from this host alone. */
	void (*waits)(const struct nm_args *args, bool has_client_line, uint16_t port, char *buf,
		      size_t size);
	/* The line of a master for the slave that the args have started. */
	void (*master_line)(const struct nm_args *args, const char *address, uint16_t port,
			    char *buf, size_t size);
	/* Writes a slave's own result in the tool's form. 0 or -errno. */
	int (*write_slave)(const struct nm_args *args, struct nm_result *result, FILE *out);
};

extern const struct nm_dialect nm_dialect;

#endif
