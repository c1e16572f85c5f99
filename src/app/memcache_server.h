/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of netmodel's own server of memcached share: a connection may send text, meta
 * commands and binary requests, one behind the other. */
#ifndef NM_APP_MEMCACHE_SERVER_H
#define NM_APP_MEMCACHE_SERVER_H

#include "app/app.h"
#include "app/memcache.h"
#include "app/store.h"
#include "app/value.h"

/* Of the protocols that are spoken, as libmemcached reads numbers alone. */
#define NM_MEMCACHE_VERSION "1.6.0-netmodel"

/* What comes next: served->state. nm_app_answer() makes it the first. */
enum nm_memcache_state {
	NM_MEMCACHE_AT_COMMAND,
	NM_MEMCACHE_AT_KEY,	      /* one more of a get */
	NM_MEMCACHE_AT_REFUSED_KEY,   /* the same; the answer has ended with an error */
	NM_MEMCACHE_IN_VALUE,	      /* of a text request */
	NM_MEMCACHE_IN_META_VALUE,    /* whose answer, if it is stored, is in served->out */
	NM_MEMCACHE_IN_REFUSED_VALUE, /* the same; it is not stored */
	NM_MEMCACHE_IN_BODY,	      /* of a binary request */
};

/* served->note: what is to be known of a request until its end, in text and meta commands. */
enum {
	NM_MEMCACHE_UNIQUE = 1,	 /* the numbers of values are asked for */
	NM_MEMCACHE_TOUCHES = 2, /* it says how long they live */
	NM_MEMCACHE_QUIET = 4,	 /* it is not answered where that would be the usual answer */
};

/* The last time at which a value that is kept so long is to be found no more is over. What is to
 * expire later stays. */
bool nm_memcache_expires(uint64_t seconds);
/* What must be there for a client that sends this as the number of its value. */
static inline uint64_t nm_memcache_expected(uint64_t unique)
{
	return unique && unique < NM_STORE_SOME ? unique : 1; /* which no value has */
}

/* A request that stores a value. */
struct nm_memcache_storing {
	enum nm_verb verb; /* NONE: it is not stored */
	uint32_t flags;
	uint64_t expected; /* ANY: as the verb alone says */
	bool expires;
	const char *key;
	size_t n_key;
	uint64_t bytes;
};
/* The value comes next. */
void nm_memcache_begin_storing(struct nm_app_served *served, const struct nm_app_service *service,
			       const struct nm_memcache_storing *storing);
enum nm_store_end nm_memcache_publish_as(struct nm_app_served *served,
					 const struct nm_app_service *service);
/* It is there. */
static inline enum nm_store_end nm_memcache_publish(struct nm_app_served *served,
						    const struct nm_app_service *service)
{
	if (__builtin_expect(served->verb != NM_VERB_SET || served->expires, 0))
		return nm_memcache_publish_as(served, service);
	return nm_value_publish(served, service) ? NM_STORE_DONE : NM_STORE_GONE;
}
/* The class of a request that has come to that. */
static inline enum nm_class nm_memcache_class(enum nm_verb verb, enum nm_store_end end)
{
	if (end == NM_STORE_DONE)
		return NM_CLASS_OK;
	return end == NM_STORE_ABSENT || end == NM_STORE_OTHER
		       ? (enum nm_class)nm_memcache_verbs[verb].class
		       : NM_CLASS_REFUSED;
}

/* Of an answer that may go out with the next one. */
static inline enum nm_took nm_memcache_gather(const struct nm_app_served *served)
{
	return nm_rope_has_room(&served->out, NM_MEMCACHE_ANSWER_BYTES) ? NM_TOOK_PART
									: NM_TOOK_FULL;
}

/* A line of meta commands: the command, of two letters, its key, and what is behind it. */
enum nm_took nm_memcache_take_meta(struct nm_app_served *served,
				   const struct nm_app_service *service, char command,
				   const char *key, size_t n, struct nm_words *words);
/* The value of ms is there. */
enum nm_took nm_memcache_end_meta_set(struct nm_app_served *served,
				      const struct nm_app_service *service);
/* As nm_app's take does, of a binary request. */
enum nm_took nm_memcache_take_binary(struct nm_app_served *served,
				     const struct nm_app_service *service, const char *data,
				     size_t n, size_t *ret_taken);
/* Makes its answer, which is there, an error. */
void nm_memcache_fail_binary(struct nm_app_served *served);

#endif
