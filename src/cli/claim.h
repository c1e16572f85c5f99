/* SPDX-License-Identifier: Apache-2.0 */
/* Names of which each has one owner in a network namespace, as an interface that is measured. */
#ifndef NM_CLI_CLAIM_H
#define NM_CLI_CLAIM_H

#include <stddef.h>

#define NM_CLAIM_NAME  64  /* bytes of a name, with the zero at its end */
#define NM_CLAIM_OWNER 128 /* bytes of what an owner says of itself, likewise */

/* Makes the name that of the owner, and returns a descriptor: while it is open, or one that another
 * process of the same user and owner has got in the same way, the name is taken. Returns a negative error;
 * -EADDRINUSE: ret_holder is what its owner says of itself, or nothing. */
int nm_claim(const char *name, const char *owner, char ret_holder[NM_CLAIM_OWNER]);

/* Tells who asks, where the descriptor is readable. */
void nm_claim_answer(int fd, const char *owner);

#endif
