/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a request, and parses its answer as it comes. */
#include "flowop/asking.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/batch.h"
#include "app/http.h"
#include "app/memcache.h"
#include "flowop/message.h"
#include "host/clock.h"
#include "transport/io.h"

size_t nm_ask_bytes(uint32_t site)
{
	return sizeof(struct nm_asking) +
	       (site + (size_t)1) * sizeof *((struct nm_asking *)NULL)->sites;
}

void nm_ask_why(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr,
		char *buf, size_t size)
{
	const struct nm_asking *asking = nm_app_state(io, flow);
	bool serves = instr->op->flags & NM_FLOWOP_FOLLOWS;

	if (!serves && asking->unasked) {
		snprintf(buf, size, "\"%s\" has come although no request was outstanding",
			 asking->said);
		return;
	}
	snprintf(buf, size, "\"%s\" has come, which is no %s of app=%s",
		 serves ? nm_serve_said(io, flow) : asking->said, serves ? "request" : "answer",
		 instr->ask.app->name);
}

struct nm_app_parser *nm_ask_parser(const struct nm_io *io, const struct nm_flow *flow)
{
	return &((struct nm_asking *)nm_app_state(io, flow))->parser;
}

char *nm_ask_said(const struct nm_io *io, const struct nm_flow *flow)
{
	return ((struct nm_asking *)nm_app_state(io, flow))->said;
}

struct nm_life *nm_ask_life(const struct nm_io *io, const struct nm_flow *flow)
{
	return &((struct nm_asking *)nm_app_state(io, flow))->life;
}

bool nm_ask_drop(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_asking *asking = nm_app_state(io, flow);
	bool again = asking->again;

	asking->again = false;
	nm_counter_add(&nm_app_outcomes(io, flow, instr)->lost,
		       again ? nm_app_use_keys(&instr->ask) : 0);
	return again;
}

uint64_t *nm_ask_due_ns(const struct nm_io *io, const struct nm_flow *flow)
{
	return &((struct nm_asking *)nm_app_state(io, flow))->due_ns;
}

bool nm_ask_is_lost(const struct nm_io *io, const struct nm_flow *flow)
{
	return ((const struct nm_asking *)nm_app_state(io, flow))->refused;
}

/* --- the request --- */

bool nm_asking_is_late_by_now(struct nm_asking *asking, const struct nm_instr *instr)
{
	if (!instr->timeout_ns)
		return false;
	uint64_t now_ns = nm_clock_ns();

	if (!asking->due_ns)
		asking->due_ns = now_ns + instr->timeout_ns;
	return now_ns >= asking->due_ns;
}

static enum nm_step fail(struct nm_flow *flow, struct nm_asking *asking, const char *data, size_t n)
{
	nm_app_note(asking->said, data, n);
	flow->error = EPROTO;
	return NM_STEP_FAIL;
}

/* The connection is over while no request is under way, or one that may be sent again. Where it
 * goes to a server that is not netmodel, the flow goes on over another one. */
static enum nm_step end_of_connection(struct nm_flow *flow, ssize_t n)
{
	flow->ended = true;
	return nm_flow_failed(flow, n);
}

void nm_asking_give_up(struct nm_flow *flow, const struct nm_instr *instr, _Atomic uint64_t *class)
{
	nm_counter_add(class, nm_app_use_keys(&instr->ask));
	flow->request.outcome = NM_UNANSWERED;
}

bool nm_asking_is_safe(const struct nm_app_request *request)
{
	return request->verb == NM_VERB_PING || request->verb == NM_VERB_ECHO ||
	       request->verb == NM_VERB_GET || request->verb == NM_VERB_QUERY ||
	       (request->verb == NM_VERB_HTTP && request->http->method < NM_HTTP_POST);
}

/* The connection has ended under the request. Where no byte of an answer has come, the server may
 * have ended it before it saw the request, as servers do after some time or some requests. */
enum nm_step nm_asking_lose(const struct nm_io *io, struct nm_flow *flow,
			    const struct nm_instr *instr, struct nm_asking *asking, ssize_t n)
{
	if (asking->any || !nm_asking_is_safe(&asking->request) ||
	    !(flow->conn->traits & NM_CONN_ANSWERED)) {
		nm_asking_give_up(flow, instr, &nm_app_outcomes(io, flow, instr)->lost);
		return nm_flow_failed(flow, n);
	}
	asking->again = true;
	return end_of_connection(flow, n);
}

