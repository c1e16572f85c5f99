/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of each of several requests that are outstanding on a stream: the step of the queue,
 * with a transport that does what a script says. */
#include "flowop/queue.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "../suite.h"
#include "app/http.h"
#include "app/pool.h"
#include "flowop/asking.h"
#include "flowop/mix.h"
#include "flowop/queued.h"

#define DEPTH	   4u
#define LIMIT_NS   UINT64_C(60000000000)
#define PING	   "PING\r\n"
#define PING_BYTES (sizeof PING - 1)

static _Alignas(64) char place[16384]; /* the flow, its connection, its queue and its state */
static struct nm_flow *flow = (struct nm_flow *)(void *)place;
static char tx[8192], rx[4097];
static struct nm_opts_ask options;
static struct nm_verb_tally verbs[2];
static struct nm_counters counters;
static struct nm_io io;
static struct nm_instr program[4], *const queue = &program[3]; /* a mix of two, and the queue */
static struct nm_conn *conn;
static struct nm_pipe *pipe_;
static struct nm_asking *asking;

static const char *const *script; /* what each receive brings; "": the end; NULL: nothing more */
static unsigned n_due, n_drawn;	  /* requests that are due, and those that have been drawn */
static size_t n_sent;		  /* bytes, since the connection was opened */
static size_t most_sent;	  /* with one call */
static char sent[64];		  /* the first of them */
static _Atomic uint8_t stop;	  /* enum nm_stop */

static ssize_t scripted_recv(struct nm_conn *of, void *data, size_t size)
{
	(void)of;
	if (!script || !*script)
		return -EAGAIN;
	size_t n = strlen(*script);

	ck_assert_uint_le(n, size);
	memcpy(data, *script++, n);
	return (ssize_t)n;
}

static ssize_t scripted_send(struct nm_conn *of, const void *opts, void *data, size_t size)
{
	(void)of;
	(void)opts;
	if (size > most_sent)
		size = most_sent;
	if (n_sent + size <= sizeof sent)
		memcpy(sent + n_sent, data, size);
	n_sent += size;
	return (ssize_t)size;
}

static const struct nm_transport transport = {.recv = scripted_recv, .send = scripted_send};

/* One request by each of the two, in turn. */
static enum nm_step take_turns(struct nm_io *of, struct nm_flow *its, const struct nm_instr *mix)
{
	(void)of;
	its->at = mix + 1 + n_drawn++ % 2;
	return NM_STEP_JUMP;
}

static bool take_due(struct nm_io *of, struct nm_flow *its, uint64_t now_ns)
{
	(void)of;
	its->request.sent_ns = its->request.due_ns = now_ns;
	return n_due && n_due--;
}

static struct nm_pool *pool;

static void open_conn(void)
{
	*conn = (struct nm_conn){
		.transport = &transport, .flags = NM_CONN_OPEN | NM_CONN_OUT, .flow = flow};
	n_sent = 0;
}

static void setup(void)
{
	pool = nm_pool_new();
	ck_assert_ptr_nonnull(pool);
	memset(place, 0, sizeof place);
	memset(verbs, 0, sizeof verbs);
	memset(program, 0, sizeof program);
	counters = (struct nm_counters){.retired = 0};
	io = (struct nm_io){.tx = tx,
			    .rx = rx,
			    .chunk = 4096,
			    .in_kept = ~(uint32_t)NM_CONN_IN,
			    .recv_flags = 1,
			    .count = &counters,
			    .apps = {.verbs = verbs, .n_flows = 1, .pool = pool},
			    .asks = {.stop = &stop, .take_due = take_due},
			    .behind = {.pipe_offset = 512, .app_offset = 8192}};
	program[0] = (struct nm_instr){.op = &nm_pseudo_mix, .opts = &options, .step = take_turns};
	for (unsigned i = 1; i <= 2; i++)
		program[i] = (struct nm_instr){
			.op = &nm_flowop_ping,
			.opts = &options,
			.ask = {.app = nm_app_find("ping"), .verb = (uint16_t)(i - 1)}};
	*queue = program[1];
	queue->op = &nm_pseudo_queue;
	queue->count = DEPTH;
	queue->pipeline = (struct nm_instr_pipeline){
		.n_instrs = 3, .places = nm_queue_places(DEPTH), .head_bytes = 2048};
	flow->iterations_left = 1000;
	conn = nm_flow_conn(flow, 0);
	flow->conn = conn;
	pipe_ = nm_pipe_of(&io, flow);
	asking = nm_app_state(&io, flow);
	script = NULL;
	n_due = n_drawn = 0;
	most_sent = SIZE_MAX;
	stop = 0;
	open_conn();
}

