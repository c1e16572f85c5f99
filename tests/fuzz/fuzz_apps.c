/* SPDX-License-Identifier: Apache-2.0 */
/* Application protocols: what comes from a server, and from a client, in pieces. However it is cut,
 * as much is taken of it and it is found to be the same; and no answer has more bytes than it has
 * room for. The first byte says which protocol and verb, the second how long the payload of its
 * request is, the third how it is cut. The answer to the request itself may be put before the
 * rest. */
#include <string.h>

#include "app/app.h"
#include "app/command.h"
#include "app/http.h"
#include "app/question.h"
#include "app/store.h"
#include "fuzz.h"

#define MAX_SIZE    255u
#define SENT_BYTES  1024u
#define TEXT_BYTES  (MAX_SIZE + 400u)
#define SAID_BYTES  8192u
#define STORE_BYTES 65536u

/* What a server has said. */
struct said {
	enum nm_took took;
	unsigned requests;
	size_t taken, n;
	char bytes[SAID_BYTES];
};

static struct nm_pool *pool;
static struct nm_keyspace keyspace;
static struct nm_http_lines *lines[2]; /* GET, and HEAD that ends the connection */
static struct nm_command command;
static const struct nm_question question = {
	.length = 17, .wire = (const unsigned char *)"\7example\3com\0\0\1\0\1"};
static struct nm_questions questions = {
	.keys = {.law = NM_KEYS_SEQUENTIAL, .count = 1}, .edns_bytes = 1232, .list = &question};

static void init(void)
{
	char why[128];
	const char *culprit;

	if (pool)
		return;
	pool = nm_pool_new();
	for (int i = 0; i < 2; i++)
		lines[i] = nm_http_lines_new(i ? NM_HTTP_HEAD : NM_HTTP_GET, "/bytes/99", "h", i,
					     &culprit, why, sizeof why);
	demand(pool && lines[0] && lines[1] &&
	       nm_keyspace_init(&keyspace, "uniform", "k", 10, 0, why, sizeof why) == 0 &&
	       nm_command_read("GET __key__", &keyspace, &command, why, sizeof why) == 0);
}

/* The byte counts through the verbs of all protocols. */
static const struct nm_app *app_of(uint8_t byte, struct nm_app_request *ret)
{
	for (unsigned n = 0;; n++) {
		const struct nm_app *app = nm_apps[n];
		uint64_t verbs = app ? app->verbs : 0;

		for (; verbs; verbs &= verbs - 1) {
			enum nm_verb verb = (enum nm_verb)__builtin_ctzll(verbs);

			*ret = (struct nm_app_request){.verb = verb, .pool = pool, .verify = true};
			if (nm_verb_has_key(verb))
				ret->keyspace = &keyspace;
			if (verb == NM_VERB_HTTP)
				ret->http = lines[0];
			if (verb == NM_VERB_COMMAND) {
				ret->keyspace = &keyspace;
				ret->command = &command;
			}
			if (verb == NM_VERB_QUERY)
				ret->keyspace = &questions.keys;
			if (byte-- == 0)
				return app;
		}
		if (!app)
			return NULL;
	}
}

static enum nm_parsed parse(const struct nm_app *app, const struct nm_app_request *request,
			    const uint8_t *data, size_t size, size_t piece, size_t *ret_taken)
{
	struct nm_app_parser parser = {.at = 0};
	enum nm_parsed parsed = NM_PARSED_MORE;
	size_t at = 0;

	while (parsed == NM_PARSED_MORE && at < size) {
		size_t n = piece < size - at ? piece : size - at, taken = 0;

		parsed = app->parse(&parser, request, (const char *)data + at, n, &taken);
		demand(taken <= n && (parsed != NM_PARSED_MORE || taken == n));
		at += taken;
	}
	*ret_taken = at;
	return parsed;
}

static void check_answer(const struct nm_app *app, const struct nm_app_request *request,
			 const uint8_t *data, size_t size, size_t piece)
{
	size_t whole_taken, taken;
	enum nm_parsed whole = parse(app, request, data, size, size, &whole_taken);
	enum nm_parsed cut = parse(app, request, data, size, piece, &taken);

	demand(cut == whole && (whole != NM_PARSED_DONE || taken == whole_taken));
}

static void collect(struct nm_app_served *served, struct said *said)
{
	char *data;
	size_t room = sizeof said->bytes - said->n;
	size_t n = nm_rope_next(&served->out, said->bytes + said->n, room, &data);

	n = n < room ? n : room;
	memmove(said->bytes + said->n, data, n);
	said->n += n;
	nm_rope_advance(&served->out, (size_t)served->out.total);
}