static void give_up_malformed(const struct nm_io *io, struct nm_flow *flow,
			      const struct nm_instr *instr)
{
	nm_asking_give_up(flow, instr, &nm_app_outcomes(io, flow, instr)->malformed);
}

static enum nm_step mistake(const struct nm_io *io, struct nm_flow *flow,
			    const struct nm_instr *instr, struct nm_asking *asking,
			    const char *data, size_t n)
{
	const struct nm_app *app = instr->ask.app;
	enum nm_step answer = fail(flow, asking, data, n);

	give_up_malformed(io, flow, instr);
	if (app->tell)
		(void)app->tell(&asking->parser, &asking->request, asking->said, NM_SAID_MAX);
	return answer;
}

enum nm_step nm_asking_give_up_connection(const struct nm_io *io, struct nm_flow *flow,
					  struct nm_asking *asking, const char *data, size_t n)
{
	asking->unasked = true;
	nm_counter_add(&io->count->unsolicited, 1);
	return fail(flow, asking, data, n);
}

bool nm_asking_is_aside(struct nm_flow *flow, const struct nm_instr *instr,
			struct nm_asking *asking, const char *data, size_t n)
{
	const struct nm_app *app = instr->ask.app;
	const uint8_t class = asking->parser.class, answered = asking->parser.answer;

	if (!app->aside)
		return false;
	if (!(flow->conn->traits & NM_CONN_ASIDE))
		nm_app_parser_begin(&asking->parser);
	enum nm_parsed parsed = app->aside(&asking->parser, data, n);

	flow->conn->traits &= ~(uint32_t)NM_CONN_ASIDE;
	if (parsed == NM_PARSED_MORE)
		flow->conn->traits |= NM_CONN_ASIDE;
	asking->parser.class = class;
	asking->parser.answer = answered;
	return parsed != NM_PARSED_BAD;
}

/* Nothing has asked for what is there before a request is sent. It is known to be there, or not,
 * without a call, but where receives sleep: what comes there is told by the next answer. */
enum nm_step nm_asking_look(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			    struct nm_asking *asking)
{
	ssize_t n;

	if (!(flow->conn->flags & (NM_CONN_IN | NM_CONN_HUP)) || !io->recv_flags)
		return NM_STEP_NEXT;
	enum nm_io_status status = nm_conn_recv(io, flow->conn, io->chunk, &n);

	if (status >= NM_IO_EOF)
		return end_of_connection(flow, n);
	if (!n || nm_asking_is_aside(flow, instr, asking, io->rx, (size_t)n))
		return NM_STEP_NEXT;
	/* As where the server ends a good connection between two requests, none is lost. */
	flow->ended = true;
	return nm_asking_give_up_connection(io, flow, asking, io->rx, (size_t)n);
}

/* A fill goes through its keys by the passes: the i-th of the n flows of a server has each n-th of
 * them, from i on. */
static uint64_t key_of_fill(const struct nm_io *io, const struct nm_flow *flow,
			    const struct nm_instr *instr)
{
	uint64_t count = instr->ask.keyspace->count;
	uint32_t servers = io->apps.servers[instr->opening].count;
	uint64_t n = servers ? io->apps.n_flows / servers : io->apps.n_flows;
	uint64_t i = servers ? flow->index / servers : flow->index;
	uint64_t passes = count / n + (i < count % n);

	return i + (passes - flow->iterations_left) * n;
}

void nm_ask_replay(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr,
		   uint64_t record)
{
	((struct nm_asking *)nm_app_state(io, flow))->sites[instr->site].record = record;
}

/* The request is that which was recorded, as far as its file says. */
static void take_record(const struct nm_instr *instr, struct nm_asking *asking)
{
	const struct nm_recording *recording = nm_recording_of(instr->ask.keyspace);
	const struct nm_record *record = &recording->list[asking->sites[instr->site].record];
	struct nm_app_request *request = &asking->request;

	request->key = record->key;
	/* The file has for a get how long its value was: none is sent. */
	if (request->verb != NM_VERB_SET)
		return;
	if (recording->has_size)
		request->size = record->size;
	if (recording->has_ttl)
		request->ttl_s = record->ttl_s;
}

