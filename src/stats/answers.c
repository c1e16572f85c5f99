/* SPDX-License-Identifier: Apache-2.0 */
/* The names of answers. */
#include "stats/answers.h"

const char *const nm_answer_names[NM_ANSWER__COUNT] = {
	[NM_ANSWER_NONE] = "",
	[NM_ANSWER_OK] = "ok",
#define HTTP(status) [NM_ANSWER_HTTP_##status] = #status,
	NM_HTTP_STATUSES(HTTP)
#undef HTTP
#define HUNDRED(digit) [NM_ANSWER_HTTP_##digit##XX] = #digit "xx",
		NM_HTTP_HUNDREDS(HUNDRED)
#undef HUNDRED
#define DNS(name, ...) [NM_ANSWER_DNS_##name] = #name,
			NM_DNS_RCODES(DNS)
#undef DNS
#define REDIS(name) [NM_ANSWER_REDIS_##name] = #name,
				NM_REDIS_ERRORS(REDIS)
#undef REDIS
#define MEMCACHE(name, ...) [NM_ANSWER_MEMCACHE_##name] = #name,
					NM_MEMCACHE_ERRORS(MEMCACHE) NM_MEMCACHE_STATUSES(MEMCACHE)
#undef MEMCACHE
						[NM_ANSWER_OTHER] = "other",
};
