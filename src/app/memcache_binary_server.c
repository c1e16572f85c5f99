/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own server of memcached's binary protocol. Requests that it does not have are answered
 * with an error. */
#include <string.h>
#include <unistd.h>

#include "app/change.h"
#include "app/memcache_binary.h"
#include "app/memcache_server.h"

/* The extras of any request have no more bytes. */
#define EXTRAS_MAX 20u

/* So much of a request is read before its value. */
#define HEAD_MAX (NM_BINARY_HEADER + EXTRAS_MAX + NM_KEY_MAX)

_Static_assert(HEAD_MAX < NM_APP_KEPT_BYTES, "the head of a request is kept");

/* What an opcode asks for. A quiet one is not answered where that would be the usual answer, or a
 * miss of what reads. */
struct operation {
	uint8_t verb; /* NONE: it has no key */
	bool quiet, returns_key;
};

#define OPERATION_MAX NM_BINARY_GATKQ
static const struct operation operations[OPERATION_MAX + 1] = {
	[NM_BINARY_GET] = {.verb = NM_VERB_GET},
	[NM_BINARY_GETQ] = {.verb = NM_VERB_GET, .quiet = true},
	[NM_BINARY_GETK] = {.verb = NM_VERB_GET, .returns_key = true},
	[NM_BINARY_GETKQ] = {.verb = NM_VERB_GET, .quiet = true, .returns_key = true},
	[NM_BINARY_GAT] = {.verb = NM_VERB_GAT},
	[NM_BINARY_GATQ] = {.verb = NM_VERB_GAT, .quiet = true},
	[NM_BINARY_GATK] = {.verb = NM_VERB_GAT, .returns_key = true},
	[NM_BINARY_GATKQ] = {.verb = NM_VERB_GAT, .quiet = true, .returns_key = true},
	[NM_BINARY_TOUCH] = {.verb = NM_VERB_TOUCH},
	[NM_BINARY_SET] = {.verb = NM_VERB_SET},
	[NM_BINARY_SETQ] = {.verb = NM_VERB_SET, .quiet = true},
	[NM_BINARY_ADD] = {.verb = NM_VERB_ADD},
	[NM_BINARY_ADDQ] = {.verb = NM_VERB_ADD, .quiet = true},
	[NM_BINARY_REPLACE] = {.verb = NM_VERB_REPLACE},
	[NM_BINARY_REPLACEQ] = {.verb = NM_VERB_REPLACE, .quiet = true},
	[NM_BINARY_APPEND] = {.verb = NM_VERB_APPEND},
	[NM_BINARY_APPENDQ] = {.verb = NM_VERB_APPEND, .quiet = true},
	[NM_BINARY_PREPEND] = {.verb = NM_VERB_PREPEND},
	[NM_BINARY_PREPENDQ] = {.verb = NM_VERB_PREPEND, .quiet = true},
	[NM_BINARY_DELETE] = {.verb = NM_VERB_DELETE},
	[NM_BINARY_DELETEQ] = {.verb = NM_VERB_DELETE, .quiet = true},
	[NM_BINARY_INCR] = {.verb = NM_VERB_INCR},
	[NM_BINARY_INCRQ] = {.verb = NM_VERB_INCR, .quiet = true},
	[NM_BINARY_DECR] = {.verb = NM_VERB_DECR},
	[NM_BINARY_DECRQ] = {.verb = NM_VERB_DECR, .quiet = true},
	[NM_BINARY_QUITQ] = {.quiet = true},
	[NM_BINARY_FLUSHQ] = {.quiet = true},
};

static const struct operation *operation_of(const struct nm_app_served *served)
{
	static const struct operation none;

	return served->note <= OPERATION_MAX ? &operations[served->note] : &none;
}

/* A request that is whole with its key. */
struct request {
	const char *extras, *key;
	uint32_t n_extras, n_key;
	uint64_t expected; /* ANY: as its verb alone says */
};

/* Of an answer. */
struct head {
	enum nm_binary_status status;
	uint32_t extras, key; /* extras: flags, if there are any */
	uint32_t flags;
	uint64_t body, unique;
};

