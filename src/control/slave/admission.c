/* SPDX-License-Identifier: Apache-2.0 */
/* Which masters a slave takes, and what it tells the others. */
#include "control/slave/admission.h"

#include <stdio.h>

bool nm_admission_may_connect(enum nm_admission admission, bool own)
{
	return own || admission != NM_ADMIT_OWN_HOST;
}

bool nm_admission_may_enter(enum nm_admission admission, bool own, bool proved)
{
	switch (admission) {
	case NM_ADMIT_ALL:
		return true;
	case NM_ADMIT_OWN_HOST:
		return own;
	case NM_ADMIT_KEY_OR_OWN:
		return own || proved;
	case NM_ADMIT_KEY:
		break;
	}
	return proved;
}

void nm_admission_explain(enum nm_admission admission, const char *address, char *buf, size_t size)
{
	static const char trusted[] =
		"where the network is trusted, start the slave with --no-auth (or "
		"NETMODEL_AUTH=none in its environment)";

	if (admission == NM_ADMIT_OWN_HOST)
		(void)snprintf(buf, size,
			       "this slave has no key and accepts local masters only, and %s is "
			       "remote: "
			       "give both one key (--key-file FILE, or NETMODEL_KEY in the "
			       "environment), or, %s",
			       address, trusted);
	else
		(void)snprintf(
			buf, size,
			"this slave accepts masters%s with its key only, and %s came without "
			"one: give "
			"the master the key of the slave (--key-file FILE, or NETMODEL_KEY in "
			"the environment), or, %s",
			admission == NM_ADMIT_KEY_OR_OWN ? " of other hosts" : "", address,
			trusted);
}
