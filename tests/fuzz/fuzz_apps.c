/* SPDX-License-Identifier: Apache-2.0 */
/* Application protocols: what comes from a server, and from a client, in pieces. However it is cut,
 * as much is taken of it and it is found to be the same; and no answer has more bytes than it has
 * room for. The first line says what the rest is for, "PROTOCOL END NUMBER PIECE": the rest comes
 * to that end of the protocol, PIECE bytes at a time, and NUMBER says how long the payload of the
 * request is, which key it has, and whether it has several. An end is "server"; "greeting", the
 * client that has begun a connection; "message", where messages may be lost; or a verb, whose
 * answers come. */
#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "app/batch.h"
#include "app/command.h"
#include "app/http.h"
#include "app/question.h"
#include "app/store.h"
#include "fuzz.h"

#define MAX_SIZE    255u
#define MAX_PIECE   255u
#define KEYS	    10u
#define BATCH_FROM  250u /* from that number on requests have several keys, where an app has such */
#define BATCH	    4u
#define SENT_BYTES  2048u
#define TEXT_BYTES  (MAX_SIZE + 700u)
#define SAID_BYTES  8192u
#define STORE_BYTES 65536u
#define PIECE_BYTES 65536u
#define LINE_BYTES  80u
#define METHODS	    (NM_HTTP_DELETE + 1u)

static const char server[] = "server", greeting[] = "greeting", message[] = "message";

/* What an input says. */
struct input {
	const struct nm_app *app;
	const char *end; /* one of those above, or the name of the verb */
	struct nm_app_request request;
	uint64_t number, piece;
	const uint8_t *data;
	size_t size;
};

/* What a server has said. */
struct said {
	enum nm_took took;
	bool over;		    /* no more is taken of the connection */
	unsigned requests, answers; /* those that were taken, and those of which all was sent */
	uint32_t outcomes;
	size_t taken, n;
	char bytes[SAID_BYTES];
};

/* What a client has heard. */
struct heard {
	enum nm_parsed parsed; /* of what came last */
	bool has_told;
	unsigned answers;
	uint32_t outcomes;
	size_t taken; /* to the end of the last answer */
	char told[NM_SAID_MAX];
};

static const char *only; /* the protocol that inputs are made for, or NULL */
static struct nm_pool *pool;
static struct nm_keyspace keyspace;
static struct nm_http_lines *lines[2 * METHODS]; /* by method, without and with its end */
static struct nm_command command;
static struct nm_batch batch = {.count = BATCH};
static const struct nm_question question = {
	.length = 17, .wire = (const unsigned char *)"\7example\3com\0\0\1\0\1"};
static struct nm_questions questions = {
	.keys = {.law = NM_KEYS_SEQUENTIAL, .count = 1}, .edns_bytes = 1232, .list = &question};

/* --- what the first line says --- */

/* The i-th end that the protocol has; NULL: there are fewer. */
static const char *end_of(const struct nm_app *app, unsigned i)
{
	const char *ends[3 + NM_VERB__COUNT] = {server};
	unsigned n = 1;

	if (app->session)
		ends[n++] = greeting;
	if (app->datagram)
		ends[n++] = message;
	for (enum nm_verb verb = NM_VERB_NONE; verb < NM_VERB__COUNT; verb++)
		if (app->verbs & NM_VERB_BIT(verb))
			ends[n++] = nm_verb_name(verb);
	return i < n ? ends[i] : NULL;
}

static enum nm_verb verb_of(const struct nm_app *app, const char *name)
{
	enum nm_verb first = NM_VERB_NONE;

	for (enum nm_verb verb = NM_VERB__COUNT; verb-- > NM_VERB_NONE;) {
		if (!(app->verbs & NM_VERB_BIT(verb)))
			continue;
		if (strcmp(name, nm_verb_name(verb)) == 0)
			return verb;
		first = verb;
	}
	return first;
}