static void put_head(struct nm_app_served *served, const struct head *head)
{
	struct nm_binary_header header = {.magic = NM_BINARY_ANSWER,
					  .opcode = served->note,
					  .key = (uint16_t)head->key,
					  .extras = (uint8_t)head->extras,
					  .status = (uint16_t)head->status,
					  .body = (uint32_t)head->body,
					  .opaque = served->words_left};
	char text[NM_BINARY_HEADER + NM_BINARY_GET_EXTRAS];

	(void)nm_binary_put_wide((char *)&header.cas, head->unique);
	nm_binary_put(nm_binary_write(text, &header), head->flags);
	nm_rope_add(&served->out, text, NM_BINARY_HEADER + head->extras);
}

/* Ends a request with what has been put. */
static enum nm_took end(struct nm_app_served *served, enum nm_verb verb, enum nm_class class)
{
	const enum nm_took took = nm_app_answer(served, verb, class, "");

	return operation_of(served)->quiet ? nm_memcache_gather(served) : took;
}

/* Text alone, or nothing where it is quiet. */
static enum nm_took answer(struct nm_app_served *served, enum nm_verb verb, enum nm_class class,
			   enum nm_binary_status status, const char *text)
{
	const enum nm_binary_status unsaid = verb != NM_VERB_NONE && nm_memcache_reads(verb)
						     ? NM_BINARY_KEY_ENOENT
						     : NM_BINARY_OK;

	if (!operation_of(served)->quiet || status != unsaid) {
		put_head(served, &(struct head){.status = status, .body = strlen(text)});
		nm_rope_add(&served->out, text, strlen(text));
	}
	return end(served, verb, class);
}

static enum nm_took succeed(struct nm_app_served *served, enum nm_verb verb, uint64_t unique)
{
	if (!operation_of(served)->quiet)
		put_head(served, &(struct head){.status = NM_BINARY_OK, .unique = unique});
	return end(served, verb, NM_CLASS_OK);
}

/* What is not done, and why. */
static enum nm_took fail(struct nm_app_served *served, enum nm_verb verb, enum nm_store_end why)
{
	const enum nm_class class = nm_memcache_class(verb, why);
	const bool joins = verb == NM_VERB_APPEND || verb == NM_VERB_PREPEND;

	if (why == NM_STORE_NO_NUMBER)
		return answer(served, verb, class, NM_BINARY_DELTA_BADVAL,
			      "Non-numeric server-side value for incr or decr");
	if (why == NM_STORE_OTHER)
		return answer(served, verb, class, NM_BINARY_KEY_EEXISTS, "Data exists for key.");
	if (why == NM_STORE_GONE)
		return answer(served, verb, class, NM_BINARY_ENOMEM, "Out of memory");
	return joins ? answer(served, verb, class, NM_BINARY_NOT_STORED, "Not stored.")
		     : answer(served, verb, class, NM_BINARY_KEY_ENOENT, "Not found");
}

/* --- requests with a key --- */

/* The text is the key, where it is to be returned. */
static enum nm_took miss(struct nm_app_served *served, enum nm_verb verb, const char *key,
			 uint32_t n)
{
	if (!n || operation_of(served)->quiet)
		return answer(served, verb, NM_CLASS_MISS, NM_BINARY_KEY_ENOENT, "Not found");
	put_head(served, &(struct head){.status = NM_BINARY_KEY_ENOENT, .key = n, .body = n});
	nm_rope_add(&served->out, key, n);
	return end(served, verb, NM_CLASS_MISS);
}

/* Of get, gat and touch. */
static enum nm_took get(struct nm_app_served *served, const struct nm_app_service *service,
			enum nm_verb verb, const struct request *request)
{
	const bool value = verb != NM_VERB_TOUCH;
	struct nm_stored stored;

	const uint32_t n_key = operation_of(served)->returns_key ? request->n_key : 0;

	if (!nm_store_find(service->store, request->key, request->n_key, &stored))
		return miss(served, verb, request->key, n_key);
	put_head(served,
		 &(struct head){.status = NM_BINARY_OK,
				.extras = NM_BINARY_GET_EXTRAS,
				.flags = stored.flags,
				.key = n_key,
				.body = NM_BINARY_GET_EXTRAS + n_key + (value ? stored.size : 0),
				.unique = stored.place});
	if (n_key)
		nm_rope_add(&served->out, request->key, n_key);
	if (value)
		nm_value_put(served, &stored);
	if (request->n_extras && nm_memcache_expires(nm_binary_get(request->extras)))
		(void)nm_store_delete(service->store, request->key, request->n_key);
	return end(served, verb, NM_CLASS_OK);
}