/* Has the server take all of it, of which so much more comes each time. */
static void take(const struct nm_app *app, const uint8_t *data, size_t size, size_t piece,
		 struct said *said)
{
	char text[TEXT_BYTES];
	/* As much as the server of a run has, up to the end of the memory that it may write. */
	const size_t room = app->answer_bytes + (app->echoes ? MAX_SIZE : 0u);
	struct nm_app_service service = {.store = nm_store_new(STORE_BYTES), .pool = pool};
	struct nm_app_served served = {.out = {.text = text + sizeof text - room, .room = room}};
	size_t there = 0;
	bool any;

	*said = (struct said){.took = NM_TOOK_MORE};
	while (said->took != NM_TOOK_BAD && there < size) {
		there = piece < size - there ? there + piece : size;
		do {
			size_t taken = 0, n = there - said->taken;

			said->took = app->take(&served, &service, (const char *)data + said->taken,
					       n, &taken);
			demand(taken <= n);
			any = taken > 0;
			said->taken += taken;
			if (said->took != NM_TOOK_REQUEST)
				continue;
			said->requests++;
			collect(&served, said);
		} while (said->took != NM_TOOK_BAD && any && said->taken < there);
		demand(said->took == NM_TOOK_BAD || there - said->taken < NM_APP_KEPT_BYTES);
	}
	nm_store_free(service.store);
}

static void check_request(const struct nm_app *app, const uint8_t *data, size_t size, size_t piece)
{
	static struct said whole, cut;

	take(app, data, size, size, &whole);
	take(app, data, size, piece, &cut);
	demand((cut.took == NM_TOOK_BAD) == (whole.took == NM_TOOK_BAD) &&
	       cut.requests == whole.requests && cut.n == whole.n &&
	       memcmp(cut.bytes, whole.bytes, whole.n) == 0);
}

/* All of it is one message, to either end. What a server answers has a header, and the client never
 * takes a message that has less. */
static void check_message(const struct nm_app *app, const struct nm_app_request *request,
			  const uint8_t *data, size_t size)
{
	char text[TEXT_BYTES];
	struct nm_app_served served = {.out = {.text = text, .room = app->answer_bytes}};
	struct nm_app_parser parser = {.at = 0};

	if (app->datagram->serve(&served, (const char *)data, size))
		demand(served.out.total > 0 && served.out.total <= app->answer_bytes);
	if (app->datagram->parse(&parser, request, (const char *)data, size) == NM_PARSED_DONE)
		demand(size > 0 && app->datagram->parse(&parser, request, (const char *)data, 0) ==
					   NM_PARSED_BAD);
}

/* The request that the first bytes stand for, and how many bytes of it there are. */
static const struct nm_app *request_of(const uint8_t *data, struct nm_app_request *ret,
				       char sent[SENT_BYTES], size_t *ret_n)
{
	const struct nm_app *app = app_of(data[0], ret);
	uint64_t total;

	if (!app)
		return NULL;
	if (app->echoes || ret->verb == NM_VERB_SET || ret->verb == NM_VERB_HTTP)
		ret->size = data[1];
	if (ret->verb == NM_VERB_HTTP)
		ret->http = lines[data[1] & 1];
	if (ret->keyspace) {
		ret->key = data[1] % ret->keyspace->count;
		ret->at = nm_pool_at(ret->key);
	}
	*ret_n = nm_app_compose(app, ret, 0, sent, SENT_BYTES, &total);
	demand(*ret_n == total);
	return app;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nm_app_request request;
	char sent[SENT_BYTES];
	size_t n;

	init();
	if (size < 4)
		return 0;
	const struct nm_app *app = request_of(data, &request, sent, &n);
	size_t piece = data[2] % 32u + 1u;

	if (!app)
		return 0;
	check_answer(app, &request, data + 3, size - 3, piece);
	check_request(app, data + 3, size - 3, piece);
	if (app->datagram)
		check_message(app, &request, data + 3, size - 3);
	return 0;
}

/* Some begin with the request that they stand for, or with the answer that it should have. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static struct said said;
	struct nm_app_request request;
	char sent[SENT_BYTES];
	size_t n;

	init();
	if (size < 4 || pick(&seed, 4) != 0)
		return LLVMFuzzerMutate(data, size, max_size);
	const struct nm_app *app = request_of(data, &request, sent, &n);

	if (!app)
		return LLVMFuzzerMutate(data, size, max_size);
	take(app, (const uint8_t *)sent, n, n, &said);
	demand(said.requests == 1 && said.taken == n);
	if (pick(&seed, 2) != 0) {
		memcpy(said.bytes, sent, n);
		said.n = n;
	}
	if (3 + said.n > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(data + 3, said.bytes, said.n);
	return 3 + said.n > size ? 3 + said.n : size;
}
