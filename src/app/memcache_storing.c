/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that store a value, in all protocols of memcached: what must be there, and what is
 * then. */
#include <time.h>

#include "app/change.h"
#include "app/memcache_server.h"

/* More seconds are a time of day. */
#define SECONDS_MAX (30u * 86400u)

bool nm_memcache_expires(uint64_t seconds)
{
	return seconds > SECONDS_MAX && seconds <= (uint64_t)time(NULL);
}

void nm_memcache_begin_storing(struct nm_app_served *served, const struct nm_app_service *service,
			       const struct nm_memcache_storing *storing)
{
	const enum nm_verb verb = storing->verb;

	served->verb = (uint8_t)verb;
	served->expires = storing->expires;
	served->expected = storing->expected;
	if (verb == NM_VERB_NONE) {
		nm_value_skip(served, storing->bytes);
		return;
	}
	nm_value_reserve(served, service, storing->key, storing->n_key, storing->flags,
			 storing->bytes);
	/* What is there is not what the client has meant to have there. */
	if (verb == NM_VERB_SET && !served->place)
		(void)nm_store_delete(service->store, storing->key, storing->n_key);
	else if (verb != NM_VERB_SET && storing->expected == NM_STORE_ANY)
		served->expected = verb == NM_VERB_ADD ? NM_STORE_NONE : NM_STORE_SOME;
}

enum nm_store_end nm_memcache_publish_as(struct nm_app_served *served,
					 const struct nm_app_service *service)
{
	const enum nm_verb verb = (enum nm_verb)served->verb;

	if (!served->place)
		return NM_STORE_GONE;
	if (verb == NM_VERB_APPEND || verb == NM_VERB_PREPEND)
		return nm_change_join(service->store, &served->place, served->key_length,
				      served->at, verb == NM_VERB_PREPEND, served->expected);
	return nm_store_publish_over(service->store, served->place, served->key_length,
				     served->expected, served->expires);
}
