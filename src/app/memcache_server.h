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
	NM_MEMCACHE_IN_VALUE,	      /* whose answer, if it is stored, is in served->out */
	NM_MEMCACHE_IN_REFUSED_VALUE, /* the same; it is not stored */
	NM_MEMCACHE_IN_BODY,	      /* of a binary request */
};

/* The words of a line that are left. */
struct nm_words {
	const char *at, *end;
};

/* How many bytes the next one has; 0: there is none. */
static inline size_t nm_words_next(struct nm_words *words, const char **ret)
{
	while (words->at < words->end && *words->at == ' ')
		words->at++;
	*ret = words->at;
	while (words->at < words->end && *words->at != ' ')
		words->at++;
	return (size_t)(words->at - *ret);
}

static inline bool nm_words_number(struct nm_words *words, uint64_t most, uint64_t *ret)
{
	const char *word;
	size_t n = nm_words_next(words, &word);

	return n && nm_line_number(word, n, most, ret) == n;
}

/* A line of meta commands: the command, of two letters, its key, and what is behind it. */
enum nm_took nm_memcache_take_meta(struct nm_app_served *served,
				   const struct nm_app_service *service, char command,
				   const char *key, size_t n, struct nm_words *words);
/* As nm_app's take does, of a binary request. */
enum nm_took nm_memcache_take_binary(struct nm_app_served *served,
				     const struct nm_app_service *service, const char *data,
				     size_t n, size_t *ret_taken);

#endif
