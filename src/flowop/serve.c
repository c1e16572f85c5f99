/* SPDX-License-Identifier: Apache-2.0 */
/* serve: the other end of requests. Each pass takes one, and sends its answer. */
#include <errno.h>
#include <string.h>

#include "app/fault.h"
#include "app/store.h"
#include "flowop/ask.h"
#include "flowop/datagram.h"
#include "flowop/message.h"
#include "transport/io.h"

struct serving {
	struct nm_app_served served;
	bool answered; /* the request of this pass is, but not all of the answer is sent */
	bool goes_on;  /* and the pass does, behind that */
	bool starved;  /* what is kept is not enough to take any of it */
	size_t n_in;   /* bytes kept */
	/* What came behind a request, as of clients that do not wait for answers, or of one that
	 * cannot be taken yet. */
	char in[NM_APP_KEPT_BYTES];
	char said[NM_SAID_MAX]; /* of a request that is none */
	char text[];		/* of an answer */
};

size_t nm_serve_bytes(uint64_t answer_bytes)
{
	return sizeof(struct serving) + (size_t)answer_bytes;
}

void nm_serve_reset(const struct nm_io *io, const struct nm_flow *flow)
{
	struct serving *serving = nm_app_state(io, flow);

	serving->served = (struct nm_app_served){
		.out = {.text = serving->text, .room = io->behind.app_bytes - sizeof *serving}};
	serving->n_in = 0;
	serving->answered = serving->starved = false;
}

struct nm_app_served *nm_serve_served(const struct nm_io *io, const struct nm_flow *flow)
{
	return &((struct serving *)nm_app_state(io, flow))->served;
}

/* Whether some of a request has come, and not all. */
static bool has_begun(const struct serving *serving)
{
	return serving->n_in || serving->served.left || serving->served.state;
}

bool nm_serve_is_over(const struct nm_io *io, const struct nm_flow *flow)
{
	const struct serving *serving = nm_app_state(io, flow);

	return serving->served.last && !serving->answered;
}

bool nm_serve_is_under_way(const struct nm_io *io, const struct nm_flow *flow, enum nm_verb *ret)
{
	const struct serving *serving = nm_app_state(io, flow);

	*ret = serving->answered ? (enum nm_verb)serving->served.verb : NM_VERB_NONE;
	return serving->answered || has_begun(serving);
}

const char *nm_serve_said(const struct nm_io *io, const struct nm_flow *flow)
{
	return ((const struct serving *)nm_app_state(io, flow))->said;
}

/* --- the answer --- */

/* Whether the values that were copied are those that were stored. */
static bool is_intact(const struct nm_app_service *service, const struct nm_rope *out)
{
	for (uint32_t i = 0; i < out->n_bodies; i++)
		if (out->bodies[i].place && !nm_store_holds(service->store, out->bodies[i].place))
			return false;
	return true;
}

/* NEXT: the kernel has all of it. */
static inline __attribute__((always_inline)) enum nm_step
send_answer(struct nm_io *io, struct nm_conn *conn, const struct nm_app_service *service,
	    struct nm_rope *out)
{
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		char *data;
		ssize_t n;

		if (!(conn->flags & NM_CONN_OUT))
			return NM_STEP_WAIT_OUT;
		size_t want = nm_rope_next(out, io->tx, io->chunk, &data);

		if (!is_intact(service, out))
			return nm_flow_failed(conn->flow, -ESTALE);
		if (nm_conn_send(io, conn, NULL, data, want, &n) == NM_IO_ERROR)
			return nm_flow_failed(conn->flow, n);
		nm_rope_advance(out, (size_t)n);
		if (nm_rope_is_empty(out))
			return NM_STEP_NEXT;
	}
	return NM_STEP_YIELD;
}

/* --- the request --- */

static enum nm_step refuse(struct nm_flow *flow, struct serving *serving, const char *data,
			   size_t n)
{
	nm_app_note(serving->said, data, n);
	flow->error = EPROTO;
	return NM_STEP_FAIL;
}

/* How much may come at once, so that what is behind the request can be kept. */
static size_t want_of(const struct nm_io *io, const struct serving *serving)
{
	const struct nm_app_served *served = &serving->served;
	uint64_t want = NM_APP_KEPT_BYTES;

	if (serving->n_in)
		return NM_APP_KEPT_BYTES - serving->n_in;
	if (served->left)
		want += served->left;
	else if (served->out.room > want)
		want = served->out.room;
	return want < io->chunk ? (size_t)want : io->chunk;
}

