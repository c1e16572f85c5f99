/* SPDX-License-Identifier: Apache-2.0 */
/* What the protocols of memcached have in common, for their descriptors: netmodel's own server
 * speaks all of them. */
#ifndef NM_APP_MEMCACHE_H
#define NM_APP_MEMCACHE_H

#include "app/app.h"

/* The longest head of a request: a key, and 96 bytes for words, numbers and blanks. */
#define NM_MEMCACHE_HEAD_BYTES (NM_KEY_MAX + 96u)
/* The text of the longest answer: a head with the key, and with all flags of mg. */
#define NM_MEMCACHE_ANSWER_BYTES (NM_KEY_MAX + 160u)
/* And of the usual answers that go out with it: there is room for so many values. */
#define NM_MEMCACHE_OUT_BYTES (NM_MEMCACHE_ANSWER_BYTES + (NM_ROPE_BODIES - 1) * 48u)

/* The members that the descriptors of these protocols have alike. */
#define NM_MEMCACHE_MEMBERS                                                                        \
	.verbs = NM_VERBS_KEYED, .port = 11211, .stores = true, .has_flags = true,                 \
	.head_bytes = NM_MEMCACHE_HEAD_BYTES, .answer_bytes = NM_MEMCACHE_OUT_BYTES,               \
	.take = nm_memcache_take, .usual = NM_ANSWER_OK, .fail = nm_memcache_fail

/* What connections to a server with users begin with, where its protocol is text. */
extern const struct nm_app_session nm_memcache_session;

extern const struct nm_app_identity nm_memcache_identity;

/* A verb in the three protocols: the command of the text protocol has its name. */
struct nm_memcache_verb {
	const char *done, *undone; /* what answers it as text; NULL: a value, or a number */
	char meta[3], mode;	   /* the meta command, and its flag M, if it has one */
	char meta_undone[3];	   /* what answers it when it is not done */
	uint8_t opcode, extras;	   /* of the binary protocol: bytes of the extras */
	uint16_t status;	   /* NM_BINARY_...: it is not done */
	bool stores;		   /* a value is sent with it */
	uint8_t class;		   /* enum nm_class, when it is not done */
};
extern const struct nm_memcache_verb nm_memcache_verbs[NM_VERB__COUNT];

static inline bool nm_memcache_counts(enum nm_verb verb)
{
	return verb == NM_VERB_INCR || verb == NM_VERB_DECR;
}

/* Whether a value answers it. */
static inline bool nm_memcache_reads(enum nm_verb verb)
{
	return __builtin_expect(verb == NM_VERB_GET, 1) || (NM_VERBS_READING >> verb & 1);
}

/* The number of a value, for cas, is noted behind what the lines that come next have. */
static inline void nm_memcache_note_unique(struct nm_app_parser *parser, uint64_t unique)
{
	memcpy(parser->line.numbers, &unique, sizeof unique);
}
/* That of the answer that was parsed last; one that no value has, where there was none. (0 is none
 * in the binary protocol, which stores without a condition then.) */
static inline uint64_t nm_memcache_unique(const struct nm_app_parser *parser)
{
	uint64_t unique;

	memcpy(&unique, parser->line.numbers, sizeof unique);
	return parser->class == NM_CLASS_OK && unique ? unique : UINT64_MAX;
}

/* The answer says that it is not done. */
static inline enum nm_parsed nm_memcache_undone(struct nm_app_parser *parser,
						const struct nm_memcache_verb *verb)
{
	parser->answer = NM_ANSWER_MEMCACHE_NOT_STORED;
	return nm_app_parsed(parser, (enum nm_class)verb->class);
}

/* A line that may answer any request: an error, or BAD. */
enum nm_parsed nm_memcache_take_error(struct nm_app_parser *parser,
				      const struct nm_app_request *request,
				      const struct nm_line_text *line);

/* As nm_app's fail does. */
void nm_memcache_fail(struct nm_app_served *served);
enum nm_took nm_memcache_take(struct nm_app_served *served, const struct nm_app_service *service,
			      const char *data, size_t n, size_t *ret_taken);

#endif
