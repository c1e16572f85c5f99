/* SPDX-License-Identifier: Apache-2.0 */
/* The binary protocol of memcached (protocol-binary.txt), which answers by the number of the
 * request. A login is SASL's, by PLAIN (RFC 4616). */
#include "app/memcache_binary.h"

#include <stdio.h>
#include <string.h>

#include "app/batch.h"
#include "app/memcache.h"
#include "app/value.h"

/* --- requests --- */

static inline void put_extras(const struct nm_app_request *request, unsigned extras, char *at)
{
	if (extras == NM_BINARY_COUNT_EXTRAS)
		(void)nm_binary_put(nm_binary_put_wide(nm_binary_put_wide(at, request->by), 0),
				    NM_BINARY_NEVER);
	if (extras == NM_BINARY_SET_EXTRAS)
		at = nm_binary_put(at, request->flags);
	if (extras == NM_BINARY_SET_EXTRAS || extras == NM_BINARY_TOUCH_EXTRAS)
		(void)nm_binary_put(at, (uint32_t)request->ttl_s);
}

static uint8_t quiet_opcode(const struct nm_app_request *request)
{
	return request->verb == NM_VERB_SET ? NM_BINARY_SETQ : NM_BINARY_GETQ;
}

/* Several keys: a get is answered where the key is there, a set where it is refused, and a no-op
 * ends the answer. */
static __attribute__((noinline)) void put_keys(const struct nm_app_request *request, char *buf,
					       struct nm_app_encoded *ret)
{
	const bool sets = request->verb == NM_VERB_SET;
	const uint32_t extras = sets ? NM_BINARY_SET_EXTRAS : 0;
	const struct nm_binary_header end = {
		.magic = NM_BINARY_REQUEST, .opcode = NM_BINARY_NOOP, .opaque = request->number};
	char *at = buf;

	for (uint32_t i = 0; i < request->batch->count; i++) {
		const uint64_t number = nm_batch_key(request, i);
		char *const at_key = at + NM_BINARY_HEADER + extras;
		char *const behind = nm_keyspace_put(request->keyspace, number, at_key);
		const uint32_t key = (uint32_t)(behind - at_key);
		const struct nm_binary_header header = {
			.magic = NM_BINARY_REQUEST,
			.opcode = quiet_opcode(request),
			.extras = (uint8_t)extras,
			.key = (uint16_t)key,
			.body = extras + key + (uint32_t)request->size,
			.opaque = nm_batch_number(request, i),
		};

		put_extras(request, extras, nm_binary_write(at, &header));
		at = sets ? nm_batch_put_value(request, number, behind) : behind;
	}
	ret->payload = ret->tail = 0;
	ret->head = (size_t)(nm_binary_write(at, &end) - buf);
}

static void binary_encode(struct nm_app_request *request, char *buf, struct nm_app_encoded *ret)
{
	if (request->several) {
		put_keys(request, buf, ret);
		return;
	}
	const struct nm_memcache_verb *verb = &nm_memcache_verbs[request->verb];
	char *const at_key = buf + NM_BINARY_HEADER + verb->extras;
	char *const end = nm_keyspace_put(request->keyspace, request->key, at_key);
	const uint32_t key = (uint32_t)(end - at_key);
	const struct nm_binary_header header = {
		.magic = NM_BINARY_REQUEST,
		.opcode = verb->opcode,
		.extras = verb->extras,
		.key = (uint16_t)key,
		.body = verb->extras + key + (uint32_t)request->size,
		.opaque = request->number,
		.cas = request->verb == NM_VERB_CAS ? request->by : 0,
	};

	put_extras(request, verb->extras, nm_binary_write(buf, &header));
	ret->tail = 0;
	ret->pool = request->pool->bytes;
	ret->payload = request->size;
	ret->head = (size_t)(end - buf);
}

/* --- answers --- */

enum state { AT_HEADER, BEFORE_VALUE, IN_VALUE, IN_TEXT };