/* NEXT: there is more, *ret_n bytes in all. */
static enum nm_step receive(struct nm_io *io, struct nm_conn *conn, struct serving *serving,
			    const char **ret, size_t *ret_n)
{
	ssize_t n;

	if (!(conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
		return NM_STEP_WAIT_IN;
	enum nm_io_status status = nm_conn_recv(io, conn, want_of(io, serving), &n);

	if (status >= NM_IO_EOF) {
		conn->flow->ended = !has_begun(serving);
		return nm_flow_failed(conn->flow, n);
	}
	if (status == NM_IO_AGAIN)
		return NM_STEP_WAIT_IN;
	*ret = io->rx;
	*ret_n = (size_t)n;
	if (serving->n_in) {
		memcpy(serving->in + serving->n_in, io->rx, (size_t)n);
		*ret = serving->in;
		*ret_n += serving->n_in;
	}
	return NM_STEP_NEXT;
}

/* Where the other end is netmodel, what is none of its verbs ends a request of several keys, each
 * of which has counted. */
static void count(const struct nm_io *io, const struct nm_instr *instr,
		  const struct nm_app_served *served)
{
	const enum nm_verb verb = (enum nm_verb)served->verb;

	if (verb != NM_VERB_NONE || instr->ask.verbs)
		nm_app_count(nm_serve_outcomes(io, instr, verb), verb,
			     (enum nm_class)served->class);
}

/* The client wants nothing more: as where it has ended the connection itself. */
static enum nm_step end(struct nm_flow *flow, struct serving *serving)
{
	serving->n_in = 0;
	flow->ended = true;
	return nm_flow_failed(flow, 0);
}

/* Takes what has come, to the end of a request at most, and keeps the rest. */
static enum nm_step take(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 const char *data, size_t n)
{
	struct serving *serving = nm_app_state(io, flow);
	struct nm_app_served *served = &serving->served;
	size_t taken = 0;
	enum nm_took took =
		instr->ask.app->take(served, &io->apps.services[instr->opening], data, n, &taken);
	size_t rest = n - taken;

	if (took == NM_TOOK_BAD || (took == NM_TOOK_MORE && rest == NM_APP_KEPT_BYTES))
		return refuse(flow, serving, data, n);
	if (rest > NM_APP_KEPT_BYTES)
		return refuse(flow, serving, data + taken, rest);
	memmove(serving->in, data + taken, rest);
	serving->n_in = rest;
	serving->starved = took == NM_TOOK_MORE;
	/* The next one may be long in coming. */
	serving->goes_on = took == NM_TOOK_FULL || (took == NM_TOOK_PART && !rest);
	serving->answered =
		(took == NM_TOOK_REQUEST || serving->goes_on) && !nm_rope_is_empty(&served->out);
	if (took == NM_TOOK_MORE || serving->answered)
		return NM_STEP_NEXT;
	count(io, instr, served);
	return served->last ? end(flow, serving) : NM_STEP_NEXT;
}

/* NEXT: the request is there, and its answer whole before any of it is sent, so that it goes out at
 * once, and both ends never wait for each other to receive. */
static enum nm_step take_request(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr, struct serving *serving)
{
	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		const char *data = serving->in;
		size_t n = serving->n_in;
		enum nm_step answer = NM_STEP_NEXT;

		if (!n || serving->starved)
			answer = receive(io, flow->conn, serving, &data, &n);
		if (answer == NM_STEP_NEXT)
			answer = take(io, flow, instr, data, n);
		if (answer != NM_STEP_NEXT || serving->answered)
			return answer;
	}
	return NM_STEP_YIELD;
}

static inline __attribute__((always_inline)) enum nm_step send_all(struct nm_io *io,
								   struct nm_flow *flow,
								   const struct nm_instr *instr,
								   struct serving *serving)
{
	enum nm_step answer = send_answer(io, flow->conn, &io->apps.services[instr->opening],
					  &serving->served.out);

	serving->answered = answer != NM_STEP_NEXT;
	return answer;
}

/* A pass, or the first half of one. There is one of both, or the usual one would be made of
 * calls. */
static __attribute__((noinline)) enum nm_step serve(struct nm_io *io, struct nm_flow *flow,
						    const struct nm_instr *instr, bool answers)
{
	struct serving *serving = nm_app_state(io, flow);

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		enum nm_step answer =
			serving->answered ? NM_STEP_NEXT : take_request(io, flow, instr, serving);

		if (answer != NM_STEP_NEXT || !answers)
			return answer;
		answer = send_all(io, flow, instr, serving);
		if (answer != NM_STEP_NEXT)
			return answer;
		count(io, instr, &serving->served);
		if (!serving->goes_on)
			return NM_STEP_NEXT;
	}
	return NM_STEP_YIELD;
}