static struct nm_app_request request_of(const struct nm_app *app, enum nm_verb verb,
					uint64_t number)
{
	struct nm_app_request request = {.verb = verb, .pool = pool, .verify = true};

	if (app->echoes || verb == NM_VERB_SET || verb == NM_VERB_HTTP)
		request.size = number;
	if (nm_verb_has_key(verb) || verb == NM_VERB_COMMAND)
		request.keyspace = &keyspace;
	if (verb == NM_VERB_QUERY)
		request.keyspace = &questions.keys;
	if (verb == NM_VERB_HTTP)
		request.http = lines[number % (2 * METHODS)];
	if (verb == NM_VERB_COMMAND)
		request.command = &command;
	if ((app->batches & NM_VERB_BIT(verb)) && number >= BATCH_FROM) {
		request.several = true;
		request.batch = &batch;
	}
	if (request.keyspace) {
		request.key = number % request.keyspace->count;
		request.at = nm_pool_at(request.key);
	}
	return request;
}

static bool next_is(struct nm_words words, const char *name)
{
	const char *word;
	size_t n = nm_words_next(&words, &word);

	return n == strlen(name) && memcmp(word, name, n) == 0;
}

/* Finds what the words stand for, and goes behind them. */
static bool read_names(struct nm_words *words, struct input *ret)
{
	const struct nm_app *const *app = nm_apps;
	const char *word;
	unsigned i = 0;

	while (*app && !next_is(*words, (*app)->name))
		app++;
	(void)nm_words_next(words, &word);
	if (!*app)
		return false;
	ret->app = *app;
	while ((ret->end = end_of(*app, i)) && !next_is(*words, ret->end))
		i++;
	(void)nm_words_next(words, &word);
	return ret->end != NULL;
}

static bool read_input(const uint8_t *data, size_t size, struct input *ret)
{
	const uint8_t *end = memchr(data, '\n', size < LINE_BYTES ? size : LINE_BYTES);
	struct nm_words words = {.at = (const char *)data, .end = (const char *)end};

	if (!end || !read_names(&words, ret) || !nm_words_number(&words, MAX_SIZE, &ret->number) ||
	    !nm_words_number(&words, MAX_PIECE, &ret->piece) || !ret->piece)
		return false;
	ret->request = request_of(ret->app, verb_of(ret->app, ret->end), ret->number);
	ret->data = end + 1;
	ret->size = size - (size_t)(end + 1 - data);
	return true;
}

/* So many bytes, where what is behind them is out of bounds. */
static const char *cut(const uint8_t *data, size_t n)
{
	static char bytes[PIECE_BYTES];

	demand(n <= sizeof bytes);
	return memcpy(bytes + sizeof bytes - n, data, n);
}

static uint32_t mixed(uint32_t with, uint32_t value)
{
	return (with ^ value) * 16777619u;
}

/* --- the client --- */

static size_t compose(const struct nm_app *app, struct nm_app_request *request,
		      uint8_t sent[SENT_BYTES])
{
	uint64_t total;
	size_t n = nm_app_compose(app, request, 0, (char *)sent, SENT_BYTES, &total);

	demand(n == total);
	return n;
}

static enum nm_parsed parse(const struct input *input, struct nm_app_parser *parser,
			    const char *data, size_t n, size_t *ret_taken)
{
	*ret_taken = 0;
	return input->end == greeting
		       ? input->app->session->parse(parser, data, n, ret_taken)
		       : input->app->parse(parser, &input->request, data, n, ret_taken);
}

/* Hears one answer after the other in what comes from byte `from` on, to a parser that may have
 * begun. */
