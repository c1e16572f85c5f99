/* SPDX-License-Identifier: Apache-2.0 */
/* Any answer in the protocol of Redis, versions 2 and 3. */
#ifndef NM_APP_RESP_H
#define NM_APP_RESP_H

#include "app/app.h"

/* Aggregates may hold so many elements at a time, theirs included, which cost no memory. */
#define NM_RESP_ELEMENTS_MAX (1u << 20)

/* Takes bytes of one answer, n > 0, as nm_app's parse does: refused where an error is in
 * it. */
enum nm_parsed nm_resp_take(struct nm_app_parser *parser, const char *data, size_t n,
			    size_t *ret_taken);

#endif
