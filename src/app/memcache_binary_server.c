/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached's binary protocol: get, set, delete, no-op and version. Any
 * other request is answered with an error. */
#include <string.h>

#include "app/memcache.h"
#include "app/memcache_binary.h"
#include "app/memcache_server.h"
#include "app/value.h"

/* The extras of any request have no more bytes. */
#define EXTRAS_MAX 20u

/* So much of a request is read before its value. */
#define HEAD_MAX (NM_BINARY_HEADER + EXTRAS_MAX + NM_KEY_MAX)

_Static_assert(HEAD_MAX < NM_APP_KEPT_BYTES, "the head of a request is kept");

/* Answers with extras, text, and so many bytes that the caller adds. */
static void put_head(struct nm_app_served *served, enum nm_binary_status status, uint32_t extras,
		     uint64_t body)
{
	char head[NM_BINARY_HEADER];

	nm_binary_write(head, &(struct nm_binary_header){.magic = NM_BINARY_ANSWER,
							 .opcode = served->note,
							 .extras = (uint8_t)extras,
							 .status = (uint16_t)status,
							 .body = (uint32_t)body,
							 .opaque = served->words_left});
	nm_rope_add(&served->out, head, sizeof head);
}

static enum nm_took answer(struct nm_app_served *served, enum nm_verb verb, enum nm_class class,
			   enum nm_binary_status status, const char *text)
{
	put_head(served, status, 0, strlen(text));
	return nm_app_answer(served, verb, class, text);
}

static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			const char *key, size_t n)
{
	char flags[NM_BINARY_GET_EXTRAS];
	struct nm_stored stored;

	if (!nm_store_find(service->store, key, n, &stored))
		return answer(served, NM_VERB_GET, NM_CLASS_MISS, NM_BINARY_KEY_ENOENT,
			      "Not found");
	put_head(served, NM_BINARY_OK, sizeof flags, sizeof flags + stored.size);
	nm_binary_put(flags, stored.flags);
	nm_rope_add(&served->out, flags, sizeof flags);
	nm_value_put(served, &stored);
	return nm_app_answer(served, NM_VERB_GET, NM_CLASS_OK, "");
}

/* A request that is whole with its key. MORE: it is none of those. */
static enum nm_took execute(struct nm_app_served *served, const struct nm_app_service *service,
			    const char *key, size_t n)
{
	switch (served->note) {
	case NM_BINARY_GET:
		return n ? get(served, service, key, n) : NM_TOOK_MORE;
	case NM_BINARY_DELETE:
		if (!n)
			return NM_TOOK_MORE;
		return nm_store_delete(service->store, key, n)
			       ? answer(served, NM_VERB_DELETE, NM_CLASS_OK, NM_BINARY_OK, "")
			       : answer(served, NM_VERB_DELETE, NM_CLASS_MISS, NM_BINARY_KEY_ENOENT,
					"Not found");
	case NM_BINARY_NOOP:
		return n ? NM_TOOK_MORE
			 : answer(served, NM_VERB_NONE, NM_CLASS_OK, NM_BINARY_OK, "");
	case NM_BINARY_VERSION:
		return n ? NM_TOOK_MORE
			 : answer(served, NM_VERB_NONE, NM_CLASS_OK, NM_BINARY_OK, "netmodel");
	default:
		return NM_TOOK_MORE;
	}
}

/* Behind the value, or what is skipped of a request that is none of ours. */
static enum nm_took end_body(struct nm_app_served *served, const struct nm_app_service *service)
{
	if (served->verb != NM_VERB_SET)
		return served->note == NM_BINARY_GET || served->note == NM_BINARY_SET ||
				       served->note == NM_BINARY_DELETE
			       ? answer(served, NM_VERB_NONE, NM_CLASS_REFUSED, NM_BINARY_EINVAL,
					"Invalid arguments")
			       : answer(served, NM_VERB_NONE, NM_CLASS_REFUSED,
					NM_BINARY_UNKNOWN_COMMAND, "Unknown command");
	if (nm_value_publish(served, service))
		return answer(served, NM_VERB_SET, NM_CLASS_OK, NM_BINARY_OK, "");
	return served->at > NM_VALUE_MAX
		       ? answer(served, NM_VERB_SET, NM_CLASS_REFUSED, NM_BINARY_E2BIG,
				"Too large.")
		       : answer(served, NM_VERB_SET, NM_CLASS_REFUSED, NM_BINARY_ENOMEM,
				"Out of memory allocating item");
}

/* The header, the extras and the key are there. */
static enum nm_took begin(struct nm_app_served *served, const struct nm_app_service *service,
			  const struct nm_binary_header *header, const char *data)
{
	const char *extras = data + NM_BINARY_HEADER, *key = extras + header->extras;
	const uint32_t left = header->body - header->extras - header->key;

	served->note = header->opcode;
	served->words_left = header->opaque;
	if (!left && !header->extras) {
		enum nm_took took = execute(served, service, key, header->key);

		if (took != NM_TOOK_MORE)
			return took;
	}
	const bool sets = header->opcode == NM_BINARY_SET &&
			  header->extras == NM_BINARY_SET_EXTRAS && header->key && !header->cas;

	served->verb = sets ? NM_VERB_SET : NM_VERB_NONE;
	served->place = 0;
	served->left = left;
	if (sets)
		nm_value_reserve(served, service, key, header->key, nm_binary_get(extras), left);
	served->state = NM_MEMCACHE_IN_BODY;
	return NM_TOOK_MORE;
}

enum nm_took nm_memcache_take_binary(struct nm_app_served *served,
				     const struct nm_app_service *service, const char *data,
				     size_t n, size_t *ret_taken)
{
	if (served->state == NM_MEMCACHE_AT_COMMAND) {
		if (n < NM_BINARY_HEADER)
			return NM_TOOK_MORE;
		const struct nm_binary_header header = nm_binary_read(data);
		const uint32_t behind = (uint32_t)header.extras + header.key;

		if (header.type || header.status || header.extras > EXTRAS_MAX ||
		    header.key > NM_KEY_MAX || behind > header.body ||
		    !nm_rope_has_room(&served->out, NM_MEMCACHE_ANSWER_BYTES))
			return NM_TOOK_BAD;
		if (n < NM_BINARY_HEADER + behind)
			return NM_TOOK_MORE;
		*ret_taken = NM_BINARY_HEADER + behind;
		enum nm_took took = begin(served, service, &header, data);

		if (took != NM_TOOK_MORE)
			return took;
	}
	*ret_taken += nm_value_write(served, service, data + *ret_taken, n - *ret_taken);
	return served->left ? NM_TOOK_MORE : end_body(served, service);
}

void nm_memcache_fail_binary(struct nm_app_served *served)
{
	struct nm_binary_header header = nm_binary_read(served->out.text);
	char text[NM_BINARY_HEADER];

	header.status = NM_BINARY_EINTERNAL;
	header.key = header.extras = 0;
	header.body = 0;
	header.cas = 0;
	(void)nm_binary_write(text, &header);
	nm_app_fail(served, "");
	nm_rope_add(&served->out, text, sizeof text);
}