static struct heard hear(const struct input *input, struct nm_app_parser *parser, size_t from,
			 size_t piece)
{
	struct heard heard = {.parsed = NM_PARSED_MORE, .taken = from};
	size_t at = from, n, taken;

	for (; heard.parsed != NM_PARSED_BAD && at < input->size; at += taken) {
		n = piece < input->size - at ? piece : input->size - at;
		heard.parsed = parse(input, parser, cut(input->data + at, n), n, &taken);
		demand(taken <= n && (heard.parsed != NM_PARSED_MORE || taken == n));
		if (heard.parsed != NM_PARSED_DONE)
			continue;
		heard.answers++;
		heard.taken = at + taken;
		heard.outcomes = mixed(heard.outcomes, parser->class * 4u + parser->last * 2u +
							       parser->to_end + 1u);
		nm_app_parser_begin(parser);
	}
	if (heard.parsed == NM_PARSED_MORE && parser->to_end)
		heard.outcomes = mixed(heard.outcomes, parser->class);
	if (heard.parsed == NM_PARSED_BAD && input->end != greeting && input->app->tell)
		heard.has_told =
			input->app->tell(parser, &input->request, heard.told, sizeof heard.told);
	return heard;
}

static void demand_same(const struct heard *a, const struct heard *b)
{
	demand(a->parsed == b->parsed && a->answers == b->answers && a->outcomes == b->outcomes &&
	       a->taken == b->taken && a->has_told == b->has_told && strcmp(a->told, b->told) == 0);
}

/* What comes before a request is sent is as good as what comes before its answer. */
static void check_aside(const struct input *input, const struct heard *whole)
{
	struct nm_app_parser parser = {.at = 0};
	size_t n = input->piece < input->size ? input->piece : input->size;

	if (!n || !input->app->aside || input->end == greeting)
		return;
	enum nm_parsed aside = input->app->aside(&parser, cut(input->data, n), n);

	if (aside == NM_PARSED_BAD)
		return;
	if (aside == NM_PARSED_DONE)
		nm_app_parser_begin(&parser);
	struct heard rest = hear(input, &parser, n, input->size);

	rest.taken = rest.answers ? rest.taken : 0;
	demand_same(&rest, whole);
}

static void check_answers(const struct input *input)
{
	struct nm_app_parser parser = {.at = 0}, parser_of_cut = {.at = 0};
	const struct heard whole = hear(input, &parser, 0, input->size);
	const struct heard in_pieces = hear(input, &parser_of_cut, 0, input->piece);

	demand_same(&in_pieces, &whole);
	check_aside(input, &whole);
}

/* --- the server --- */

/* Sends the answer in pieces, of which so much is noted as there is room for. */
static void collect(struct nm_app_served *served, struct said *said, size_t piece)
{
	char *data;

	while (served->out.total && said->n < sizeof said->bytes) {
		size_t room = sizeof said->bytes - said->n;
		size_t n = nm_rope_next(&served->out, said->bytes + said->n,
					piece < room ? piece : room, &data);

		demand(n > 0);
		n = n < room ? n : room;
		memmove(said->bytes + said->n, data, n);
		said->n += n;
		nm_rope_advance(&served->out, n);
	}
	nm_rope_advance(&served->out, (size_t)served->out.total);
}

static void note(struct nm_app_served *served, struct said *said, size_t piece)
{
	said->over = said->took == NM_TOOK_BAD;
	if (said->took != NM_TOOK_REQUEST && said->took != NM_TOOK_PART &&
	    said->took != NM_TOOK_FULL)
		return;
	said->requests++;
	said->outcomes = mixed(said->outcomes, served->verb * 8u + served->class + 1u);
	if (said->took == NM_TOOK_PART)
		return;
	said->answers++;
	said->over = served->last;
	collect(served, said, piece);
}

