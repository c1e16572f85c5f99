/* SPDX-License-Identifier: Apache-2.0 */
/* Two engines, and what must hold when they have run. */
#include "ends.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "engine/engine.h"
#include "engine/flowop_stats.h"
#include "host/clock.h"
#include "plan/plan.h"
#include "profile.h"
#include "world.h"

#define LIMIT_NS UINT64_C(60000000000) /* of the world's time, for a run */
#define LOOK_MS	 1

enum side { MASTER, SLAVE };

static struct {
	struct nm_loaded loaded;
	struct nm_diags diags;
	struct nm_plan *plans[2];
	struct nm_engine *engines[2];
	uint64_t begin_ns;
	struct sim_outcome *outcome;
} ends;

/* Only the first that does not hold is of interest. */
static __attribute__((format(printf, 1, 2))) bool wrong(const char *format, ...)
{
	va_list more;

	va_start(more, format);
	if (!*ends.outcome->why)
		(void)vsnprintf(ends.outcome->why, sizeof ends.outcome->why, format, more);
	va_end(more);
	return false;
}

static bool compile(const struct sim_choices *choices)
{
	struct nm_loaded *loaded = &ends.loaded;

	if (sim_profile_load(choices, loaded, &ends.diags) != 0)
		return wrong("the profile: %s", ends.diags.count ? ends.diags.items[0].text : "?");
	ends.plans[MASTER] = loaded->plan;
	if (loaded->plan->n_hosts)
		ends.plans[SLAVE] = nm_plan_compile_mirror(loaded->root, loaded->name,
							   loaded->plan->hosts[0], &ends.diags);
	return true;
}

