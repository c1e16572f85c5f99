/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says that it is, in protocols in which one can be asked. Any thread. */
#ifndef NM_APP_IDENTITY_H
#define NM_APP_IDENTITY_H

#include <stddef.h>

#include "app/parsed.h"

/* Of a protocol. */
struct nm_app_identity {
	const char *request; /* changes nothing there, and costs it little */
	size_t request_bytes;
	/* Reads the n bytes of the answer that have come. DONE: *ret, of *ret_n of them, says it.
	 * BAD: it does not. */
	enum nm_parsed (*read)(const char *data, size_t n, const char **ret, size_t *ret_n);
};

/* More of an answer is not looked at. */
#define NM_IDENTITY_BYTES 8192u

#endif