/* Has the server take all of it, of which so much more comes each time. */
static void take(const struct input *input, size_t piece, struct said *said)
{
	const struct nm_app *app = input->app;
	char text[TEXT_BYTES];
	/* As much as the server of a run has, up to the end of the memory that it may write. */
	const size_t room = app->answer_bytes + (app->echoes ? MAX_SIZE : 0u);
	struct nm_app_service service = {.store = app->stores ? nm_store_new(STORE_BYTES) : NULL,
					 .pool = pool};
	struct nm_app_served served = {.out = {.text = text + sizeof text - room, .room = room}};
	size_t there = 0;
	bool any;

	*said = (struct said){.took = NM_TOOK_MORE};
	while (!said->over && there < input->size) {
		there = piece < input->size - there ? there + piece : input->size;
		do {
			size_t taken = 0, n = there - said->taken;

			said->took = app->take(&served, &service, cut(input->data + said->taken, n),
					       n, &taken);
			demand(taken <= n);
			any = taken > 0;
			said->taken += taken;
			note(&served, said, piece);
		} while (!said->over && any && said->taken < there);
		demand(said->over || there - said->taken < NM_APP_KEPT_BYTES);
	}
	nm_store_free(service.store);
}

static void check_requests(const struct input *input)
{
	static struct said whole, in_pieces;

	take(input, input->size, &whole);
	take(input, input->piece, &in_pieces);
	demand((in_pieces.took == NM_TOOK_BAD) == (whole.took == NM_TOOK_BAD) &&
	       in_pieces.requests == whole.requests && in_pieces.answers == whole.answers &&
	       in_pieces.outcomes == whole.outcomes && in_pieces.n == whole.n &&
	       memcmp(in_pieces.bytes, whole.bytes, whole.n) == 0);
}

/* Has netmodel's own server take a request of n bytes; false: such are not among those it has an
 * answer to. */
static bool ask(const struct input *input, const uint8_t *sent, size_t n, struct said *said)
{
	struct input asked = *input;

	if (input->app->unserved & NM_VERB_BIT(input->request.verb) || input->request.several)
		return false;
	asked.data = sent;
	asked.size = n;
	take(&asked, n, said);
	return true;
}

/* Each end takes what the other sends. */
static void check_exchange(const struct input *input, const uint8_t *sent, size_t n)
{
	static struct said said;
	struct input answered = *input;
	struct nm_app_parser parser = {.at = 0};

	if (!ask(input, sent, n, &said))
		return;
	demand(said.requests == 1 && said.taken == n && said.n <= SENT_BYTES);
	answered.end = nm_verb_name(input->request.verb);
	answered.data = (const uint8_t *)said.bytes;
	answered.size = said.n;
	demand(hear(&answered, &parser, 0, said.n).answers == 1);
}

/* Of each verb, with each size: no input says more of it. */
static void check_exchanges(const struct nm_app *app)
{
	uint8_t sent[SENT_BYTES];

	for (enum nm_verb verb = NM_VERB_NONE; verb < NM_VERB__COUNT; verb++)
		for (uint64_t n = 0; (app->verbs & NM_VERB_BIT(verb)) && n <= MAX_SIZE; n++) {
			struct input input = {.app = app, .request = request_of(app, verb, n)};

			check_exchange(&input, sent, compose(app, &input.request, sent));
		}
}

/* --- messages --- */

/* All of it is one message, to either end. What a server answers has a header, and the client never
 * takes a message that has less. */
static void check_message(const struct input *input)
{
	const struct nm_app *app = input->app;
	const char *data = cut(input->data, input->size);
	char text[TEXT_BYTES];
	struct nm_app_served served = {
		.out = {.text = text + sizeof text - app->answer_bytes, .room = app->answer_bytes}};
	struct nm_app_parser parser = {.at = 0};

	if (app->datagram->serve(&served, data, input->size))
		demand(served.out.total > 0 && served.out.total <= app->answer_bytes);
	const uint16_t number = app->datagram->number(data, input->size);

	if (app->datagram->parse(&parser, &input->request, data, input->size) == NM_PARSED_DONE)
		demand(input->size > 0 && number == (uint16_t)input->request.number &&
		       app->datagram->parse(&parser, &input->request, data, 0) == NM_PARSED_BAD);
}

