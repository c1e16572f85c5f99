/* SPDX-License-Identifier: Apache-2.0 */
/* Two engines in one process, the master's and that of the only other host, led through the phases
 * of small profiles: by what each waits, and how its connections come to be, both must have done
 * the same in the end. */
#include "engine/engine.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/diag.h"
#include "engine/flowop_stats.h"
#include "engine/tcp_sampler.h"
#include "flowop/flowop.h"
#include "plan/plan.h"
#include "profile/tree.h"

#define OP(name, options)	"<flowop type=\"" name "\" options=\"" options "\"/>"
#define ONCE(body)		"<transaction iterations=\"1\">" body "</transaction>"
#define TIMES(n, body)		"<transaction iterations=\"" #n "\">" body "</transaction>"
#define FOR(time, more, body)	"<transaction duration=\"" time "\" " more ">" body "</transaction>"
#define GROUP(attributes, body) "<profile><group " attributes ">" body "</group></profile>"
#define ASK			OP("write", "size=10") OP("read", "size=20")
#define CLOSE			OP("disconnect", "")
#define CONNECT(more)		OP("connect", "remotehost=h " more)

#define MASTER 0
#define SLAVE  1

static struct nm_node *root;
static struct nm_diags diags;
static struct nm_plan *plans[2];
static struct nm_engine *engines[2];

static void compile(const char *text)
{
	struct nm_diags none = {0};

	diags = none;
	root = nm_profile_parse("t.xml", text, strlen(text), &diags);
	ck_assert_ptr_nonnull(root);
	plans[MASTER] = nm_plan_compile(root, "t.xml", &diags);
	ck_assert_msg(plans[MASTER], "%s", diags.count ? diags.items[0].text : "?");
	plans[SLAVE] =
		plans[MASTER]->n_hosts
			? nm_plan_compile_mirror(root, "t.xml", plans[MASTER]->hosts[0], &diags)
			: NULL;
}

static struct nm_addr loopback(void)
{
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct nm_addr addr = {.len = sizeof in};

	memcpy(&addr.sa, &in, sizeof in);
	return addr;
}

static void make(unsigned observed)
{
	const struct nm_addr here = loopback();
	char why[300] = "";

	for (int side = MASTER; side <= SLAVE && plans[side]; side++) {
		const struct nm_engine_config config = {.plan = plans[side],
							.measures = side == MASTER,
							.details = observed,
							.log_passes = 3,
							.seed = 7};

		ck_assert_int_eq(nm_engine_new(&config, &engines[side]), 0);
		for (uint32_t h = 0; h < plans[side]->n_hosts; h++)
			nm_engine_set_host(engines[side], h, &here, &here);
		ck_assert_msg(nm_engine_prepare(engines[side], why, sizeof why) == 0, "%s", why);
		ck_assert_msg(nm_engine_listen(engines[side], why, sizeof why) == 0, "%s", why);
	}
}

/* Tells one engine what the listeners of the other are called. */
static void exchange(const struct nm_engine *from, struct nm_engine *to, const struct nm_plan *plan)
{
	nm_engine_set_nonce(to, 0, nm_engine_nonce(from));
	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t o = 0; o < plan->groups[g].n_openings; o++)
			for (uint32_t w = 0; w < plan->groups[g].n_workers; w++) {
				const char *text = nm_engine_listener(from, g, o, w);

				if (text)
					ck_assert_int_eq(nm_engine_set_endpoint(to, g, o, w, text),
							 0);
			}
}

static void start(const char *text, unsigned observed)
{
	compile(text);
	make(observed);
	if (engines[SLAVE]) {
		ck_assert(!nm_engine_endpoints_complete(engines[MASTER]));
		exchange(engines[SLAVE], engines[MASTER], plans[MASTER]);
		exchange(engines[MASTER], engines[SLAVE], plans[MASTER]);
		ck_assert(nm_engine_endpoints_complete(engines[SLAVE]));
		ck_assert_int_eq(nm_engine_start(engines[SLAVE]), 0);
	}
	ck_assert(nm_engine_endpoints_complete(engines[MASTER]));
	ck_assert_int_eq(nm_engine_start(engines[MASTER]), 0);
}

static void assert_right(const struct nm_engine *engine)
{
	struct nm_engine_error error = {.line = 0};

	ck_assert_msg(!nm_engine_failed(engine, &error), "line %u, %s: %s", error.line,
		      error.flowop ? error.flowop : "?", strerror(error.error));
}

