/* SPDX-License-Identifier: Apache-2.0 */
/* The meta commands of memcached (protocol.txt). Each request has a number, which its answer
 * repeats; only that of a miss does not at some versions. */
#include <string.h>

#include "app/memcache.h"
#include "app/value.h"

/* --- requests --- */

static char *put_flag(char *at, char flag, uint64_t number)
{
	*at++ = ' ';
	*at++ = flag;
	return nm_number_put(number, at);
}

static void meta_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	const bool sets = request->verb == NM_VERB_SET;
	char *at = nm_line_put(sets ? "ms " : request->verb == NM_VERB_GET ? "mg " : "md ", buf);

	ret->payload = ret->tail = 0;
	at = nm_keyspace_put(request->keyspace, request->key, at);
	if (sets) {
		*at++ = ' ';
		at = nm_number_put(request->size, at);
		ret->pool = request->pool->bytes;
		ret->payload = request->size;
		ret->tail = 2;
		memcpy(ret->tail_text, "\r\n", 2);
	}
	at = put_flag(at, 'O', request->number);
	if (request->verb == NM_VERB_GET)
		at = nm_line_put(" v", at);
	if (sets && request->flags)
		at = put_flag(at, 'F', request->flags);
	if (sets && request->ttl_s)
		at = put_flag(at, 'T', request->ttl_s);
	at = nm_line_put("\r\n", at);
	ret->head = (size_t)(at - buf);
}

/* --- answers --- */

/* Whether what the line has from `from` on is the number of the request. */
static bool is_ours(const struct nm_app_request *request, const struct nm_line_text *line,
		    size_t from)
{
	uint64_t number;

	if (line->there <= from + 2 || memcmp(line->text + from, " O", 2) != 0)
		return false;
	size_t digits =
		nm_line_number(line->text + from + 2, line->there - from - 2, UINT32_MAX, &number);

	return digits && from + 2 + digits == line->length && number == request->number;
}

/* "VA BYTES ONUMBER": the value follows. */
static enum nm_parsed begin_value(struct nm_app_parser *parser,
				  const struct nm_app_request *request,
				  const struct nm_line_text *line)
{
	const size_t from = strlen("VA ");
	uint64_t bytes;
	size_t digits = nm_line_number(line->text + from, line->there - from, INT64_MAX, &bytes);

	if (!digits || !is_ours(request, line, from + digits))
		return NM_PARSED_BAD;
	parser->state = NM_VALUE_BYTES;
	nm_value_begin(parser, request, bytes);
	return NM_PARSED_MORE;
}

static enum nm_parsed take_line(struct nm_app_parser *parser, const struct nm_app_request *request,
				const struct nm_line_text *line)
{
	/* What answers a request that is not done. */
	static const struct {
		char code[3];
		enum nm_class class;
	} undone[] = {[NM_VERB_SET] = {.code = "NS", .class = NM_CLASS_REFUSED},
		      [NM_VERB_DELETE] = {.code = "NF", .class = NM_CLASS_MISS}};

	if (request->verb == NM_VERB_GET) {
		if (nm_line_begins(line, "VA "))
			return begin_value(parser, request, line);
		if (nm_line_is(line, "EN") ||
		    (nm_line_begins(line, "EN") && is_ours(request, line, 2)))
			return nm_app_parsed(parser, NM_CLASS_MISS);
	} else if (line->there > 2 && is_ours(request, line, 2)) {
		if (nm_line_begins(line, "HD"))
			return nm_app_parsed(parser, NM_CLASS_OK);
		if (memcmp(line->text, undone[request->verb].code, 2) == 0)
			return nm_app_parsed(parser, undone[request->verb].class);
	}
	return nm_memcache_take_error(parser, request, line);
}

static enum nm_parsed meta_parse(struct nm_app_parser *parser, const struct nm_app_request *request,
				 const char *data, size_t n, size_t *ret_taken)
{
	return nm_value_parse(parser, request, take_line, data, n, ret_taken);
}

const struct nm_app nm_app_memcache_meta = {
	.name = "memcache_meta",
	.help = "the meta commands of memcached",
	NM_MEMCACHE_MEMBERS,
	.encode = meta_encode,
	.parse = meta_parse,
	.session = &nm_memcache_session,
};
