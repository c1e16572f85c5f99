/* SPDX-License-Identifier: Apache-2.0 */
/* The meta commands of memcached (protocol.txt). Each request has a number, which its answer
 * repeats; only that of a miss does not at some versions. */
#include <string.h>

#include "app/batch.h"
#include "app/memcache.h"
#include "app/value.h"

/* --- requests --- */

static inline char *put_flag(char *at, char flag, uint64_t number)
{
	*at++ = ' ';
	*at++ = flag;
	return nm_number_put(number, at);
}

/* Several keys: a get is answered where the key is there, a set where it is refused, and "mn" ends
 * the answer. */
static __attribute__((noinline)) void put_keys(const struct nm_app_request *request, char *buf,
					       struct nm_app_encoded *ret)
{
	const bool sets = request->verb == NM_VERB_SET;
	char *at = buf;

	ret->payload = ret->tail = 0;
	for (uint32_t i = 0; i < request->batch->count; i++) {
		const uint64_t key = nm_batch_key(request, i);

		at = nm_line_put(sets ? "ms " : "mg ", at);
		at = nm_keyspace_put(request->keyspace, key, at);
		if (sets) {
			*at++ = ' ';
			at = nm_number_put(request->size, at);
			at = put_flag(put_flag(at, 'F', request->flags), 'T', request->ttl_s);
		}
		at = put_flag(at, 'O', nm_batch_number(request, i));
		at = nm_line_put(sets ? " q\r\n" : " v q\r\n", at);
		if (sets)
			at = nm_line_put("\r\n", nm_batch_put_value(request, key, at));
	}
	ret->head = (size_t)(nm_line_put("mn\r\n", at) - buf);
}

static void meta_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	const struct nm_memcache_verb *verb = &nm_memcache_verbs[request->verb];
	char *at = nm_line_put(verb->meta, buf);

	if (request->several) {
		put_keys(request, buf, ret);
		return;
	}
	*at++ = ' ';
	ret->payload = ret->tail = 0;
	at = nm_keyspace_put(request->keyspace, request->key, at);
	if (verb->stores) {
		*at++ = ' ';
		at = nm_number_put(request->size, at);
		ret->pool = request->pool->bytes;
		ret->payload = request->size;
		ret->tail = 2;
		memcpy(ret->tail_text, "\r\n", 2);
	}
	at = put_flag(at, 'O', request->number);
	if (verb->mode) {
		at = nm_line_put(" M", at);
		*at++ = verb->mode;
	}
	if (nm_memcache_reads(request->verb))
		at = nm_line_put(" v", at);
	if (request->unique)
		at = nm_line_put(" c", at);
	if (request->verb == NM_VERB_CAS)
		at = put_flag(at, 'C', request->by);
	if (request->flags)
		at = put_flag(at, 'F', request->flags);
	if (request->ttl_s || request->verb == NM_VERB_TOUCH || request->verb == NM_VERB_GAT)
		at = put_flag(at, 'T', request->ttl_s);
	if (nm_memcache_counts(request->verb))
		at = put_flag(at, 'D', request->by);
	at = nm_line_put("\r\n", at);
	ret->head = (size_t)(at - buf);
}

/* --- answers --- */

/* The end of a flag with a number, from `from` on; 0: it is another one. */
static inline size_t take_flag(const struct nm_line_text *line, size_t from, const char flag[3],
			       uint64_t most, uint64_t *ret)
{
	if (line->there <= from + 2 || memcmp(line->text + from, flag, 2) != 0)
		return 0;
	size_t digits = nm_line_number(line->text + from + 2, line->there - from - 2, most, ret);

	return digits ? from + 2 + digits : 0;
}

/* Whether what the line has from `from` on is a number that was sent. */
static bool has_number(const struct nm_line_text *line, size_t from, uint64_t *ret)
{
	return take_flag(line, from, " O", UINT32_MAX, ret) == line->length;
}

static bool is_ours(const struct nm_app_request *request, const struct nm_line_text *line,
		    size_t from)
{
	uint64_t number;

	return has_number(line, from, &number) && number == request->number;
}