static enum nm_class class_of(const struct nm_memcache_verb *verb, unsigned status)
{
	if (status == NM_BINARY_OK)
		return NM_CLASS_OK;
	if (status == NM_BINARY_KEY_ENOENT && verb == &nm_memcache_verbs[NM_VERB_CAS])
		return NM_CLASS_MISS;
	return status == verb->status ? (enum nm_class)verb->class : NM_CLASS_REFUSED;
}

static uint8_t answer_of(unsigned status)
{
	switch (status) {
#define NAME(name, number)                                                                         \
	case number:                                                                               \
		return NM_ANSWER_MEMCACHE_##name;
		NM_MEMCACHE_STATUSES(NAME)
#undef NAME
	default:
		return NM_ANSWER_OTHER;
	}
}

/* Whether an answer of a verb that is done, and has no value, is as it should be. */
static bool is_done(const struct nm_memcache_verb *verb, const struct nm_binary_header *header)
{
	if (verb->extras == NM_BINARY_COUNT_EXTRAS)
		return !header->extras && header->body == NM_BINARY_COUNT_BYTES;
	if (verb->extras == NM_BINARY_TOUCH_EXTRAS && header->extras)
		return header->extras == NM_BINARY_GET_EXTRAS &&
		       header->body == NM_BINARY_GET_EXTRAS;
	return !header->extras && !header->body;
}

/* Judges the header of an answer. An error has a text for its value, and so has a login. */
static enum nm_parsed take_header(struct nm_app_parser *parser, const struct nm_memcache_verb *verb,
				  uint32_t opaque)
{
	const struct nm_binary_header header = nm_binary_read(parser->line.kept);

	if (header.opcode != verb->opcode || header.type || header.opaque != opaque || header.key)
		return NM_PARSED_BAD;
	parser->class = (uint8_t)class_of(verb, header.status);
	if (parser->class == NM_CLASS_REFUSED)
		parser->answer = answer_of(header.status);
	parser->left = header.body;
	parser->state = IN_TEXT;
	if (header.status != NM_BINARY_OK || verb->opcode == NM_BINARY_SASL_AUTH)
		return header.extras || header.body > NM_LINE_MAX ? NM_PARSED_BAD : NM_PARSED_MORE;
	if (verb->opcode != NM_BINARY_GET && verb->opcode != NM_BINARY_GAT)
		return is_done(verb, &header) ? NM_PARSED_MORE : NM_PARSED_BAD;
	if (header.extras != NM_BINARY_GET_EXTRAS || header.body < NM_BINARY_GET_EXTRAS)
		return NM_PARSED_BAD;
	parser->left = NM_BINARY_GET_EXTRAS;
	parser->check = header.body - NM_BINARY_GET_EXTRAS;
	nm_memcache_note_unique(parser, header.cas);
	parser->state = BEFORE_VALUE;
	return NM_PARSED_MORE;
}

static size_t skip(uint64_t *left, size_t n)
{
	const size_t some = *left < n ? (size_t)*left : n;

	*left -= some;
	return some;
}

/* Takes the header, and what comes before the value. DONE: that was all. */
static enum nm_parsed take_head(struct nm_app_parser *parser, const struct nm_memcache_verb *verb,
				uint32_t opaque, const char *data, size_t n, size_t *ret_taken)
{
	*ret_taken = 0;
	if (parser->state == AT_HEADER) {
		const bool whole =
			nm_line_gather(&parser->line, NM_BINARY_HEADER, data, n, ret_taken);

		/* What others say may be shorter than a header. */
		if ((uint8_t)*parser->line.kept != NM_BINARY_ANSWER)
			return NM_PARSED_BAD;
		if (!whole)
			return NM_PARSED_MORE;
		if (take_header(parser, verb, opaque) == NM_PARSED_BAD)
			return NM_PARSED_BAD;
	}
	if (parser->state == IN_VALUE)
		return NM_PARSED_MORE;
	*ret_taken += skip(&parser->left, n - *ret_taken);
	return parser->left || parser->state == BEFORE_VALUE ? NM_PARSED_MORE : NM_PARSED_DONE;
}