static void teardown(void)
{
	pool = nm_pool_free(pool);
}

static enum nm_step step(void)
{
	enum nm_step answer = nm_pseudo_queue.step(&io, flow, queue);

	if (answer == NM_STEP_NEXT)
		flow->iterations_left--;
	return answer;
}

/* Has so many requests sent. */
static void ask(unsigned n)
{
	n_due = n;
	ck_assert_int_eq(step(), NM_STEP_WAIT_IN);
	ck_assert_uint_eq(n_due, 0);
}

/* What the server sends next has come. */
static void comes(const char *const *what)
{
	script = what;
	conn->flags |= NM_CONN_IN;
}

/* The passes that end; what the step answers then is in *ret. */
static unsigned passes(enum nm_step *ret)
{
	unsigned n = 0;

	while ((*ret = step()) == NM_STEP_NEXT)
		n++;
	return n;
}

/* So many passes end, and then the connection is of no more use: with the error, and with all that
 * was on its way asked again or not. */
static void end_and_fail(unsigned n, int error, bool ended)
{
	enum nm_step answer;

	ck_assert_uint_eq(passes(&answer), n);
	ck_assert_int_eq(answer, NM_STEP_FAIL);
	ck_assert_int_eq(flow->error, error);
	ck_assert(flow->ended == ended);
}

/* So many passes end, and the connection goes on. */
static void end_and_wait(unsigned n)
{
	enum nm_step answer;

	ck_assert_uint_eq(passes(&answer), n);
	ck_assert_int_eq(answer, NM_STEP_WAIT_IN);
}

/* All of the two verbs. */
static struct nm_outcomes outcomes(void)
{
	struct nm_outcomes sum = {.requests = 0};

	nm_verb_collect(&sum, NULL, &verbs[0]);
	nm_verb_collect(&sum, NULL, &verbs[1]);
	return sum;
}

static void assert_outcomes(uint64_t ok, uint64_t timed_out, uint64_t malformed, uint64_t lost)
{
	const struct nm_outcomes sum = outcomes();

	ck_assert_uint_eq(sum.ok, ok);
	ck_assert_uint_eq(sum.timed_out, timed_out);
	ck_assert_uint_eq(sum.malformed, malformed);
	ck_assert_uint_eq(sum.lost, lost);
	ck_assert_uint_eq(sum.requests, ok + timed_out + malformed + lost);
}

static struct nm_queued *queued(uint32_t i)
{
	const struct nm_queue state = nm_queue_of(&io, flow, queue);

	return nm_queued_at(&state, i);
}

/* The i-th one is late, by whatever limit it has, and is looked at. */
static void be_late(uint32_t i)
{
	queued(i)->sent_ns = 1;
	pipe_->due_ns = 1;
}

/* What is taken together is taken at one time: when the last pass ended, if that is known. */
START_TEST(what_is_sent_together_has_begun_together)
{
	io.asks.timed = _i;
	flow->request.sent_ns = 5;
	ask(3);
	if (_i)
		ck_assert_uint_eq(queued(0)->sent_ns, 5);
	else
		ck_assert_uint_gt(queued(0)->sent_ns, 5);
	ck_assert_uint_eq(queued(1)->sent_ns, queued(0)->sent_ns);
	ck_assert_uint_eq(queued(2)->sent_ns, queued(0)->sent_ns);
}
END_TEST