/* "VA BYTES ONUMBER": the value follows. */
static inline enum nm_parsed begin_value(struct nm_app_parser *parser,
					 const struct nm_app_request *request,
					 const struct nm_line_text *line)
{
	const size_t from = strlen("VA ");
	uint64_t bytes, number, unique, value_at = request->at;
	size_t digits = nm_line_number(line->text + from, line->there - from, INT64_MAX, &bytes);
	size_t end = digits ? take_flag(line, from + digits, " O", UINT32_MAX, &number) : 0;

	if (!end ||
	    !(request->several ? nm_batch_take_number(parser, request, (uint32_t)number, &value_at)
			       : number == request->number))
		return NM_PARSED_BAD;
	if (request->unique) {
		end = take_flag(line, end, " c", UINT64_MAX, &unique);
		nm_memcache_note_unique(parser, unique);
	}
	if (end != line->length)
		return NM_PARSED_BAD;
	parser->state = NM_VALUE_BYTES;
	nm_value_begin(parser, value_at, bytes);
	return NM_PARSED_MORE;
}

static enum nm_parsed take_line(struct nm_app_parser *parser, const struct nm_app_request *request,
				const struct nm_line_text *line)
{
	const struct nm_memcache_verb *verb = &nm_memcache_verbs[request->verb];

	if (nm_memcache_reads(request->verb) && nm_line_begins(line, "VA "))
		return begin_value(parser, request, line);
	if (memcmp(verb->meta, "mg", 2) == 0 && nm_line_is(line, "EN"))
		return nm_app_parsed(parser, NM_CLASS_MISS);
	if (line->there > 2 && is_ours(request, line, 2)) {
		if (!nm_memcache_reads(request->verb) && nm_line_begins(line, "HD"))
			return nm_app_parsed(parser, NM_CLASS_OK);
		if (memcmp(line->text, verb->meta_undone, 2) == 0 ||
		    (request->verb == NM_VERB_CAS && nm_line_begins(line, "NF")))
			return nm_memcache_undone(parser, verb);
	}
	return nm_memcache_take_error(parser, request, line);
}

/* A line of the answer to a request with several keys. */
static enum nm_parsed take_line_of_keys(struct nm_app_parser *parser,
					const struct nm_app_request *request,
					const struct nm_line_text *line)
{
	const uint8_t before = parser->answer;

	if (request->verb == NM_VERB_GET && nm_line_begins(line, "VA "))
		return begin_value(parser, request, line);
	if (nm_line_is(line, "MN"))
		return nm_app_parsed(parser, NM_CLASS_OK);
	if (nm_line_begins(line, "NS "))
		parser->answer = NM_ANSWER_MEMCACHE_NOT_STORED;
	else if (nm_memcache_take_error(parser, request, line) == NM_PARSED_BAD)
		return NM_PARSED_BAD;
	return nm_batch_refuse(parser, request, before);
}

static __attribute__((noinline)) enum nm_parsed parse_keys(struct nm_app_parser *parser,
							   const struct nm_app_request *request,
							   const char *data, size_t n,
							   size_t *ret_taken)
{
	return nm_values_parse(parser, request, take_line_of_keys, data, n, ret_taken);
}

static enum nm_parsed meta_parse(struct nm_app_parser *parser, const struct nm_app_request *request,
				 const char *data, size_t n, size_t *ret_taken)
{
	if (request->several)
		return parse_keys(parser, request, data, n, ret_taken);
	return nm_value_parse(parser, request, take_line, data, n, ret_taken);
}

const struct nm_app nm_app_memcache_meta = {
	.name = "memcache_meta",
	.help = "the meta commands of memcached",
	NM_MEMCACHE_MEMBERS,
	.batches = NM_VERB_BIT(NM_VERB_GET) | NM_VERB_BIT(NM_VERB_SET),
	.encode = meta_encode,
	.parse = meta_parse,
	.session = &nm_memcache_session,
	.identity = &nm_memcache_identity,
};
