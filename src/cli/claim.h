/* SPDX-License-Identifier: Apache-2.0 */
/* Names of which each has one owner in a network namespace, as an interface that is measured. */
#ifndef NM_CLI_CLAIM_H
#define NM_CLI_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

#define NM_CLAIM_NAME  64  /* bytes of a name, with the zero at its end */
#define NM_CLAIM_OWNER 128 /* bytes of what an owner says of itself, likewise */

#define NM_CLAIM_TRIES 5 /* of what an owner that has just ended makes vain */

/* Makes the name the caller's, and returns a descriptor: while it is open, or one that another
 * process of the same user and owner has got in the same way, the name is taken. With *ret_asks it
 * is a connection to who has the name, and can be read when that has answered. Returns a negative
 * error; -EADDRINUSE: nobody can be asked who has it. */
int nm_claim(const char *name, bool *ret_asks);

/* Closes the connection, and returns a descriptor of the name if the same owner has it; or
 * -EADDRINUSE: ret_holder is what its owner says of itself, nothing where that has not answered; or
 * -ECONNRESET: that has ended instead, and the name may be free. */
int nm_claim_hear(int fd, const char *owner, char ret_holder[NM_CLAIM_OWNER]);

/* Tells who asks, where the descriptor is readable. */
void nm_claim_answer(int fd, const char *owner);

#endif
