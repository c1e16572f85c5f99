/* SPDX-License-Identifier: Apache-2.0 */
/* Which masters a slave takes: by where they are, and by the key that they have proved. No I/O
 * here. */
#ifndef NM_CONTROL_SLAVE_ADMISSION_H
#define NM_CONTROL_SLAVE_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>

/* Whom a slave takes. */
enum nm_admission {
	NM_ADMIT_OWN_HOST,   /* masters of its own host; there is no key */
	NM_ADMIT_ALL,	     /* any, without proof of who they are; there is no key */
	NM_ADMIT_KEY,	     /* those that prove its key */
	NM_ADMIT_KEY_OR_OWN, /* those that prove its key, and those of its own host */
};

/* Whether a master may say anything at all; `own`: it is on the slave's own host. */
bool nm_admission_may_connect(enum nm_admission admission, bool own);
/* Whether a master is served; `proved`: it has proved the key. */
bool nm_admission_may_enter(enum nm_admission admission, bool own, bool proved);
/* Why one is not, and the ways out. `address`: where it is. */
void nm_admission_explain(enum nm_admission admission, const char *address, char *buf, size_t size);

#endif
