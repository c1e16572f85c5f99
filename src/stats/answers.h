/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of servers by the names that their protocols have for them, beside the classes in which
 * requests end. One table for all protocols: which of these names is the usual answer of a protocol
 * its descriptor says, and its parser says each other one. */
#ifndef NM_STATS_ANSWERS_H
#define NM_STATS_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

/* Statuses of HTTP that are registered (RFC 9110, 15, and those after it), in ascending order. Each
 * other one counts with the rest of its hundred, so that the table is fixed and what a name has
 * depends neither on the profile nor on which status a worker has seen first. */
#define NM_HTTP_STATUSES(X)                                                                        \
	X(200)                                                                                     \
	X(201)                                                                                     \
	X(202)                                                                                     \
	X(203)                                                                                     \
	X(204)                                                                                     \
	X(205)                                                                                     \
	X(206)                                                                                     \
	X(207)                                                                                     \
	X(208)                                                                                     \
	X(226)                                                                                     \
	X(300)                                                                                     \
	X(301)                                                                                     \
	X(302)                                                                                     \
	X(303)                                                                                     \
	X(304)                                                                                     \
	X(305)                                                                                     \
	X(307)                                                                                     \
	X(308)                                                                                     \
	X(400)                                                                                     \
	X(401)                                                                                     \
	X(402)                                                                                     \
	X(403)                                                                                     \
	X(404)                                                                                     \
	X(405)                                                                                     \
	X(406)                                                                                     \
	X(407)                                                                                     \
	X(408)                                                                                     \
	X(409)                                                                                     \
	X(410)                                                                                     \
	X(411)                                                                                     \
	X(412)                                                                                     \
	X(413)                                                                                     \
	X(414)                                                                                     \
	X(415)                                                                                     \
	X(416)                                                                                     \
	X(417)                                                                                     \
	X(418)                                                                                     \
	X(421)                                                                                     \
	X(422)                                                                                     \
	X(423)                                                                                     \
	X(424)                                                                                     \
	X(425)                                                                                     \
	X(426)                                                                                     \
	X(428)                                                                                     \
	X(429)                                                                                     \
	X(431)                                                                                     \
	X(451)                                                                                     \
	X(500)                                                                                     \
	X(501)                                                                                     \
	X(502)                                                                                     \
	X(503)                                                                                     \
	X(504)                                                                                     \
	X(505)                                                                                     \
	X(506)                                                                                     \
	X(507)                                                                                     \
	X(508)                                                                                     \
	X(510)                                                                                     \
	X(511)

/* The rest of each hundred: X(its first digit). */
#define NM_HTTP_HUNDREDS(X)                                                                        \
	X(2)                                                                                       \
	X(3)                                                                                       \
	X(4)                                                                                       \
	X(5)

/* Rcodes of DNS (RFC 6895, 2.3): X(name, number). */
#define NM_DNS_RCODES(X)                                                                           \
	X(NOERROR, 0)                                                                              \
	X(FORMERR, 1)                                                                              \
	X(SERVFAIL, 2)                                                                             \
	X(NXDOMAIN, 3)                                                                             \
	X(NOTIMP, 4)                                                                               \
	X(REFUSED, 5)                                                                              \
	X(YXDOMAIN, 6)                                                                             \
	X(YXRRSET, 7)                                                                              \
	X(NXRRSET, 8)                                                                              \
	X(NOTAUTH, 9)                                                                              \
	X(NOTZONE, 10)                                                                             \
	X(DSOTYPENI, 11)                                                                           \
	X(BADVERS, 16)                                                                             \
	X(BADKEY, 17)                                                                              \
	X(BADTIME, 18)                                                                             \
	X(BADMODE, 19)                                                                             \
	X(BADNAME, 20)                                                                             \
	X(BADALG, 21)                                                                              \
	X(BADTRUNC, 22)                                                                            \
	X(BADCOOKIE, 23)