/* Until an engine has something to tell; false: none had. */
static bool wait_any(int ms)
{
	struct pollfd fds[2] = {{.fd = -1}, {.fd = -1}};

	for (int side = MASTER; side <= SLAVE; side++)
		if (engines[side])
			fds[side] = (struct pollfd){.fd = nm_engine_fd(engines[side]),
						    .events = POLLIN};
	bool told = poll(fds, 2, ms) > 0;

	for (int side = MASTER; side <= SLAVE; side++)
		if (engines[side])
			nm_engine_clear(engines[side]);
	return told;
}

/* So many waits of 10 ms in which no engine tells anything, and more: it has stopped for good. */
#define MOST_SILENT 3000

static bool leads(int side, uint32_t group, uint32_t phase)
{
	return plans[side] && plans[side]->groups[group].runs &&
	       phase < plans[side]->groups[group].n_phases &&
	       plans[side]->groups[group].phases[phase].leads;
}

/* The other side is told how many passes it has to do. */
static void follow(int leader, uint32_t group)
{
	uint64_t totals[64];
	const struct nm_group *g = &plans[leader]->groups[group];

	if (!engines[!leader] || !plans[!leader]->groups[group].runs)
		return;
	for (uint32_t w = 0; w < g->n_workers; w++)
		totals[w] = nm_engine_iterations(engines[leader], group, w);
	nm_engine_follow(engines[!leader], group, totals);
}

static struct nm_counts counts_of(int side, uint32_t phase)
{
	struct nm_counts counts;

	nm_engine_counts(engines[side], 0, phase, &counts);
	return counts;
}

static void run_phase(uint32_t phase, int stop_after_ms)
{
	bool told[4] = {false};
	bool done = false;

	for (int side = SLAVE; side >= MASTER; side--)
		if (engines[side])
			nm_engine_begin(engines[side], phase);
	(void)wait_any(stop_after_ms);
	for (int silent = 0; !done;) {
		ck_assert_int_lt(silent, MOST_SILENT);
		silent += !wait_any(10);
		/* On a busy machine the first pass takes its time. */
		bool passed = counts_of(MASTER, phase).iterations > 0;

		done = true;
		for (int side = MASTER; side <= SLAVE; side++) {
			for (uint32_t g = 0; engines[side] && g < plans[side]->n_groups; g++) {
				assert_right(engines[side]);
				if (leads(side, g, phase) && passed) {
					nm_engine_stop(engines[side], g, false);
					if (!told[g] && nm_engine_group_done(engines[side], g)) {
						follow(side, g);
						told[g] = true;
					}
				}
				done &= nm_engine_group_done(engines[side], g);
			}
		}
	}
}

/* Those with a number of passes make all of them. */
static void run_iterations(uint32_t phase)
{
	for (int side = SLAVE; side >= MASTER; side--)
		if (engines[side])
			nm_engine_begin(engines[side], phase);
	for (int silent = 0; silent < MOST_SILENT;) {
		bool done = true;

		silent += !wait_any(10);
		for (int side = MASTER; side <= SLAVE; side++) {
			for (uint32_t g = 0; engines[side] && g < plans[side]->n_groups; g++) {
				assert_right(engines[side]);
				if (leads(side, g, phase) && nm_engine_group_done(engines[side], g))
					follow(side, g);
				done &= nm_engine_group_done(engines[side], g);
			}
		}
		if (done)
			return;
	}
	ck_abort_msg("phase %u does not end", phase);
}

static void stop(void)
{
	for (int side = MASTER; side <= SLAVE; side++) {
		engines[side] = nm_engine_free(engines[side]);
		plans[side] = nm_plan_free(plans[side]);
	}
	nm_node_free(root);
	nm_diags_fini(&diags);
}

/* Runs all phases, for 30 ms those that last a time. Both ends must have done the same in each. */
static void run(const char *text, unsigned observed)
{
	start(text, observed);
	for (uint32_t p = 0; p < plans[MASTER]->n_phases; p++) {
		if (plans[MASTER]->groups[0].phases[p].duration_ns)
			run_phase(p, 30);
		else
			run_iterations(p);
		struct nm_counts ours = counts_of(MASTER, p);
		uint64_t begin_ns, end_ns;

		nm_engine_times(engines[MASTER], 0, p, &begin_ns, &end_ns);
		ck_assert_uint_gt(begin_ns, 0);
		ck_assert_uint_ge(end_ns, begin_ns);
		ck_assert_uint_gt(ours.iterations, 0);
		if (!engines[SLAVE] || !plans[MASTER]->groups[0].phases[p].counts.reliable)
			continue;
		struct nm_counts its = counts_of(SLAVE, p);

		ck_assert_uint_eq(ours.bytes_sent, its.bytes_received);
		ck_assert_uint_eq(ours.bytes_received, its.bytes_sent);
		ck_assert_uint_eq(ours.iterations, its.iterations);
	}
	stop();
}