static enum nm_took forget(struct nm_app_served *served, const struct nm_app_service *service,
			   const struct request *request)
{
	const enum nm_store_end done =
		nm_store_delete_at(service->store, request->key, request->n_key, request->expected);

	return done == NM_STORE_DONE ? succeed(served, NM_VERB_DELETE, 0)
				     : fail(served, NM_VERB_DELETE, done);
}

static enum nm_took count(struct nm_app_served *served, const struct nm_app_service *service,
			  enum nm_verb verb, const struct request *request)
{
	const struct nm_change_count how = {
		.down = verb == NM_VERB_DECR,
		.begins = nm_binary_get(request->extras + 16) != NM_BINARY_NEVER,
		.by = nm_binary_get_wide(request->extras),
		.first = nm_binary_get_wide(request->extras + 8),
		.expected = request->expected == NM_STORE_ANY ? NM_STORE_SOME : request->expected,
	};
	char text[NM_BINARY_COUNT_BYTES];
	uint64_t number, place;
	const enum nm_store_end done = nm_change_count(service->store, request->key, request->n_key,
						       &how, &number, &place);

	if (done != NM_STORE_DONE)
		return fail(served, verb, done);
	if (!operation_of(served)->quiet) {
		put_head(served, &(struct head){.status = NM_BINARY_OK,
						.body = sizeof text,
						.unique = place});
		nm_binary_put_wide(text, number);
		nm_rope_add(&served->out, text, sizeof text);
	}
	return end(served, verb, NM_CLASS_OK);
}

static enum nm_took execute(struct nm_app_served *served, const struct nm_app_service *service,
			    enum nm_verb verb, const struct request *request)
{
	if (verb == NM_VERB_DELETE)
		return forget(served, service, request);
	return nm_memcache_counts(verb) ? count(served, service, verb, request)
					: get(served, service, verb, request);
}

/* The value of a request that stores one comes next. */
static void begin_storing(struct nm_app_served *served, const struct nm_app_service *service,
			  enum nm_verb verb, const struct request *request, uint32_t bytes)
{
	struct nm_memcache_storing storing = {.verb = verb,
					      .expected = request->expected,
					      .key = request->key,
					      .n_key = request->n_key,
					      .bytes = bytes};

	if (request->n_extras) {
		storing.flags = nm_binary_get(request->extras);
		storing.expires = nm_memcache_expires(nm_binary_get(request->extras + 4));
		if (request->expected != NM_STORE_ANY)
			storing.verb = NM_VERB_CAS;
	}
	nm_memcache_begin_storing(served, service, &storing);
}

/* --- requests without --- */

static void put_stat(struct nm_app_served *served, const char *name, const char *value)
{
	put_head(served, &(struct head){.status = NM_BINARY_OK,
					.key = (uint32_t)strlen(name),
					.body = strlen(name) + strlen(value)});
	nm_rope_add(&served->out, name, strlen(name));
	nm_rope_add(&served->out, value, strlen(value));
}

static enum nm_took tell_stats(struct nm_app_served *served, bool all)
{
	char number[NM_NUMBER_MAX + 1];

	if (all) {
		*nm_number_put((uint64_t)getpid(), number) = '\0';
		put_stat(served, "pid", number);
		put_stat(served, "version", NM_MEMCACHE_VERSION);
	}
	return answer(served, NM_VERB_NONE, NM_CLASS_OK, NM_BINARY_OK, "");
}

static enum nm_took flush(struct nm_app_served *served, const struct nm_app_service *service,
			  const struct request *request)
{
	if (request->n_extras && nm_binary_get(request->extras))
		return answer(served, NM_VERB_NONE, NM_CLASS_REFUSED, NM_BINARY_NOT_SUPPORTED,
			      "All goes now, or never");
	return nm_store_clear(service->store)
		       ? answer(served, NM_VERB_NONE, NM_CLASS_OK, NM_BINARY_OK, "")
		       : fail(served, NM_VERB_NONE, NM_STORE_GONE);
}

