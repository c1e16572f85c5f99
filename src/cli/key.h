/* SPDX-License-Identifier: Apache-2.0 */
/* The key of control connections, as options and environment have it. */
#ifndef NM_CLI_KEY_H
#define NM_CLI_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"
#include "control/key.h"
#include "control/slave/admission.h"

/* Whether an environment variable is about keys, and so no parameter of a profile. */
bool nm_cli_key_is_variable(const char *name);

/* The key of a master: of --key-file, else of the environment, where it is wiped. 0 with an owned
 * key (NULL: none), or -EINVAL with errors in diags. */
int nm_cli_key(const struct nm_args *args, struct nm_key **ret_key, struct nm_diags *diags);

struct nm_slave_key {
	enum nm_admission admission;
	struct nm_key *key;	/* owned; NULL: none */
	char text[NM_KEY_TEXT]; /* a key that was made and has not been printed yet; else "" */
};

/* Which masters a slave takes, and its key. On a terminal a key is made unless options or
 * environment say otherwise. 0, or -EINVAL with errors in diags. */
int nm_cli_slave_key(const struct nm_args *args, struct nm_slave_key *ret, struct nm_diags *diags);
/* Prints a key that was made, once, as the command of a master. */
void nm_cli_print_key(const struct nm_args *args, struct nm_slave_key *key, uint16_t port);

/* --make-key: to a new file, or with "-" to out. The exit code. */
int nm_cli_make_key(const char *path, FILE *out, struct nm_diags *diags);

#endif