START_TEST(as_many_as_there_are_passes)
{
	static const char *const answers[] = {"PONG\r\nPONG\r\nPONG\r\n", NULL};

	io.asks.take_due = NULL;
	program[2].timeout_ns = LIMIT_NS;
	flow->iterations_left = 3;
	ask(0);
	ck_assert_uint_eq(pipe_->outstanding, 3);
	/* The clock is read for what has a limit, unless times are kept. */
	ck_assert_uint_eq(queued(0)->sent_ns, 0);
	ck_assert_uint_ne(queued(1)->sent_ns, 0);
	comes(answers);
	end_and_wait(3);
	assert_outcomes(3, 0, 0, 0);
	/* A pass that has begun is made. */
	flow->iterations_left = 3;
	stop = 1;
	ask(0);
	ck_assert_uint_eq(pipe_->outstanding, 1);
}
END_TEST

START_TEST(a_send_is_cut_short)
{
	static const char *const answers[] = {"PONG\r\nPONG\r\nPONG\r\nPONG\r\n", NULL};

	most_sent = PING_BYTES + 2;
	n_due = DEPTH;
	ck_assert_int_eq(step(), NM_STEP_WAIT_OUT);
	ck_assert_uint_eq(pipe_->asking, DEPTH - 1);
	ck_assert_uint_eq(pipe_->ask.left, 2);
	conn->flags |= NM_CONN_OUT;
	most_sent = SIZE_MAX;
	ask(0);
	ck_assert_uint_eq(n_sent, DEPTH * PING_BYTES);
	for (size_t i = 0; i < DEPTH; i++)
		ck_assert_mem_eq(sent + i * PING_BYTES, PING, PING_BYTES);
	comes(answers);
	end_and_wait(DEPTH);
	assert_outcomes(DEPTH, 0, 0, 0);
}
END_TEST

START_TEST(each_has_its_own_limit)
{
	static const char *const answers[] = {"PONG\r\nPONG\r\nPONG\r\n", NULL};

	program[1].timeout_ns = 2 * LIMIT_NS;
	program[2].timeout_ns = LIMIT_NS;
	ask(3);
	/* The second is late first. */
	ck_assert_uint_ge(flow->timer.at_ns, nm_clock_ns() + LIMIT_NS / 2);
	ck_assert_uint_le(flow->timer.at_ns, nm_clock_ns() + LIMIT_NS);
	be_late(1);
	end_and_wait(0);
	ck_assert_uint_ge(flow->timer.at_ns, nm_clock_ns() + LIMIT_NS);
	/* What comes for it is thrown away, and the others have theirs. */
	comes(answers);
	end_and_wait(3);
	assert_outcomes(2, 1, 0, 0);
	ck_assert_uint_eq(nm_counter_read(&counters.timeouts), 1);
}
END_TEST

START_TEST(what_is_late_has_a_bad_answer)
{
	static const char *const bad[] = {"PONG\r\nXXXX\r\nPONG\r\n", NULL};

	program[2].timeout_ns = LIMIT_NS;
	ask(3);
	be_late(1);
	end_and_wait(0);
	comes(bad);
	end_and_fail(3, EPROTO, false);
	assert_outcomes(1, 1, 0, 1);
}
END_TEST

START_TEST(the_oldest_is_late)
{
	program[1].timeout_ns = LIMIT_NS;
	ask(3);
	be_late(0);
	end_and_fail(3, ETIMEDOUT, false);
	ck_assert(nm_queue_is_late(&io, flow));
	assert_outcomes(0, 1, 0, 2);
}
END_TEST