/* MORE: it is none of those. */
static enum nm_took execute_other(struct nm_app_served *served,
				  const struct nm_app_service *service,
				  const struct request *request)
{
	const bool bare = !request->n_key && !request->n_extras;
	const char *text = "";

	switch (served->note) {
	case NM_BINARY_STAT:
		return request->n_extras ? NM_TOOK_MORE : tell_stats(served, !request->n_key);
	case NM_BINARY_FLUSH:
	case NM_BINARY_FLUSHQ:
		return request->n_key ? NM_TOOK_MORE : flush(served, service, request);
	case NM_BINARY_QUIT:
	case NM_BINARY_QUITQ:
		served->last = bare;
		break;
	case NM_BINARY_VERSION:
		text = NM_MEMCACHE_VERSION;
		break;
	case NM_BINARY_NOOP:
		break;
	default:
		return NM_TOOK_MORE;
	}
	if (!bare)
		return NM_TOOK_MORE;
	return answer(served, NM_VERB_NONE, NM_CLASS_OK, NM_BINARY_OK, text);
}

/* --- a request --- */

/* Behind the value, or what is skipped of a request that is none of ours. */
static enum nm_took end_body(struct nm_app_served *served, const struct nm_app_service *service)
{
	const enum nm_verb verb = (enum nm_verb)served->verb;

	if (verb == NM_VERB_NONE)
		return operation_of(served)->verb != NM_VERB_NONE
			       ? answer(served, NM_VERB_NONE, NM_CLASS_REFUSED, NM_BINARY_EINVAL,
					"Invalid arguments")
			       : answer(served, NM_VERB_NONE, NM_CLASS_REFUSED,
					NM_BINARY_UNKNOWN_COMMAND, "Unknown command");
	const enum nm_store_end done = nm_memcache_publish(served, service);

	if (done == NM_STORE_DONE)
		return succeed(served, verb, served->place);
	return done == NM_STORE_GONE && served->at > NM_VALUE_MAX
		       ? answer(served, verb, NM_CLASS_REFUSED, NM_BINARY_E2BIG, "Too large.")
		       : fail(served, verb, done);
}

/* The header, the extras and the key are there. */
static enum nm_took begin(struct nm_app_served *served, const struct nm_app_service *service,
			  const struct nm_binary_header *header, const char *data)
{
	const struct request request = {
		.extras = data + NM_BINARY_HEADER,
		.key = data + NM_BINARY_HEADER + header->extras,
		.n_extras = header->extras,
		.n_key = header->key,
		.expected = header->cas ? nm_memcache_expected(nm_binary_get_wide(data + 16))
					: NM_STORE_ANY,
	};
	const uint32_t left = header->body - header->extras - header->key;

	served->note = header->opcode;
	served->words_left = header->opaque;
	const enum nm_verb verb = (enum nm_verb)operation_of(served)->verb;
	const struct nm_memcache_verb *known = &nm_memcache_verbs[verb];
	const bool is_good = verb && header->key && header->extras == known->extras;
	enum nm_took took = NM_TOOK_MORE;

	if (is_good && !known->stores && !left)
		took = execute(served, service, verb, &request);
	else if (!verb && !left)
		took = execute_other(served, service, &request);
	if (took != NM_TOOK_MORE)
		return took;
	served->verb = NM_VERB_NONE;
	nm_value_skip(served, left);
	if (is_good && known->stores)
		begin_storing(served, service, verb, &request, left);
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

/* A no-op does not fail: it ends requests of several keys, whose client would wait for it. */
void nm_memcache_fail_binary(struct nm_app_served *served)
{
	const struct nm_rope *out = &served->out;
	const bool ends = served->verb == NM_VERB_NONE && served->note == NM_BINARY_NOOP;
	struct nm_binary_header header = nm_binary_read(out->text);
	char text[2 * NM_BINARY_HEADER];

	if (header.opcode == NM_BINARY_NOOP)
		return;
	header.status = NM_BINARY_EINTERNAL;
	header.key = header.extras = 0;
	header.body = 0;
	header.cas = 0;
	char *end = nm_binary_write(text, &header);

	if (ends) {
		memcpy(end, out->text + out->n_text - NM_BINARY_HEADER, NM_BINARY_HEADER);
		end += NM_BINARY_HEADER;
	}
	nm_app_fail(served, "");
	nm_rope_add(&served->out, text, (size_t)(end - text));
}