/* The header of one of the answers to a request with several keys. */
static enum nm_parsed take_header_of_key(struct nm_app_parser *parser,
					 const struct nm_app_request *request)
{
	const struct nm_binary_header header = nm_binary_read(parser->line.kept);
	const uint8_t before = parser->answer;
	uint64_t value_at;

	parser->line.length = 0; /* of the next one */
	if (header.magic != NM_BINARY_ANSWER || header.type || header.key)
		return NM_PARSED_BAD;
	if (header.opcode == NM_BINARY_NOOP)
		return header.opaque == request->number && !header.body && !header.status
			       ? nm_app_parsed(parser, NM_CLASS_OK)
			       : NM_PARSED_BAD;
	if (header.opcode != quiet_opcode(request))
		return NM_PARSED_BAD;
	if (header.status == NM_BINARY_OK) {
		if (request->verb != NM_VERB_GET || header.extras != NM_BINARY_GET_EXTRAS ||
		    header.body < NM_BINARY_GET_EXTRAS ||
		    !nm_batch_take_number(parser, request, header.opaque, &value_at))
			return NM_PARSED_BAD;
		nm_value_begin(parser, value_at, header.body - NM_BINARY_GET_EXTRAS);
		parser->ending = NM_BINARY_GET_EXTRAS;
		parser->state = BEFORE_VALUE;
		return NM_PARSED_MORE;
	}
	parser->answer = answer_of(header.status);
	parser->left = header.body;
	parser->state = header.body ? IN_TEXT : AT_HEADER;
	return header.extras || header.body > NM_LINE_MAX
		       ? NM_PARSED_BAD
		       : nm_batch_refuse(parser, request, before);
}

static __attribute__((noinline)) enum nm_parsed parse_keys(struct nm_app_parser *parser,
							   const struct nm_app_request *request,
							   const char *data, size_t n,
							   size_t *ret_taken)
{
	enum nm_parsed parsed = NM_PARSED_MORE;
	size_t taken = 0, some;
	uint64_t left;

	while (parsed == NM_PARSED_MORE && taken < n)
		switch ((enum state)parser->state) {
		case AT_HEADER:
			if (nm_line_gather(&parser->line, NM_BINARY_HEADER, data, n, &taken))
				parsed = take_header_of_key(parser, request);
			else if ((uint8_t)*parser->line.kept != NM_BINARY_ANSWER)
				parsed = NM_PARSED_BAD;
			break;
		case BEFORE_VALUE: /* `ending`: so many bytes of extras are missing */
			left = parser->ending;
			taken += skip(&left, n - taken);
			parser->ending = (uint8_t)left;
			if (!left && !parser->left) {
				parser->state = AT_HEADER;
			} else if (!left) {
				nm_value_ends_bare(parser);
				parser->state = IN_VALUE;
			}
			break;
		case IN_VALUE:
			parsed = nm_value_take(parser, request, data + taken, n - taken, &some);
			taken += some;
			if (parsed != NM_PARSED_DONE)
				break;
			parsed = NM_PARSED_MORE;
			parser->state = AT_HEADER;
			break;
		case IN_TEXT:
			taken += skip(&parser->left, n - taken);
			if (!parser->left)
				parser->state = AT_HEADER;
			break;
		}
	*ret_taken = taken;
	return parsed;
}

static enum nm_parsed binary_parse(struct nm_app_parser *parser,
				   const struct nm_app_request *request, const char *data, size_t n,
				   size_t *ret_taken)
{
	if (request->several)
		return parse_keys(parser, request, data, n, ret_taken);
	enum nm_parsed parsed = take_head(parser, &nm_memcache_verbs[request->verb],
					  request->number, data, n, ret_taken);
	size_t some;

	if (parsed != NM_PARSED_MORE)
		return parsed;
	if (parser->state == BEFORE_VALUE && !parser->left) {
		nm_value_begin(parser, request->at, parser->check);
		nm_value_ends_bare(parser);
		parser->state = IN_VALUE;
	}
	if (parser->state != IN_VALUE)
		return NM_PARSED_MORE;
	parsed = nm_value_take(parser, request, data + *ret_taken, n - *ret_taken, &some);
	*ret_taken += some;
	return parsed;
}

