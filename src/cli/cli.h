/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the command. Functions that return int give the exit code of the process; those with
 * diags leave the printing of errors to main. */
#ifndef NM_CLI_CLI_H
#define NM_CLI_CLI_H

#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"

enum nm_exit {
	NM_EXIT_OK = 0,
	NM_EXIT_USAGE = 1,
	NM_EXIT_FAILED = 2,
	NM_EXIT_INTERNAL = 3,
};

/* Everything in diags, to standard error, in order and in these words (NULL: the usual ones); then
 * it is empty. */
void nm_cli_print_diags(struct nm_diags *diags, const struct nm_wording *wording);
/* The version of this build. */
const char *nm_cli_version(void);
/* An environment variable, in the form that parameters are looked up. */
const char *nm_cli_lookup(const char *name, void *arg);

/* help.c */
void nm_cli_help(FILE *out);
/* generate.c: NULL-terminated, what --generate takes. */
extern const char *const nm_cli_generate_words[];
int nm_cli_generate(const char *word, FILE *out, struct nm_diags *diags);
/* schema.c: RELAX NG of the language */
void nm_cli_generate_schema(FILE *out);
/* describe.c */
int nm_cli_describe(const char *const *words, size_t n_words, FILE *out, struct nm_diags *diags);
/* look.c: --check, --params, --dump-plan */
int nm_cli_look(const struct nm_args *args, FILE *out, struct nm_diags *diags);
/* Whether a profile, by name or path, declares a parameter; false also when it cannot be read. */
bool nm_cli_has_param(const char *profile, const char *name);
/* run.c */
int nm_cli_run(const struct nm_args *args, struct nm_diags *diags);
/* statistics.c: what was asked for, as enum nm_statistics */
unsigned nm_cli_statistics(const struct nm_args *args);
/* slave.c */
int nm_cli_slave(const struct nm_args *args, struct nm_diags *diags);

#endif