/* The first words of errors: of Redis and Valkey, and of memcached. */
#define NM_REDIS_ERRORS(X)                                                                         \
	X(ERR)                                                                                     \
	X(WRONGTYPE)                                                                               \
	X(MOVED)                                                                                   \
	X(ASK)                                                                                     \
	X(LOADING)                                                                                 \
	X(BUSY)                                                                                    \
	X(NOAUTH)                                                                                  \
	X(WRONGPASS)                                                                               \
	X(NOPERM)                                                                                  \
	X(NOPROTO)                                                                                 \
	X(OOM)                                                                                     \
	X(READONLY)                                                                                \
	X(MISCONF)                                                                                 \
	X(NOREPLICAS)                                                                              \
	X(CLUSTERDOWN)                                                                             \
	X(CROSSSLOT)                                                                               \
	X(TRYAGAIN)                                                                                \
	X(EXECABORT)                                                                               \
	X(MASTERDOWN)                                                                              \
	X(NOSCRIPT)                                                                                \
	X(BUSYKEY)                                                                                 \
	X(BUSYGROUP)                                                                               \
	X(NOGROUP)
#define NM_MEMCACHE_ERRORS(X)                                                                      \
	X(ERROR)                                                                                   \
	X(CLIENT_ERROR)                                                                            \
	X(SERVER_ERROR)

/* The binary protocol of memcached has statuses instead: X(name, number). */
#define NM_MEMCACHE_STATUSES(X)                                                                    \
	X(KEY_ENOENT, 0x01)                                                                        \
	X(KEY_EEXISTS, 0x02)                                                                       \
	X(E2BIG, 0x03)                                                                             \
	X(EINVAL, 0x04)                                                                            \
	X(NOT_STORED, 0x05)                                                                        \
	X(DELTA_BADVAL, 0x06)                                                                      \
	X(AUTH_ERROR, 0x20)                                                                        \
	X(UNKNOWN_COMMAND, 0x81)                                                                   \
	X(ENOMEM, 0x82)                                                                            \
	X(NOT_SUPPORTED, 0x83)                                                                     \
	X(EINTERNAL, 0x84)                                                                         \
	X(EBUSY, 0x85)                                                                             \
	X(ETMPFAIL, 0x86)

#define NM_ANSWER_HTTP_(status)	       NM_ANSWER_HTTP_##status,
#define NM_ANSWER_HUNDRED_(digit)      NM_ANSWER_HTTP_##digit##XX,
#define NM_ANSWER_DNS_(name, ...)      NM_ANSWER_DNS_##name,
#define NM_ANSWER_REDIS_(name)	       NM_ANSWER_REDIS_##name,
#define NM_ANSWER_MEMCACHE_(name, ...) NM_ANSWER_MEMCACHE_##name,
enum nm_answer {
	NM_ANSWER_NONE, /* it has no name of its own: it is the usual one, or has another class */
	NM_ANSWER_OK,	/* of protocols that name their errors alone */
	NM_HTTP_STATUSES(NM_ANSWER_HTTP_) NM_HTTP_HUNDREDS(NM_ANSWER_HUNDRED_)
		NM_DNS_RCODES(NM_ANSWER_DNS_) NM_REDIS_ERRORS(NM_ANSWER_REDIS_)
			NM_MEMCACHE_ERRORS(NM_ANSWER_MEMCACHE_)
				NM_MEMCACHE_STATUSES(NM_ANSWER_MEMCACHE_)
					NM_ANSWER_OTHER, /* any that is not in these tables */
	NM_ANSWER__COUNT
};
#undef NM_ANSWER_HTTP_
#undef NM_ANSWER_HUNDRED_
#undef NM_ANSWER_DNS_
#undef NM_ANSWER_REDIS_
#undef NM_ANSWER_MEMCACHE_
_Static_assert(NM_ANSWER__COUNT <= UINT8_MAX, "one has room in a byte");

extern const char *const nm_answer_names[NM_ANSWER__COUNT];

/* Whether it is the usual one of a protocol; no protocol has that of another for something else. */
static inline bool nm_answer_is_usual(enum nm_answer answer)
{
	return answer == NM_ANSWER_OK || answer == NM_ANSWER_HTTP_200 ||
	       answer == NM_ANSWER_DNS_NOERROR;
}

#endif
