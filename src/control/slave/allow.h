/* SPDX-License-Identifier: Apache-2.0 */
/* The privileges of a slave that masters of other hosts may use: only those that its --allow names.
 * Actions that a process without privileges could do need no permission. */
#ifndef NM_CONTROL_SLAVE_ALLOW_H
#define NM_CONTROL_SLAVE_ALLOW_H

#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

/* Reads a list of words, with commas between, to a set of bits. 0, or -EINVAL with a phrase in
 * why. */
int nm_allow_parse(const char *list, uint32_t *ret_allowed, char *why, size_t why_size);
/* The capabilities that sessions of masters of other hosts keep, as of nm_privileges_keep. */
uint64_t nm_allow_capabilities(uint32_t allowed);
/* Whether the plan needs only allowed privileges: 0, or -EPERM with a phrase in why, which names
 * the option and the word that would allow it. */
int nm_allow_check(const struct nm_plan *plan, uint32_t allowed, char *why, size_t why_size);

#endif
