/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of netmodel's own server of memcached share: a connection may send text, meta
 * commands and binary requests, one behind the other. */
#ifndef NM_APP_MEMCACHE_SERVER_H
#define NM_APP_MEMCACHE_SERVER_H

#include "app/app.h"

/* What comes next: served->state. nm_app_answer() makes it the first. */
enum nm_memcache_state {
	NM_MEMCACHE_AT_COMMAND,
	NM_MEMCACHE_AT_KEY,	      /* one more of a get */
	NM_MEMCACHE_AT_REFUSED_KEY,   /* the same; the answer has ended with an error */
	NM_MEMCACHE_IN_VALUE,	      /* whose answer, if it is stored, is in served->out */
	NM_MEMCACHE_IN_REFUSED_VALUE, /* the same; it is not stored */
	NM_MEMCACHE_IN_BODY,	      /* of a binary request */
};

/* A line of meta commands: the command, of two letters, its key, and what is behind it. */
enum nm_took nm_memcache_take_meta(struct nm_app_served *served,
				   const struct nm_app_service *service, char command,
				   const char *key, size_t n, struct nm_words *words);
/* As nm_app's take does, of a binary request. */
enum nm_took nm_memcache_take_binary(struct nm_app_served *served,
				     const struct nm_app_service *service, const char *data,
				     size_t n, size_t *ret_taken);
/* Makes its answer, which is there, an error. */
void nm_memcache_fail_binary(struct nm_app_served *served);

#endif