/* How many requests of the instruction come before this one, by all flows. */
static uint64_t turn_of(const struct nm_io *io, const struct nm_flow *flow,
			const struct nm_instr *instr, struct nm_asking *asking)
{
	if (flow->request.arrival)
		return (flow->request.arrival - UINT64_C(1)) * instr->ask.times + flow->repeated;
	return flow->index + asking->sites[instr->site].n_keys++ * io->apps.n_flows;
}

/* Of a fill; of cas, which has that of the request before it; and of a batch, where its keys are
 * drawn from (nm_batch_key). */
static uint64_t own_key_of(const struct nm_io *io, const struct nm_flow *flow,
			   const struct nm_instr *instr, struct nm_asking *asking)
{
	if (instr->ask.fills)
		return key_of_fill(io, flow, instr);
	if (!instr->ask.batch)
		return asking->request.key;
	return instr->ask.keyspace->law < NM_KEYS_SEQUENTIAL
		       ? nm_rng(~nm_step_key(io, flow, instr), flow->repeated)
		       : turn_of(io, flow, instr, asking) * instr->ask.batch;
}

static uint64_t key_of(const struct nm_io *io, const struct nm_flow *flow,
		       const struct nm_instr *instr, struct nm_asking *asking)
{
	const struct nm_keyspace *keyspace = instr->ask.keyspace;

	if (instr->ask.own_keys)
		return own_key_of(io, flow, instr, asking);
	return keyspace->law < NM_KEYS_SEQUENTIAL
		       ? nm_keyspace_draw(keyspace, ~nm_step_key(io, flow, instr), flow->repeated)
		       : nm_keyspace_turn(keyspace, turn_of(io, flow, instr, asking));
}

void nm_asking_take_options(const struct nm_io *io, const struct nm_instr *instr,
			    struct nm_asking *asking)
{
	const struct nm_opts_ask *opts = instr->opts;
	const uint64_t key = asking->request.key;

	asking->drawn_by = instr;
	asking->request = (struct nm_app_request){
		.verb = (enum nm_verb)instr->op->verb,
		.verify = opts->verify,
		.unique = opts->unique,
		.flags = (uint32_t)opts->flags,
		.ttl_s = (opts->ttl_ns + 999999999) / 1000000000,
		.size = instr->size,
		.pool = io->apps.pool,
		.keyspace = instr->ask.keyspace,
		.key = key,
		.http = instr->ask.http,
	};
	if (opts->by)
		asking->request.by = opts->by;
	if (instr->op->verb == NM_VERB_CAS)
		asking->request.by = nm_memcache_unique(&asking->parser);
	if (instr->ask.batch) {
		asking->request.batch =
			(struct nm_batch *)(void *)((char *)asking + io->behind.app_bytes) - 1;
		asking->request.batch->count = instr->ask.batch;
		asking->request.several = true;
	}
}

void nm_asking_draw(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
		    struct nm_asking *asking)
{
	struct nm_app_request *request = &asking->request;

	if (!asking->n_requests++)
		asking->first = (uint32_t)nm_rng(io->seed, flow->index);
	if (asking->drawn_by != instr)
		nm_asking_take_options(io, instr, asking);
	if (instr->message.law)
		request->size = nm_message_bytes(io, flow, instr);
	request->number = asking->first + asking->n_requests;
	if (request->keyspace && request->keyspace->law == NM_KEYS_RECORDED)
		take_record(instr, asking);
	else if (request->keyspace)
		request->key = key_of(io, flow, instr, asking);
	nm_asking_find_payload(flow, request);
	if (flow->request.arrival && io->apps.sums_load)
		nm_count_load(io->count, (uint64_t)flow->request.arrival << 32 | instr->pass.site,
			      (request->size << 34) ^ (request->key << 6) ^
				      (uint64_t)request->verb);
}

/* When a request begins: where a pass begins with it that is known. */
static void note_begin(const struct nm_io *io, const struct nm_flow *flow,
		       const struct nm_instr *instr, struct nm_asking *asking)
{
	if (instr->ask.begins && !flow->repeated)
		asking->sent_ns = flow->request.sent_ns;
	else if (io->apps.verbs[instr->ask.verb].latency)
		asking->sent_ns = nm_clock_ns();
}

enum nm_step nm_asking_begin(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			     struct nm_asking *asking)
{
	bool again = asking->again;

