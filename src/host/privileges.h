/* SPDX-License-Identifier: Apache-2.0 */
/* Privileges of this process: its user, its groups and its capabilities. */
#ifndef NM_HOST_PRIVILEGES_H
#define NM_HOST_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_CAP(capability) (UINT64_C(1) << (capability)) /* CAP_NET_ADMIN: linux/capability.h */

/* Becomes the user, with the groups of that user and without any capability, for good. 0, or -errno
 * with a phrase in why. */
int nm_privileges_become(const char *user, char *why, size_t why_size);
/* Gives up all capabilities but these, of which the process need not have any. 0 or -errno. */
int nm_privileges_keep(uint64_t capabilities);
/* Whether this process can make use of the capability. */
bool nm_privileges_has(int capability);

#endif