/* --- by how connections wait --- */

struct profile {
	const char *text;
	unsigned observed;
};

/* Most ways of waiting over TCP are tried in tests/sim. */
static const struct profile rr[] = {
	{.text = GROUP("nflows=\"5\" nthreads=\"2\" wait=\"spin\"",
		       ONCE(CONNECT("")) TIMES(200, ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"", ONCE(OP("connect", "remotehost=local protocol=unix"))
					       FOR("1s", "", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"3\"", ONCE(CONNECT("")) FOR("1s", "", ASK) ONCE(CLOSE)),
	 .observed = NM_OBSERVE_STEPS},
};

START_TEST(requests_are_answered)
{
	run(rr[_i].text, rr[_i].observed);
}
END_TEST

static const struct profile crr[] = {
	{.text = GROUP("nflows=\"4\" nthreads=\"2\"", TIMES(20, CONNECT("") ASK CLOSE))},
	{.text = GROUP("nflows=\"4\" nthreads=\"2\"",
		       TIMES(20, OP("connect", "remotehost=local protocol=unix") ASK CLOSE))},
	{.text = GROUP("nflows=\"4\"", TIMES(20, CONNECT("protocol=udp") ASK CLOSE))},
	{.text = GROUP("nflows=\"4\"", TIMES(20, CONNECT("protocol=udp shared_socket") ASK CLOSE))},
};

START_TEST(each_pass_may_have_a_connection_of_its_own)
{
	run(crr[_i].text, crr[_i].observed);
}
END_TEST

static const struct profile udp[] = {
	{.text = GROUP("", ONCE(CONNECT("protocol=udp")) TIMES(100, ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"6\" nthreads=\"2\"",
		       ONCE(CONNECT("protocol=udp shared_socket")) FOR("1s", "", ASK) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"",
		       ONCE(CONNECT("protocol=udp"))
			       FOR("1s", "", OP("write", "size=100 batch_size=8")) ONCE(CLOSE))},
	{.text = GROUP("nflows=\"2\"",
		       ONCE(CONNECT("protocol=udp"))
			       TIMES(3, OP("write", "size=9") OP("read", "size=9 timeout=20ms"))
				       ONCE(CLOSE))},
};

START_TEST(messages_that_may_be_lost_are_taken_as_they_come)
{
	run(udp[_i].text, udp[_i].observed);
}
END_TEST

START_TEST(several_connections_of_a_flow_take_turns)
{
	run(GROUP("nflows=\"2\"",
		  ONCE(OP("connect", "remotehost=h conn=1") OP("connect", "remotehost=h conn=2"))
			  TIMES(20, OP("write", "size=10 conn=1") OP("read", "size=10 conn=2"))
				  ONCE(OP("disconnect", "conn=1") OP("disconnect", "conn=2"))),
	    0);
}
END_TEST

START_TEST(workers_may_be_processes)
{
	run(GROUP("nprocs=\"2\"", ONCE(CONNECT("")) FOR("1s", "", ASK) ONCE(CLOSE)), 0);
}
END_TEST

/* --- what the control thread can see --- */

static void count_sample(void *arg, const struct nm_tcp_sample *sample)
{
	ck_assert_uint_gt(sample->values[0], 0); /* rtt_us */
	++*(unsigned *)arg;
}

START_TEST(connections_can_be_looked_at_while_they_are_used)
{
	struct nm_conn_summary sum;
	struct nm_tally_snap sample;
	unsigned n = 0, n_last = 0;

	start(GROUP("nflows=\"3\"", ONCE(CONNECT("")) FOR("1s", "", ASK) ONCE(CLOSE)),
	      NM_OBSERVE_TCP);
	run_iterations(0);
	for (int side = SLAVE; side >= MASTER; side--)
		nm_engine_begin(engines[side], 1);
	nm_engine_tcp_ask(engines[MASTER]);
	for (int i = 0; i < 1000 && !nm_engine_tcp_answered(engines[MASTER]); i++)
		wait_any(10);
	nm_engine_tcp_read(engines[MASTER], count_sample, &n);
	ck_assert_uint_eq(n, 3);
	run_phase(1, 10);
	nm_engine_tcp_read_last(engines[MASTER], count_sample, &n_last);
	ck_assert_uint_eq(n_last, 3);
	nm_engine_conn_summary(engines[MASTER], 0, 1, &sum);
	ck_assert_uint_eq(sum.connections, 3);
	nm_tally_snap_init(&sample);
	nm_engine_sample(engines[MASTER], 0, 1, &sample);
	ck_assert(nm_tally_keeps(&sample, NM_TIME_LATENCY));
	ck_assert_uint_eq(sample.latency.count, sample.counts.iterations);
	ck_assert_uint_gt(nm_engine_progress(engines[MASTER]), 0);
	stop();
}
END_TEST

/* Runs until something fails on the master's side. */
static struct nm_engine_error failure_of(const char *text)
{
	struct nm_engine_error error = {.line = 0};

	start(text, 0);
	for (uint32_t p = 0; p < plans[MASTER]->n_phases; p++) {
		for (int side = SLAVE; side >= MASTER; side--)
			nm_engine_begin(engines[side], p);
		for (int i = 0; i < 500 && !nm_engine_group_done(engines[MASTER], 0); i++)
			wait_any(10);
		if (nm_engine_failed(engines[MASTER], &error))
			break;
	}
	stop();
	return error;
}

START_TEST(a_failure_is_told_with_its_place)
{
	struct nm_engine_error error = failure_of(GROUP(
		"", ONCE(CONNECT("")) "\n" ONCE(OP("write", "size=1") OP(
			    "think", "duration=1s at=slave") OP("read", "size=1 timeout=10ms"))));

	ck_assert_int_eq(error.error, ETIMEDOUT);
	ck_assert_uint_eq(error.line, 2);
	ck_assert_str_eq(error.flowop, "read");
	ck_assert_uint_eq(error.count, 1);
}
END_TEST

START_TEST(an_expected_failure_is_counted)
{
	start(GROUP("", ONCE(CONNECT("")) TIMES(
				3, OP("write", "size=1") OP("think", "duration=20ms at=slave")
					   OP("read", "size=1 timeout=5ms canfail")) ONCE(CLOSE)),
	      NM_OBSERVE_COUNTS);
	run_iterations(0);
	run_iterations(1);
	ck_assert_uint_gt(counts_of(MASTER, 1).timeouts, 0);
	stop();
}
END_TEST

START_TEST(only_what_there_is_can_be_reached)
{
	compile(GROUP("", ONCE(CONNECT("") CLOSE)));
	make(0);
	ck_assert_int_eq(nm_engine_set_endpoint(engines[MASTER], 0, 0, 0, "no port"), -EINVAL);
	ck_assert_int_eq(nm_engine_set_endpoint(engines[MASTER], 1, 0, 0, "4711"), -EINVAL);
	ck_assert_int_eq(nm_engine_set_endpoint(engines[MASTER], 0, 9, 0, "4711"), -EINVAL);
	ck_assert_int_eq(nm_engine_set_endpoint(engines[MASTER], 0, 0, 9, "4711"), -EINVAL);
	ck_assert_int_eq(nm_engine_set_endpoint(engines[SLAVE], 0, 0, 0, "4711"), -EINVAL);
	ck_assert_ptr_null(nm_engine_listener(engines[MASTER], 0, 0, 0));
	ck_assert_ptr_null(nm_engine_listener(engines[SLAVE], 7, 0, 0));
	ck_assert_ptr_nonnull(nm_engine_listener(engines[SLAVE], 0, 0, 0));
	ck_assert(!nm_engine_endpoints_complete(engines[MASTER]));
	stop();
}
END_TEST

START_TEST(an_engine_may_end_in_the_middle)
{
	start(GROUP("nflows=\"3\"", ONCE(CONNECT("")) FOR("1s", "", ASK) ONCE(CLOSE)), 0);
	run_iterations(0);
	for (int side = SLAVE; side >= MASTER; side--)
		nm_engine_begin(engines[side], 1);
	wait_any(10);
	stop();
	ck_assert_ptr_null(nm_engine_free(NULL));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("engines");
	TCase *tcase = tcase_create("engines");

	tcase_add_loop_test(tcase, requests_are_answered, 0, sizeof rr / sizeof rr[0]);
	tcase_add_loop_test(tcase, each_pass_may_have_a_connection_of_its_own, 0,
			    sizeof crr / sizeof crr[0]);
	tcase_add_loop_test(tcase, messages_that_may_be_lost_are_taken_as_they_come, 0,
			    sizeof udp / sizeof udp[0]);
	tcase_add_test(tcase, several_connections_of_a_flow_take_turns);
	tcase_add_test(tcase, workers_may_be_processes);
	tcase_add_test(tcase, connections_can_be_looked_at_while_they_are_used);
	tcase_add_test(tcase, a_failure_is_told_with_its_place);
	tcase_add_test(tcase, an_expected_failure_is_counted);
	tcase_add_test(tcase, only_what_there_is_can_be_reached);
	tcase_add_test(tcase, an_engine_may_end_in_the_middle);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
