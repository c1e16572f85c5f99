/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "host/clock.h"

#define PATIENCE_NS UINT64_C(20000000000)
#define MAX_WORKERS 64

static struct nm_addr here(void)
{
	struct nm_addr addr = {.len = sizeof(struct sockaddr_in)};
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)&addr.sa;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

static struct nm_engine *make(const struct nm_plan *plan, bool measures, unsigned details)
{
	const struct nm_engine_config config = {.plan = plan,
						.measures = measures,
						.details = details,
						.log_passes = 10,
						.seed = 5};
	const struct nm_addr addr = here();
	struct nm_engine *engine = NULL;
	char why[256] = "";

	ck_assert_int_eq(nm_engine_new(&config, &engine), 0);
	for (uint32_t h = 0; h < plan->n_hosts; h++)
		nm_engine_set_host(engine, h, &addr, &addr);
	ck_assert_msg(nm_engine_prepare(engine, why, sizeof why) == 0, "%s", why);
	ck_assert_msg(nm_engine_listen(engine, why, sizeof why) == 0, "%s", why);
	return engine;
}

/* What `from` listens at is told to `to`. */
static void introduce(const struct pair *pair, unsigned from, unsigned to)
{
	const struct nm_plan *plan = pair->plans[from];

	nm_engine_set_nonce(pair->engines[to], 0, nm_engine_nonce(pair->engines[from]));
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		for (uint32_t o = 0; o < plan->groups[g].n_openings; o++) {
			for (uint32_t w = 0; w < plan->groups[g].n_workers; w++) {
				const char *text = nm_engine_listener(pair->engines[from], g, o, w);

				if (text)
					ck_assert_int_eq(nm_engine_set_endpoint(pair->engines[to],
										g, o, w, text),
							 0);
			}
		}
	}
}

void pair_init(struct pair *pair, const char *text, unsigned details)
{
	memset(pair, 0, sizeof *pair);
	pair->compiled = compile_good(text);
	pair->plans[0] = pair->compiled.plan;
	pair->plans[1] = mirror(&pair->compiled, "local");
	for (unsigned i = 0; i < 2; i++)
		pair->engines[i] = make(pair->plans[i], i == 0, i == 0 ? details : 0);
	introduce(pair, 0, 1);
	introduce(pair, 1, 0);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(nm_engine_endpoints_complete(pair->engines[i]));
		ck_assert_int_eq(nm_engine_start(pair->engines[i]), 0);
	}
}

static void assert_well(const struct pair *pair)
{
	for (unsigned i = 0; i < 2; i++) {
		struct nm_engine_error error;

		ck_assert_msg(!nm_engine_failed(pair->engines[i], &error),
			      "end %u, flow %u: line %u, %s: %s %s", i, error.flow, error.line,
			      error.flowop ? error.flowop : "-", strerror(error.error), error.why);
	}
}

/* Until something happens at either end. */
static void await_news(const struct pair *pair, uint64_t begin_ns)
{
	struct pollfd fds[2];

	for (unsigned i = 0; i < 2; i++)
		fds[i] = (struct pollfd){.fd = nm_engine_fd(pair->engines[i]), .events = POLLIN};
	ck_assert_msg(nm_clock_ns() - begin_ns < PATIENCE_NS, "nothing happens");
	(void)poll(fds, 2, 20);
	for (unsigned i = 0; i < 2; i++)
		if (fds[i].revents)
			nm_engine_clear(pair->engines[i]);
}

static const struct nm_phase *phase_of(const struct pair *pair, unsigned end, uint32_t group,
				       uint32_t phase)
{
	const struct nm_group *at = &pair->plans[end]->groups[group];

	return phase < at->n_phases ? &at->phases[phase] : NULL;
}

/* The group's follower is told how many passes the leader has made. */
static void tell_follower(struct pair *pair, uint32_t group, unsigned leader)
{
	uint64_t totals[MAX_WORKERS];
	uint32_t n = pair->plans[0]->groups[group].n_workers;

	for (uint32_t w = 0; w < n; w++)
		totals[w] = nm_engine_iterations(pair->engines[leader], group, w);
	nm_engine_follow(pair->engines[1 - leader], group, totals);
}

void pair_run(struct pair *pair, uint32_t phase, unsigned stop_after_ms)
{
	uint64_t begin_ns = nm_clock_ns();
	uint32_t n_groups = pair->plans[0]->n_groups;

	for (unsigned i = 2; i-- > 0;)
		nm_engine_begin(pair->engines[i], phase);
	(void)usleep(stop_after_ms * 1000);
	for (uint32_t g = 0; g < n_groups; g++) {
		const struct nm_phase *at = phase_of(pair, 0, g, phase);

		if (!at)
			continue;
		unsigned leader = at->leads ? 0 : 1;

		if (stop_after_ms)
			nm_engine_stop(pair->engines[leader], g, false);
		while (!nm_engine_group_done(pair->engines[leader], g)) {
			await_news(pair, begin_ns);
			assert_well(pair);
		}
		tell_follower(pair, g, leader);
	}
	while (!nm_engine_done(pair->engines[0]) || !nm_engine_done(pair->engines[1])) {
		await_news(pair, begin_ns);
		assert_well(pair);
	}
}

struct nm_counts pair_counts(const struct pair *pair, unsigned end, uint32_t phase)
{
	struct nm_counts counts;

	nm_engine_counts(pair->engines[end], 0, phase, &counts);
	return counts;
}

void pair_run_all(struct pair *pair, unsigned stop_after_ms)
{
	for (uint32_t k = 0; k < pair->plans[0]->n_phases; k++) {
		const struct nm_phase *at = phase_of(pair, 0, 0, k);

		pair_run(pair, k, at->duration_ns ? stop_after_ms : 0);
		struct nm_counts master = pair_counts(pair, 0, k);
		struct nm_counts slave = pair_counts(pair, 1, k);

		if (at->counts.may_lose || phase_of(pair, 1, 0, k)->empty)
			continue;
		ck_assert_uint_eq(master.bytes_sent, slave.bytes_received);
		ck_assert_uint_eq(master.bytes_received, slave.bytes_sent);
		ck_assert_uint_eq(master.iterations, slave.iterations);
	}
}

struct nm_engine_error pair_await_failure(struct pair *pair)
{
	uint64_t begin_ns = nm_clock_ns();
	struct nm_engine_error error;

	while (!nm_engine_failed(pair->engines[0], &error) &&
	       !nm_engine_failed(pair->engines[1], &error))
		await_news(pair, begin_ns);
	return error;
}

void pair_fini(struct pair *pair)
{
	for (unsigned i = 0; i < 2; i++)
		nm_engine_free(pair->engines[i]);
	nm_plan_free(pair->plans[1]);
	compiled_fini(&pair->compiled);
}
