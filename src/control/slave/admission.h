/* SPDX-License-Identifier: Apache-2.0 */
/* Which masters a slave takes, by their host and by the key that they have proved. No I/O here. */
#ifndef NM_CONTROL_SLAVE_ADMISSION_H
#define NM_CONTROL_SLAVE_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>

/* The masters that a slave takes. */
enum nm_admission {
	NM_ADMIT_OWN_HOST,   /* masters of its own host; there is no key */
	NM_ADMIT_ALL,	     /* any masters, without a proof; there is no key */
	NM_ADMIT_KEY,	     /* masters that prove its key */
	NM_ADMIT_KEY_OR_OWN, /* masters that prove its key, and masters of its own host */
};

/* Whether a master may say anything at all; `own`: it is on the slave's own host. */
bool nm_admission_may_connect(enum nm_admission admission, bool own);
/* Whether a master is served; `proved`: it has proved the key. */
bool nm_admission_may_enter(enum nm_admission admission, bool own, bool proved);
/* Says why a master is not served, and what its user can do. `address`: the master's. */
void nm_admission_explain(enum nm_admission admission, const char *address, char *buf, size_t size);

#endif
