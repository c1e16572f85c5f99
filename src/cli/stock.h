/* SPDX-License-Identifier: Apache-2.0 */
/* Where stock profiles are. */
#ifndef NM_CLI_STOCK_H
#define NM_CLI_STOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"

/* The file that -m means: a path as it is, a name as a stock profile. Owned; NULL with an error in
 * diags. */
char *nm_stock_find(const char *name, struct nm_diags *diags);
/* Whether -m would find something by that name. */
bool nm_stock_has(const char *name);
/* Whether a profile, by name or path, declares a parameter; false also when it cannot be read. */
bool nm_stock_has_param(const char *profile, const char *name);
/* The existing name or path that a mistaken one may mean, as a user would type it: owned, NULL when
 * none is near. */
char *nm_stock_near(const char *name);
/* --list: name and first sentence of each stock profile. The exit code. */
int nm_stock_list(FILE *out, struct nm_diags *diags);

#endif
