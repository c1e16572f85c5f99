/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of RESP2, for its descriptor. */
#ifndef NM_APP_REDIS_H
#define NM_APP_REDIS_H

#include "app/app.h"

/* The text of its longest answer. */
#define NM_REDIS_ANSWER_BYTES 64u

/* As nm_app's fail does. */
void nm_redis_fail(struct nm_app_served *served);
enum nm_took nm_redis_take(struct nm_app_served *served, const struct nm_app_service *service,
			   const char *data, size_t n, size_t *ret_taken);

#endif
