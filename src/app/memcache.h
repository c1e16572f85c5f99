/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached's text protocol, for its descriptor. */
#ifndef NM_APP_MEMCACHE_H
#define NM_APP_MEMCACHE_H

#include "app/app.h"

/* The text of its longest answer: a head with the key. */
#define NM_MEMCACHE_ANSWER_BYTES (NM_KEY_MAX + 64u)

enum nm_took nm_memcache_take(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *data, size_t n, size_t *ret_taken);

#endif