/* Its limit is that of the connection from when that has answered another. */
START_TEST(the_oldest_is_late_behind_an_answer)
{
	static const char *const one[] = {"PONG\r\n", NULL};

	program[2].timeout_ns = LIMIT_NS;
	ask(2);
	be_late(1);
	end_and_wait(0);
	ck_assert_uint_eq(flow->timer.at_ns, 0);
	comes(one);
	end_and_wait(1);
	ck_assert_uint_le(flow->timer.at_ns, nm_clock_ns() + LIMIT_NS);
	ck_assert_uint_ge(flow->timer.at_ns, nm_clock_ns() + LIMIT_NS / 2);
	program[2].timeout_ns = 1;
	pipe_->due_ns = 1;
	end_and_fail(1, ETIMEDOUT, false);
	assert_outcomes(1, 1, 0, 0);
}
END_TEST

START_TEST(one_without_a_limit_hides_no_other)
{
	program[2].timeout_ns = LIMIT_NS;
	ask(2);
	ck_assert_uint_ne(flow->timer.at_ns, 0);
	pipe_->due_ns = 1; /* it is looked at once more, and nothing is late */
	end_and_wait(0);
	ck_assert_uint_gt(flow->timer.at_ns, nm_clock_ns());
	assert_outcomes(0, 0, 0, 0);
}
END_TEST

START_TEST(what_is_late_before_it_is_sent_ends_no_connection)
{
	static const char *const one_and_the_end[] = {"PONG\r\n", "", NULL}, *const rest[] = {
										     "PONG\r\n",
										     NULL};

	program[1].timeout_ns = program[2].timeout_ns = LIMIT_NS;
	ask(DEPTH);
	comes(one_and_the_end);
	conn->flags |= NM_CONN_HUP;
	end_and_fail(1, ECONNRESET, true);
	/* The server was away for that long. */
	program[1].timeout_ns = program[2].timeout_ns = 1;
	pipe_->due_ns = 1;
	open_conn();
	n_due = 0;
	end_and_wait(DEPTH - 1);
	ck_assert_uint_eq(n_sent, 0);
	assert_outcomes(1, DEPTH - 1, 0, 0);
	program[1].timeout_ns = program[2].timeout_ns = LIMIT_NS;
	ask(1);
	comes(rest);
	end_and_wait(1);
	assert_outcomes(2, DEPTH - 1, 0, 0);
}
END_TEST

START_TEST(answers_before_a_bad_one_count_for_their_connection)
{
	static const char *const bad[] = {"PONG\r\nPONG\r\nXXXX\r\nPONG\r\n", NULL};

	program[1].ask.lives = program[2].ask.lives = queue->ask.lives = true;
	asking->life.left = 20;
	ask(DEPTH);
	comes(bad);
	end_and_fail(DEPTH, EPROTO, false);
	ck_assert(!nm_queue_is_late(&io, flow));
	assert_outcomes(2, 0, 1, 1);
	ck_assert_uint_eq(asking->life.left, 18);
	ck_assert_uint_ne(conn->traits & NM_CONN_ANSWERED, 0);
	/* The next one has answered nothing. */
	open_conn();
	asking->life.left = 20;
	end_and_wait(0);
	ck_assert_uint_eq(asking->life.left, 20);
	ck_assert_uint_eq(conn->traits, 0);
}
END_TEST

START_TEST(what_is_abandoned_ends_as_it_has)
{
	static const char *const some[] = {"PONG\r\nPONG\r\nXX", NULL};

	ask(DEPTH);
	comes(some);
	ck_assert_int_eq(step(), NM_STEP_NEXT);
	nm_queue_abandon(&io, flow, queue);
	end_and_wait(DEPTH - 1);
	assert_outcomes(2, 0, 1, 1);
}
END_TEST

START_TEST(nobody_has_asked)
{
	static const char *const answers[] = {"PONG\r\nPONG\r\n", NULL};
	static const char *const more[] = {"PONG\r\n", NULL};

	ask(2);
	comes(answers);
	end_and_wait(2);
	comes(more);
	end_and_fail(0, EPROTO, true);
	ck_assert_uint_eq(nm_counter_read(&counters.unsolicited), 1);
	assert_outcomes(2, 0, 0, 0);
}
END_TEST