static enum nm_step serve_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	return serve(io, flow, instr, true);
}

enum nm_step nm_serve_take(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	return serve(io, flow, instr, false);
}

enum nm_step nm_serve_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	return send_all(io, flow, instr, nm_app_state(io, flow));
}

void nm_serve_count(const struct nm_io *io, const struct nm_flow *flow,
		    const struct nm_instr *instr)
{
	count(io, instr, nm_serve_served(io, flow));
}

/* --- where messages may be lost --- */

/* NEXT: a request is there, and answered. */
static enum nm_step take_message(struct nm_io *io, struct nm_flow *flow,
				 const struct nm_instr *instr, struct serving *serving)
{
	const struct nm_app_datagram *datagram = instr->ask.app->datagram;
	struct nm_conn *conn = flow->conn;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & NM_CONN_IN))
			return NM_STEP_WAIT_IN;
		ssize_t n = nm_conn_call_recv(io, conn, io->chunk);

		if (n < 0 && !nm_datagram_is_unreachable(n) &&
		    nm_io_received_nothing(conn, n) != NM_IO_AGAIN)
			return nm_flow_failed(flow, n);
		if (n >= 0 &&
		    !(n == NM_PREAMBLE_BYTES && nm_datagram_is_preamble(io, conn, instr, io->rx))) {
			nm_io_count_message_received(io, (size_t)n);
			serving->answered = datagram->serve(&serving->served, io->rx, (size_t)n);
		}
		if (serving->answered) {
			count(io, instr, &serving->served);
			return NM_STEP_NEXT;
		}
		if (!io->recv_flags)
			return NM_STEP_WAIT_IN;
	}
	return NM_STEP_YIELD;
}

/* Answers are text alone: one piece of the rope. */
static enum nm_step send_message(struct nm_io *io, struct nm_flow *flow, struct serving *serving)
{
	struct nm_rope *out = &serving->served.out;
	char *data;

	if (!(flow->conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	size_t size = nm_rope_next(out, io->tx, io->chunk, &data);
	ssize_t n = nm_conn_call_send(flow->conn, NULL, data, size);

	if (n < 0 && !nm_datagram_is_unreachable(n)) {
		if (nm_io_sent_nothing(flow->conn, n) == NM_IO_AGAIN)
			return NM_STEP_WAIT_OUT;
		return n == -ENOBUFS ? NM_STEP_YIELD : nm_flow_failed(flow, n);
	}
	nm_io_count_messages_sent(io, size, 1);
	nm_rope_advance(out, size);
	serving->answered = false;
	return NM_STEP_NEXT;
}

static enum nm_step serve_datagram_step(struct nm_io *io, struct nm_flow *flow,
					const struct nm_instr *instr)
{
	struct serving *serving = nm_app_state(io, flow);
	enum nm_step answer = NM_STEP_NEXT;

	if (!serving->answered)
		answer = take_message(io, flow, instr, serving);
	return answer == NM_STEP_NEXT ? send_message(io, flow, serving) : answer;
}

#define FAULT(id, name, help) name " (" help "), "
static const struct nm_opt serve_opts[] = {
	{.name = "service",
	 .type = NM_TYPE_DURATIONS,
	 .offset = offsetof(struct nm_opts_serve, service),
	 .def = "0",
	 .help = "how long a request is served before its answer is sent; other connections go on. "
		 "A law draws it anew for each request, as exp(1ms). A connection serves one "
		 "request after the other"},
	{.name = "fault",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_serve, fault),
	 .def = "",
	 .help = "what happens to some requests instead: " NM_FAULTS_FORM
		 " several. NAME is " NM_FAULTS(
			 FAULT) "and SHARE is its share of all requests, 0 to 1; with every=N each "
				"Nth request of a connection is meant"},
	NM_OPT_END};
#undef FAULT

const struct nm_flowop nm_flowop_serve = {
	.name = "serve",
	.mirror_op = &nm_flowop_ping,
	.help = "answers all requests over a connection that was accepted with from=any, until its "
		"client ends it",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_FOLLOWS | NM_FLOWOP_ASKS,
	.opts = serve_opts,
	.opts_size = sizeof(struct nm_opts_serve),
	.step = serve_step,
	.lossy_step = serve_datagram_step,
};