	if (!again) {
		nm_asking_draw(io, flow, instr, asking);
		note_begin(io, flow, instr, asking);
		asking->due_ns = 0;
	}
	asking->again = asking->any = asking->cut = asking->unasked = asking->refused = false;
	if (!(flow->conn->traits & NM_CONN_ASIDE))
		nm_app_parser_begin(&asking->parser);
	flow->conn->traits &= ~(uint32_t)NM_CONN_ASIDE;
	flow->progress = NM_ASK_SENDING;
	if (again && nm_asking_is_late_by_now(asking, instr))
		return NM_STEP_WAIT_OUT;
	nm_counter_add(&io->count->reissued, again);
	return NM_STEP_NEXT;
}

/* What the kernel has not taken is put together once more, as other flows use the same memory
 * meanwhile; but for a body that is in memory as it is sent. */
static __attribute__((noinline)) char *rest_of(const struct nm_io *io, const struct nm_flow *flow,
					       const struct nm_app *app, struct nm_asking *asking,
					       size_t *ret_n)
{
	const struct nm_app_request *request = &asking->request;
	const char *body = request->verb == NM_VERB_HTTP ? request->http->body : NULL;

	if (!body || flow->left > request->size) {
		*ret_n = nm_app_compose(app, &asking->request, asking->total - flow->left, io->tx,
					io->chunk, &asking->total);
		return io->tx;
	}
	*ret_n = flow->left < io->chunk ? (size_t)flow->left : io->chunk;
	return (char *)(uintptr_t)(body + request->size - flow->left);
}

/* NEXT: the kernel has all of it. */
enum nm_step nm_asking_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			    struct nm_asking *asking)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		ssize_t n;

		if (!(conn->flags & NM_CONN_OUT))
			return NM_STEP_WAIT_OUT;
		char *data = io->tx;
		size_t want;

		if (__builtin_expect(flow->left > 0, 0))
			data = rest_of(io, flow, instr->ask.app, asking, &want);
		else
			want = nm_app_compose(instr->ask.app, &asking->request, 0, data, io->chunk,
					      &asking->total);
		if (nm_conn_send(io, conn, NULL, data, want, &n) == NM_IO_ERROR) {
			/* A server may answer before it has all of a request, and end the
			 * connection. */
			asking->cut = true;
			conn->flags |= NM_CONN_IN;
			flow->left = 0;
			flow->progress = NM_ASK_AWAITING;
			return NM_STEP_NEXT;
		}
		flow->left = (flow->left ? flow->left : asking->total) - (uint64_t)n;
		if (!flow->left) {
			flow->progress = NM_ASK_AWAITING;
			return NM_STEP_NEXT;
		}
	}
	return nm_asking_is_late_by_now(asking, instr) ? NM_STEP_WAIT_OUT : NM_STEP_YIELD;
}

/* --- the answer --- */

static __attribute__((noinline)) void record_times(const struct nm_flow *flow,
						   const struct nm_verb_tally *verb,
						   const struct nm_asking *asking)
{
	uint64_t now_ns = nm_clock_ns();

	nm_hist_record(verb->latency, now_ns - asking->sent_ns);
	if (verb->response)
		nm_hist_record(verb->response, now_ns - flow->request.due_ns);
	if (verb->send_delay)
		nm_hist_record(verb->send_delay, asking->sent_ns - flow->request.due_ns);
}

/* Counts what has become of each key of a batch. A refusal of all is that of those that are
 * left. */
static void count_batch(struct nm_verb_tally *verb, const struct nm_instr *instr, uint32_t check,
			enum nm_class class, enum nm_answer answer)
{
	const uint32_t hits = nm_batch_hits(check), left = instr->ask.batch - hits;
	const uint32_t refused = class == NM_CLASS_REFUSED ? left : nm_batch_refused(check);

	if (instr->op->verb == NM_VERB_SET) {
		nm_counter_add(&verb->outcomes.ok, left - refused);
	} else {
		nm_counter_add(&verb->outcomes.hits, hits);
		nm_counter_add(&verb->outcomes.misses, left - refused);
	}
	for (uint32_t i = 0; i < refused; i++)
		nm_verb_count_named(verb, answer, true);
}

/* Counts an answer that is none of those that most requests have, or counted apart: in that
 * tally. A miss has a name by its class alone. */