/* As where only one is outstanding. */
START_TEST(an_answer_is_too_long)
{
	static const char *const more[] = {"PONG\r\nPONG\r\nPONG\r\n", NULL};

	ask(2);
	comes(more);
	end_and_fail(2, EPROTO, false);
	ck_assert_uint_eq(nm_counter_read(&counters.unsolicited), 1);
	assert_outcomes(1, 0, 1, 0);
}
END_TEST

START_TEST(a_server_that_closes_has_taken_nothing_behind)
{
	static const char *const closes[] = {
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", NULL};
	static const char *const to_end[] = {"HTTP/1.1 200 OK\r\n\r\ntext", "", NULL};
	const char *culprit;
	char why[64];
	struct nm_http_lines *post = nm_http_lines_new(_i & 1 ? NM_HTTP_GET : NM_HTTP_POST, "/",
						       "h", false, &culprit, why, sizeof why);
	const bool says_so = _i < 2, again = _i & 1 || says_so;

	for (unsigned i = 1; i <= 3; i++) {
		program[i].ask.app = nm_app_find("http");
		program[i].ask.http = post;
	}
	program[1].op = program[2].op = nm_flowop_find("http");
	ask(3);
	/* That it has answered at all is known from another answer, too. */
	conn->traits |= NM_CONN_ANSWERED;
	comes(says_so ? closes : to_end);
	conn->flags |= NM_CONN_HUP;
	end_and_fail(again ? 1 : 3, ECONNRESET, again);
	assert_outcomes(1, 0, 0, again ? 0 : 2);
	open_conn();
	end_and_wait(0);
	ck_assert_uint_eq(nm_counter_read(&counters.reissued), again ? 2 : 0);
	free(post);
}
END_TEST

/* It is over at any time: also between two looks at the clock. */
START_TEST(a_life_that_ends_meanwhile)
{
	queue->ask.lives = true;
	for (unsigned i = 0; i < 20000; i++) {
		conn->traits = NM_CONN_LIVES | NM_CONN_ANSWERED;
		asking->life.end_ns = nm_clock_ns() + i % 400;
		n_due = 1;
		enum nm_step answer = step();

		if (answer == NM_STEP_WAIT_IN)
			ck_assert_uint_eq(pipe_->outstanding, 1);
		else
			ck_assert_int_eq(answer, NM_STEP_FAIL);
		nm_pipe_reset(pipe_);
	}
}
END_TEST

START_TEST(a_miss_is_one_where_answers_have_names)
{
	program[1].op = nm_flowop_find("get");
	program[1].ask.named = program[1].ask.apart = true;
	(void)nm_asking_end_as(&io, flow, &program[1], asking, NM_CLASS_MISS, NM_ANSWER_NONE);
	ck_assert_uint_eq(outcomes().misses, 1);
	ck_assert_uint_eq(outcomes().ok, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("queue");
	TCase *tcase = tcase_create("queue");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, what_is_sent_together_has_begun_together, 0, 2);
	tcase_add_test(tcase, as_many_as_there_are_passes);
	tcase_add_test(tcase, a_send_is_cut_short);
	tcase_add_test(tcase, each_has_its_own_limit);
	tcase_add_test(tcase, what_is_late_has_a_bad_answer);
	tcase_add_test(tcase, the_oldest_is_late);
	tcase_add_test(tcase, the_oldest_is_late_behind_an_answer);
	tcase_add_test(tcase, one_without_a_limit_hides_no_other);
	tcase_add_test(tcase, what_is_late_before_it_is_sent_ends_no_connection);
	tcase_add_test(tcase, answers_before_a_bad_one_count_for_their_connection);
	tcase_add_test(tcase, what_is_abandoned_ends_as_it_has);
	tcase_add_test(tcase, nobody_has_asked);
	tcase_add_test(tcase, an_answer_is_too_long);
	tcase_add_loop_test(tcase, a_server_that_closes_has_taken_nothing_behind, 0, 4);
	tcase_add_test(tcase, a_life_that_ends_meanwhile);
	tcase_add_test(tcase, a_miss_is_one_where_answers_have_names);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