/* The value is another one where all before it was right. */
static bool binary_tell(const struct nm_app_parser *parser, const struct nm_app_request *request,
			char *buf, size_t size)
{
	const struct nm_binary_header header = nm_binary_read(parser->line.kept);
	const unsigned asked = nm_memcache_verbs[request->verb].opcode;

	if (parser->line.length < NM_BINARY_HEADER || header.magic != NM_BINARY_ANSWER ||
	    parser->state == IN_VALUE)
		return false;
	if (header.opcode != asked)
		(void)snprintf(buf, size, "opcode 0x%02x, not 0x%02x", header.opcode, asked);
	else if (header.opaque != request->number)
		(void)snprintf(buf, size, "opcode 0x%02x, opaque 0x%08x, not 0x%08x", asked,
			       header.opaque, request->number);
	else
		(void)snprintf(buf, size,
			       "opcode 0x%02x, status 0x%04x, type %u, bytes %u+%u of %u", asked,
			       header.status, header.type, header.extras, header.key, header.body);
	return true;
}

/* --- what a connection begins with --- */

static void greet(const struct nm_app_login *login, struct nm_greetings *ret)
{
	static const char mechanism[] = "PLAIN";
	const size_t user = strlen(login->user), password = strlen(login->password);
	const struct nm_binary_header header = {
		.magic = NM_BINARY_REQUEST,
		.opcode = NM_BINARY_SASL_AUTH,
		.key = sizeof mechanism - 1,
		.body = (uint32_t)(sizeof mechanism - 1 + 1 + user + 1 + password),
	};

	if (!password)
		return;
	char *at = nm_line_put(mechanism, nm_binary_write(ret->bytes, &header));

	*at++ = '\0'; /* who it is to be for: whoever logs in */
	at = nm_line_put(login->user, at);
	*at++ = '\0';
	at = nm_line_put(login->password, at);
	ret->size = (size_t)(at - ret->bytes);
	ret->of[ret->count++] = (struct nm_greeting){.name = "the login", .has_password = true};
}

static enum nm_parsed greeted(struct nm_app_parser *parser, const char *data, size_t n,
			      size_t *ret_taken)
{
	static const struct nm_memcache_verb login = {.opcode = NM_BINARY_SASL_AUTH};

	return take_head(parser, &login, 0, data, n, ret_taken);
}

static const struct nm_app_session session = {.needs_user = true, .greet = greet, .parse = greeted};

/* --- what a server is --- */

static enum nm_parsed read_version(const char *data, size_t n, const char **ret, size_t *ret_n)
{
	if (n < NM_BINARY_HEADER)
		return NM_PARSED_MORE;
	const struct nm_binary_header header = nm_binary_read(data);

	if (header.magic != NM_BINARY_ANSWER || header.opcode != NM_BINARY_VERSION ||
	    header.status != NM_BINARY_OK || header.extras || header.key ||
	    header.body > NM_IDENTITY_BYTES - NM_BINARY_HEADER)
		return NM_PARSED_BAD;
	*ret = data + NM_BINARY_HEADER;
	*ret_n = header.body;
	return n < NM_BINARY_HEADER + header.body ? NM_PARSED_MORE : NM_PARSED_DONE;
}

static const struct nm_app_identity identity = {
	.request = "\x80\x0b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
	.request_bytes = NM_BINARY_HEADER,
	.read = read_version};

const struct nm_app nm_app_memcache_binary = {
	.name = "memcache_binary",
	.help = "the binary protocol of memcached",
	NM_MEMCACHE_MEMBERS,
	.batches = NM_VERB_BIT(NM_VERB_GET) | NM_VERB_BIT(NM_VERB_SET),
	.encode = binary_encode,
	.parse = binary_parse,
	.tell = binary_tell,
	.session = &session,
	.identity = &identity,
};