static __attribute__((noinline)) struct nm_verb_tally *
count_unusual(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr,
	      uint32_t check, enum nm_class class, enum nm_answer answer)
{
	struct nm_verb_tally *verb = nm_app_verb(io, flow, instr->ask.verb);

	if (instr->ask.batch)
		count_batch(verb, instr, check, class, answer);
	else if (class != NM_CLASS_MISS && (instr->ask.named || (answer && class > NM_CLASS_MISS)))
		nm_verb_count_named(verb, answer ? answer : instr->ask.app->usual,
				    class == NM_CLASS_REFUSED);
	else
		nm_app_count(&verb->outcomes, (enum nm_verb)instr->op->verb, class);
	return verb;
}

void nm_asking_note_answer(struct nm_flow *flow, const struct nm_instr *instr,
			   struct nm_asking *asking)
{
	flow->conn->traits |= NM_CONN_ANSWERED | NM_CONN_HEARD |
			      (asking->parser.last || asking->cut ? (uint32_t)NM_CONN_LAST : 0u);
	if (instr->ask.lives)
		nm_life_spend(&asking->life);
}

enum nm_step nm_asking_end_as(const struct nm_io *io, struct nm_flow *flow,
			      const struct nm_instr *instr, struct nm_asking *asking,
			      enum nm_class class, enum nm_answer answer)
{
	struct nm_verb_tally *verb = &io->apps.verbs[instr->ask.verb];

	if (__builtin_expect(class > NM_CLASS_MISS || instr->ask.apart, 0))
		verb = count_unusual(io, flow, instr, asking->parser.check, class, answer);
	else
		nm_app_count(&verb->outcomes, (enum nm_verb)instr->op->verb, class);
	if (verb->latency && !instr->ask.alone)
		record_times(flow, verb, asking);
	nm_asking_note_answer(flow, instr, asking);
	flow->progress = NM_ASK_BEGIN;
	return NM_STEP_NEXT;
}

enum nm_step nm_asking_await(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			     struct nm_asking *asking)
{
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		size_t taken;
		ssize_t n;

		if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		enum nm_io_status status = nm_conn_recv(io, conn, io->chunk, &n);

		if (status == NM_IO_AGAIN || nm_asking_is_late(asking))
			return NM_STEP_WAIT_IN;
		if (status == NM_IO_EOF && asking->parser.to_end)
			return nm_asking_end(io, flow, instr, asking);
		if (status >= NM_IO_EOF)
			return nm_asking_lose(io, flow, instr, asking, n);
		asking->any = true;
		switch (instr->ask.app->parse(&asking->parser, &asking->request, io->rx, (size_t)n,
					      &taken)) {
		case NM_PARSED_MORE:
			break;
		case NM_PARSED_BAD:
			return mistake(io, flow, instr, asking, io->rx, (size_t)n);
		case NM_PARSED_DONE:
			/* Nothing has asked for what comes behind an answer. */
			if (taken == (size_t)n ||
			    nm_asking_is_aside(flow, instr, asking, io->rx + taken,
					       (size_t)n - taken))
				return nm_asking_end(io, flow, instr, asking);
			give_up_malformed(io, flow, instr);
			return nm_asking_give_up_connection(io, flow, asking, io->rx + taken,
							    (size_t)n - taken);
		}
	}
	return nm_asking_is_late_by_now(asking, instr) ? NM_STEP_WAIT_IN : NM_STEP_YIELD;
}

enum nm_step nm_ask_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_asking *asking = nm_app_state(io, flow);
	enum nm_step answer = NM_STEP_NEXT;

	if (flow->progress == NM_ASK_BEGIN) {
		if (instr->ask.lives && !(flow->conn->traits & NM_CONN_LAST) &&
		    nm_life_ends(flow->conn, &asking->life))
			flow->conn->traits |= NM_CONN_LAST;
		answer = flow->conn->traits & NM_CONN_LAST
				 ? end_of_connection(flow, 0)
				 : nm_asking_look(io, flow, instr, asking);
		if (answer == NM_STEP_NEXT)
			answer = nm_asking_begin(io, flow, instr, asking);
	}
	if (answer == NM_STEP_NEXT && flow->progress == NM_ASK_SENDING)
		answer = nm_asking_send(io, flow, instr, asking);
	if (answer != NM_STEP_NEXT)
		return answer;
	return nm_asking_await(io, flow, instr, asking);
}