/* What a server says that it is, of what has come. */
static void check_identity(const struct input *input)
{
	const char *data = cut(input->data, input->size), *said = NULL;
	size_t n = 0;

	if (input->size && input->app->identity &&
	    input->app->identity->read(data, input->size, &said, &n) == NM_PARSED_DONE)
		demand(said >= data && n <= (size_t)(data + input->size - said));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char why[128];
	const char *culprit;

	(void)argc, (void)argv;
	only = getenv("NETMODEL_FUZZ_APP");
	demand(!only || nm_app_find(only));
	pool = nm_pool_new();
	for (unsigned i = 0; i < 2 * METHODS; i++) {
		lines[i] = nm_http_lines_new((enum nm_http_method)(i / 2),
					     i % 2 ? "/stream-bytes/99" : "/bytes/99", "h", i % 2,
					     &culprit, why, sizeof why);
		demand(lines[i] != NULL);
	}
	demand(pool && nm_keyspace_init(&keyspace, "uniform", "k", KEYS, 0, why, sizeof why) == 0 &&
	       nm_command_read("GET __key__", &keyspace, &command, why, sizeof why) == 0);
	for (unsigned i = 0; nm_apps[i]; i++)
		if (!only || nm_apps[i] == nm_app_find(only))
			check_exchanges(nm_apps[i]);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input;

	if (!read_input(data, size, &input))
		return 0;
	check_identity(&input);
	if (input.end == server)
		check_requests(&input);
	else if (input.end == message)
		check_message(&input);
	else
		check_answers(&input);
	return 0;
}

/* --- inputs --- */

/* Writes a first line instead of the one that is there, if any: the new size. */
static size_t put_line(uint8_t *data, size_t size, size_t max_size, size_t there, unsigned *seed)
{
	char line[LINE_BYTES];
	unsigned n_apps = 0, n_ends = 0;

	while (nm_apps[n_apps])
		n_apps++;
	const struct nm_app *app = only ? nm_app_find(only) : nm_apps[pick(seed, n_apps)];

	while (end_of(app, n_ends))
		n_ends++;
	int n = snprintf(line, sizeof line, "%s %s %zu %zu\n", app->name,
			 end_of(app, (unsigned)pick(seed, n_ends)), pick(seed, MAX_SIZE + 1),
			 1 + pick(seed, pick(seed, 2) ? 8 : MAX_PIECE));

	return fuzz_splice(data, size, max_size, 0, there, line, (size_t)n);
}

/* Puts a request, or the answer that it has, before the rest, behind it or in its place. */
static size_t put_exchange(const struct input *input, uint8_t *data, size_t size, size_t max_size,
			   unsigned *seed)
{
	static struct said said;
	struct input other = *input;
	uint8_t sent[SENT_BYTES];
	const char *text = (const char *)sent;
	const size_t first = size - input->size, way = pick(seed, 3);
	enum nm_verb verb = verb_of(input->app, input->end);

	if (input->end == server)
		while (!(input->app->verbs & NM_VERB_BIT(verb)) || pick(seed, 3) == 0)
			verb = (enum nm_verb)pick(seed, NM_VERB__COUNT);
	other.request = request_of(input->app, verb,
				   input->end == server ? pick(seed, MAX_SIZE + 1) : input->number);
	size_t n = compose(input->app, &other.request, sent);

	if (input->end != server) {
		n = ask(&other, sent, n, &said) ? said.n : 0;
		text = said.bytes;
	}
	return fuzz_splice(data, size, max_size, way == 1 ? size : first,
			   way == 2 ? input->size : 0, text, n);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct input input;

	if (!read_input(data, size, &input) || (only && input.app != nm_app_find(only)))
		return put_line(data, size, max_size, 0, &seed);
	const size_t first = size - input.size;

	switch (pick(&seed, 16)) {
	case 0:
		return put_line(data, size, max_size, first, &seed);
	case 1:
	case 2:
		return put_exchange(&input, data, size, max_size, &seed);
	default:
		return first + LLVMFuzzerMutate(data + first, input.size, max_size - first);
	}
}