static bool make(enum side side, uint64_t seed)
{
	const struct sockaddr_in in = {.sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct nm_addr here = {.len = sizeof in};
	const struct nm_engine_config config = {
		.plan = ends.plans[side], .measures = side == MASTER, .seed = seed};
	char why[300] = "";

	memcpy(&here.sa, &in, sizeof in);
	int error = -nm_engine_new(&config, &ends.engines[side]);

	if (error)
		return wrong("side %d: no engine: %s", side, strerror(error));
	for (uint32_t h = 0; h < ends.plans[side]->n_hosts; h++)
		nm_engine_set_host(ends.engines[side], h, &here, &here);
	if (nm_engine_prepare(ends.engines[side], why, sizeof why) != 0 ||
	    nm_engine_listen(ends.engines[side], why, sizeof why) != 0)
		return wrong("side %d cannot begin: %s", side, why);
	return true;
}

static void exchange(enum side from, enum side to)
{
	nm_engine_set_nonce(ends.engines[to], 0, nm_engine_nonce(ends.engines[from]));
	for (uint32_t g = 0; g < ends.plans[from]->n_groups; g++)
		for (uint32_t o = 0; o < ends.plans[from]->groups[g].n_openings; o++)
			for (uint32_t w = 0; w < ends.plans[from]->groups[g].n_workers; w++) {
				const char *text = nm_engine_listener(ends.engines[from], g, o, w);

				if (text)
					(void)nm_engine_set_endpoint(ends.engines[to], g, o, w,
								     text);
			}
}

static bool start(uint64_t seed)
{
	for (enum side side = MASTER; side <= SLAVE && ends.plans[side]; side++)
		if (!make(side, seed))
			return false;
	if (ends.engines[SLAVE]) {
		exchange(SLAVE, MASTER);
		exchange(MASTER, SLAVE);
		if (nm_engine_start(ends.engines[SLAVE]) != 0)
			return wrong("the slave does not start");
	}
	return nm_engine_start(ends.engines[MASTER]) == 0 || wrong("the master does not start");
}

static bool has_failed(void)
{
	struct nm_engine_error error = {.line = 0};

	for (enum side side = MASTER; side <= SLAVE; side++)
		if (ends.engines[side] && nm_engine_failed(ends.engines[side], &error))
			return !wrong("side %d: %s: %s", side, error.flowop ? error.flowop : "?",
				      strerror(error.error));
	return false;
}

/* Until an engine has something to report, or it is time to look. */
static void wait_any(void)
{
	struct pollfd fds[2] = {{.fd = -1}};
	nfds_t n = 0;

	for (enum side side = MASTER; side <= SLAVE; side++)
		if (ends.engines[side])
			fds[n++] = (struct pollfd){.fd = nm_engine_fd(ends.engines[side]),
						   .events = POLLIN};
	(void)poll(fds, n, LOOK_MS);
	for (enum side side = MASTER; side <= SLAVE; side++)
		if (ends.engines[side])
			nm_engine_clear(ends.engines[side]);
}

static const struct nm_phase *phase_of(enum side side, uint32_t group, uint32_t phase)
{
	const struct nm_group *g = ends.plans[side] ? &ends.plans[side]->groups[group] : NULL;

	return g && g->runs && phase < g->n_phases ? &g->phases[phase] : NULL;
}

static void follow(enum side leader, uint32_t group)
{
	uint64_t totals[64];
	enum side other = leader == MASTER ? SLAVE : MASTER;

	if (!ends.engines[other] || !ends.plans[other]->groups[group].runs)
		return;
	for (uint32_t w = 0; w < ends.plans[leader]->groups[group].n_workers; w++)
		totals[w] = nm_engine_iterations(ends.engines[leader], group, w);
	nm_engine_follow(ends.engines[other], group, totals);
}

/* One look at a group of one side. True: it is done with the phase. */
static bool lead(enum side side, uint32_t group, uint32_t number, bool *told, uint64_t begin_ns)
{
	const struct nm_phase *phase = phase_of(side, group, number);
	struct nm_engine *engine = ends.engines[side];

	if (phase && phase->leads && phase->duration_ns &&
	    nm_clock_ns() - begin_ns >= phase->duration_ns)
		nm_engine_stop(engine, group, false);
	if (phase && phase->leads && !*told && nm_engine_group_done(engine, group)) {
		follow(side, group);
		*told = true;
	}
	return nm_engine_group_done(engine, group);
}

static bool run_phase(uint32_t number)
{
	uint64_t begin_ns = nm_clock_ns();
	bool told[2][4] = {{false}};

	for (enum side side = SLAVE;; side = MASTER) {
		if (ends.engines[side])
			nm_engine_begin(ends.engines[side], number);
		if (side == MASTER)
			break;
	}
	for (bool done = false; !done;) {
		done = true;
		if (has_failed())
			return false;
		for (enum side side = MASTER; side <= SLAVE; side++)
			for (uint32_t g = 0; ends.engines[side] && g < ends.plans[side]->n_groups;
			     g++)
				done &= lead(side, g, number, &told[side][g], begin_ns);
		if (!done && sim_now() - ends.begin_ns > LIMIT_NS)
			return wrong("phase %u does not end", number);
		if (!done)
			wait_any();
	}
	return true;
}

/* Both ends have done the same, and what they have counted the kernel has carried. */
static bool compare(uint32_t number)
{
	struct nm_counts ours, its;

	nm_engine_counts(ends.engines[MASTER], 0, number, &ours);
	if (phase_of(MASTER, 0, number)->duration_ns)
		ends.outcome->iterations += ours.iterations;
	if (!ours.iterations)
		return wrong("phase %u has no pass", number);
	if (!ends.engines[SLAVE])
		return true;
	nm_engine_counts(ends.engines[SLAVE], 0, number, &its);
	if (ours.bytes_sent != its.bytes_received || ours.bytes_received != its.bytes_sent ||
	    ours.iterations != its.iterations)
		return wrong(
			"phase %u: sent %llu, received %llu, passes %llu; the other end received "
			"%llu, sent %llu, passes %llu",
			number, (unsigned long long)ours.bytes_sent,
			(unsigned long long)ours.bytes_received,
			(unsigned long long)ours.iterations, (unsigned long long)its.bytes_received,
			(unsigned long long)its.bytes_sent, (unsigned long long)its.iterations);
	return true;
}

/* A request and its answer take at least the link's delay there and back. */
static bool compare_times(uint32_t number, const struct sim_choices *config)
{
	const struct nm_phase *phase = phase_of(MASTER, 0, number);
	struct nm_tally_snap sample;

	nm_tally_snap_init(&sample);
	nm_engine_sample(ends.engines[MASTER], 0, number, &sample);
	if (!phase->measured || !nm_tally_keeps(&sample, NM_TIME_LATENCY))
		return true;
	if (sample.latency.count != sample.counts.iterations)
		return wrong("phase %u: %llu latencies of %llu passes", number,
			     (unsigned long long)sample.latency.count,
			     (unsigned long long)sample.counts.iterations);
	if (sample.counts.bytes_received && sample.counts.bytes_sent && ends.engines[SLAVE] &&
	    sample.latency.min_ns < 2 * config->delay_ns)
		return wrong("phase %u: a latency of %llu ns over a link of %llu ns", number,
			     (unsigned long long)sample.latency.min_ns,
			     (unsigned long long)config->delay_ns);
	if (nm_tally_keeps(&sample, NM_TIME_RESPONSE) &&
	    sample.response.min_ns < sample.latency.min_ns)
		return wrong("phase %u: a response is shorter than any latency", number);
	return true;
}

void sim_run_ends(const struct sim_choices *choices, struct sim_outcome *ret)
{
	const struct nm_diags none = {0};

	*ret = (struct sim_outcome){.hash = 0};
	memset(&ends, 0, sizeof ends);
	ends.diags = none;
	ends.outcome = ret;
	sim_begin(choices->seed);
	sim_kernel_begin(choices);
	ends.begin_ns = sim_now();
	bool right = compile(choices) && start(choices->seed);

	for (uint32_t p = 0; right && p < ends.plans[MASTER]->n_phases; p++)
		right = run_phase(p) && compare(p) && compare_times(p, choices);
	for (enum side side = MASTER; side <= SLAVE; side++)
		ends.engines[side] = nm_engine_free(ends.engines[side]);
	ends.plans[SLAVE] = nm_plan_free(ends.plans[SLAVE]);
	nm_loaded_fini(&ends.loaded);
	ret->time_ns = sim_now() - ends.begin_ns;
	ret->hash = sim_trace_hash();
	sim_kernel_end(&ret->kernel);
	sim_end();
	nm_diags_fini(&ends.diags);
}
