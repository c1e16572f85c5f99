/* SPDX-License-Identifier: Apache-2.0 */
/* Master and slaves, and what must hold when they have run. */
#include "run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "control/slave/daemon.h"
#include "fault.h"
#include "process.h"
#include "profile.h"
#include "result/load.h"
#include "transport/preamble.h"
#include "world.h"

#define LIMIT_NS   UINT64_C(60000000000) /* of the world's time, for a run */
#define SESSION_NS UINT64_C(500000000)	 /* for a session, when its master has ended */

static struct {
	const struct sim_profile *profile;
	const struct sim_choices *choices;
	struct nm_loaded loaded;
	struct nm_diags diags;
	bool struck;		  /* the fault has, in the present run */
	struct nm_result *result; /* of the last run */
	enum nm_run_status status;
	bool told;    /* the run has told of an error */
	uint64_t due; /* passes, of an open loop, in a run before with the same seed */
	struct sim_outcome *outcome;
} world;

/* Only the first that does not hold is of interest. */
static __attribute__((format(printf, 1, 2))) bool wrong(const char *format, ...)
{
	va_list more;

	va_start(more, format);
	if (!*world.outcome->why)
		(void)vsnprintf(world.outcome->why, sizeof world.outcome->why, format, more);
	va_end(more);
	return false;
}

/* --- the processes --- */

static void be_slave(const void *arg)
{
	struct nm_slave_options options;
	struct nm_diags diags = {.count = 0};
	const int interrupt_fd = *(const int *)arg;

	nm_slave_options_default(&options);
	options.admission = NM_ADMIT_ALL;
	options.interrupt_fd = interrupt_fd;
	int error = nm_slave_serve(&options, &diags);

	nm_diags_fini(&diags);
	_exit(error ? 1 : 0);
}

static bool ended_well(pid_t pid, const char *who)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return wrong("the %s has ended with status %d", who, status);
	return true;
}

/* --- what must hold --- */

static bool agree(const struct nm_counts *ours, const struct nm_counts *its)
{
	if (world.profile->datagrams) /* a request that is not answered may have come, or not */
		return ours->iterations <= its->iterations &&
		       its->iterations <= ours->iterations + ours->unanswered;
	return ours->iterations == its->iterations && ours->bytes_sent == its->bytes_received &&
	       ours->bytes_received == its->bytes_sent;
}

/* Both ends have done the same. */
static bool compare_phases(const struct nm_result_group *group)
{
	for (size_t p = 0; p < group->n_phases; p++) {
		const struct nm_result_phase *phase = &group->phases[p];
		const struct nm_counts *ours = &phase->whole.counts;

		if (!phase->slaves_known || !agree(ours, &phase->slaves))
			return wrong("group %s, phase %zu: %llu and %llu passes, %llu unanswered",
				     group->name, p, (unsigned long long)ours->iterations,
				     (unsigned long long)phase->slaves.iterations,
				     (unsigned long long)ours->unanswered);
	}
	return true;
}

/* A request and its answer take at least the link's delay there and back. */
static bool compare_times(const struct nm_result_group *group)
{
	const struct nm_latency *latency = &group->totals.latency;
	double least_s = 2 * (double)world.choices->delay_ns / 1e9;

	if (latency->count && group->totals.counts.bytes_sent &&
	    group->totals.counts.bytes_received && latency->min_s < least_s)
		return wrong("group %s: a latency of %.9f s over a link of %.9f s there and back",
			     group->name, latency->min_s, least_s);
	return true;
}

/* A pass that was due is done, has failed, or has never begun; and its response has its service in
 * it. */
static bool compare_passes(const struct nm_result_group *group, size_t number)
{
	const struct nm_window *whole = &group->phases[number].whole;
	const struct nm_counts *counts = &whole->counts;
	uint64_t ended = counts->iterations + counts->unanswered + counts->errors;

	if (counts->arrivals != ended)
		return wrong("group %s, phase %zu: %llu passes that were due have begun, and %llu "
			     "have ended",
			     group->name, number, (unsigned long long)counts->arrivals,
			     (unsigned long long)ended);
	if (whole->response.count && (whole->response.min_s < whole->latency.min_s ||
				      whole->response.mean_s < whole->latency.mean_s))
		return wrong("group %s, phase %zu: a response of %.9f s, and a service of %.9f s",
			     group->name, number, whole->response.mean_s, whole->latency.mean_s);
	return true;
}

static bool compare_loads(const struct nm_result *result, const struct nm_result_group *group)
{
	for (size_t p = 0; p < group->n_phases; p++) {
		struct nm_load load;

		if (!nm_phase_judge(result, group, &group->phases[p], &load))
			continue;
		if (!compare_passes(group, p))
			return false;
		if (world.due && load.due != world.due)
			return wrong("group %s, phase %zu: %llu passes were due, and %llu in the "
				     "run before",
				     group->name, p, (unsigned long long)load.due,
				     (unsigned long long)world.due);
		world.due = load.due;
		if (!load.keeps_law)
			return wrong("group %s, phase %zu: %.6g passes outstanding, and %.6g by "
				     "Little's law",
				     group->name, p, load.outstanding_mean,
				     load.outstanding_by_law);
	}
	return true;
}

static uint64_t received_by_all(void)
{
	uint64_t received = 0;

	for (size_t h = 0; h < world.result->n_hosts; h++)
		received += world.result->hosts[h].counts.bytes_received;
	return received;
}

/* The kernel has carried what both ends have counted, and the preambles of connections. */
static bool compare_bytes(const struct sim_kernel_state *before)
{
	const struct sim_kernel_state now = sim_kernel_state();
	uint64_t carried = now.carried_bytes - before->carried_bytes;
	uint64_t connections = now.connections - before->connections, counted = 0, rest;

	for (size_t h = 1; h < world.result->n_hosts; h++)
		counted += world.result->hosts[h].counts.bytes_sent +
			   world.result->hosts[h].counts.bytes_received;
	if (world.profile->datagrams) /* those that were sent may have been lost */
		counted = received_by_all();
	rest = carried - counted;
	/* Preambles of datagrams are answered, and sent again where they are lost. */
	if (world.profile->datagrams ? rest % NM_PREAMBLE_BYTES
				     : rest && rest != connections * NM_PREAMBLE_BYTES)
		return wrong("%llu bytes were counted, and %llu carried over %llu connections",
			     (unsigned long long)counted, (unsigned long long)carried,
			     (unsigned long long)connections);
	return true;
}

/* A run that a fault has ended says why. */
static bool explains(const struct nm_result *result)
{
	bool failed = world.status == NM_RUN_FAILED && result && result->verdict.incomplete_why;

	if (!failed && !world.told)
		return wrong("a fault ends the run with status %d, and nothing says why",
			     world.status);
	return true;
}

static bool compare(const struct sim_kernel_state *before)
{
	const struct nm_result *result = world.result;

	if (world.struck && world.status != NM_RUN_COMPLETE)
		return explains(result);
	if (world.status != NM_RUN_COMPLETE || !result || !result->complete)
		return wrong("the run ends with status %d: %s", world.status,
			     result && result->verdict.incomplete_why
				     ? result->verdict.incomplete_why
				     : "?");
	if (result->verdict.reconciled != NM_RECONCILED_YES && !world.profile->datagrams)
		return wrong("the counts are not reconciled: %s",
			     result->verdict.reconcile_text ? result->verdict.reconcile_text : "?");
	for (size_t g = 0; g < result->n_groups; g++)
		if (!compare_phases(&result->groups[g]) || !compare_times(&result->groups[g]) ||
		    !compare_loads(result, &result->groups[g]))
			return false;
	if (!result->totals.counts.iterations)
		return wrong("no pass was measured");
	world.outcome->iterations += result->totals.counts.iterations;
	return world.struck || compare_bytes(before);
}

/* The master looks at its result itself, whose memory is its own. */
static void be_master(const void *arg)
{
	const struct nm_job job = nm_loaded_job(&world.loaded);
	const struct sim_kernel_state before = sim_kernel_state();
	struct nm_run_options options;
	struct nm_diags diags = {.count = 0};

	(void)arg;
	nm_run_options_default(&options);
	options.seed = world.choices->seed;
	options.interval_ns = 10000000;
	options.wait.slaves_ns = 1000000000;
	world.status = nm_run(&job, &options, &world.result, &diags);
	world.struck = sim_fault_disarm();
	world.told = diags.n_errors > 0;
	(void)compare(&before);
	world.result = nm_result_free(world.result);
	nm_diags_fini(&diags);
	_exit(0);
}

/* --- a world --- */

#define MOST_SLAVES 2

struct slave {
	pid_t pid;
	int stop[2];	    /* a pipe */
	unsigned inherited; /* descriptors */
};

static void start_slave(struct slave *slave, unsigned host)
{
	slave->inherited = sim_n_descriptors(0);
	slave->pid = sim_start(host, be_slave, &slave->stop[0]);
}

/* A slave that a fault has ended is started again. */
static void revive(struct slave *slaves)
{
	for (unsigned h = 0; h < world.profile->n_slaves; h++)
		if (waitpid(slaves[h].pid, NULL, WNOHANG) == slaves[h].pid)
			start_slave(&slaves[h], h + 1);
}

static bool has_no_sessions(void *arg)
{
	(void)arg;
	return !sim_has_sessions();
}

/* Unless it cannot hear of it: the network is parted. */
static bool sessions_end_with_their_master(void)
{
	return world.choices->fault == SIM_PARTITION ||
	       sim_block(has_no_sessions, NULL, sim_now() + SESSION_NS, "the end of sessions") ||
	       wrong("a session is there %.1f s after the end of its master",
		     (double)SESSION_NS / 1e9);
}

static bool run_once(void)
{
	uint64_t begin_ns = sim_now();
	int status;

	world.struck = false;
	pid_t master = sim_start(0, be_master, NULL);

	(void)waitpid(master, &status, 0);
	world.struck |= sim_fault_disarm();
	world.outcome->struck |= world.struck;
	if (!WIFEXITED(status) && !world.struck)
		return wrong("the master has ended with status %d", status);
	if (sim_now() - begin_ns > LIMIT_NS)
		return wrong("the run took %.3f s", (double)(sim_now() - begin_ns) / 1e9);
	return !*world.outcome->why && sessions_end_with_their_master();
}

/* Of a slave that has nothing to do, beyond those that it was started with; as the first run of all
 * has found it. */
static unsigned descriptors_at_rest;

static bool is_at_rest(void *arg)
{
	const struct slave *slave = arg;

	return descriptors_at_rest &&
	       sim_n_descriptors(slave->pid) <= slave->inherited + descriptors_at_rest;
}

static bool come_to_rest(struct slave *slaves)
{
	for (unsigned h = 0; h < world.profile->n_slaves; h++) {
		bool rests = sim_block(is_at_rest, &slaves[h], sim_now() + SESSION_NS, "rest");
		unsigned n = sim_n_descriptors(slaves[h].pid);

		if (!descriptors_at_rest)
			descriptors_at_rest = n - slaves[h].inherited;
		else if (!rests)
			return wrong("slave %u has %u descriptors when it has nothing to do", h, n);
	}
	return true;
}

static bool is_alone(void *arg)
{
	(void)arg;
	return sim_is_alone();
}

/* The first run meets the fault; the second must succeed. */
static void run_all(void)
{
	struct slave slaves[MOST_SLAVES];
	bool right;

	for (unsigned h = 0; h < world.profile->n_slaves; h++) {
		if (pipe2(slaves[h].stop, 0) < 0)
			abort();
		start_slave(&slaves[h], h + 1);
	}
	sim_fault_arm(world.choices);
	right = run_once();
	revive(slaves);
	right = right && run_once() && come_to_rest(slaves);
	for (unsigned h = 0; h < world.profile->n_slaves; h++) {
		if (write(slaves[h].stop[1], "x", 1) == 1 && right)
			right = ended_well(slaves[h].pid, "slave");
		(void)close(slaves[h].stop[0]);
		(void)close(slaves[h].stop[1]);
	}
	(void)sim_block(is_alone, NULL, sim_now() + LIMIT_NS, "the end of all");
}

static void run_whole(const struct sim_choices *choices, struct sim_outcome *ret)
{
	*ret = (struct sim_outcome){.hash = 0};
	memset(&world, 0, sizeof world);
	world.profile = &sim_profiles[choices->profile];
	world.choices = choices;
	world.outcome = ret;
	if (sim_profile_load(choices, &world.loaded, &world.diags) != 0) {
		(void)wrong("the profile: %s", world.diags.count ? world.diags.items[0].text : "?");
	} else {
		sim_begin(choices->seed);
		sim_kernel_begin(choices);
		uint64_t begin_ns = sim_now();

		run_all();
		ret->time_ns = sim_now() - begin_ns;
		ret->hash = sim_trace_hash();
		sim_kernel_end(&ret->kernel);
		sim_end();
	}
	nm_loaded_fini(&world.loaded);
	nm_diags_fini(&world.diags);
}

/* What holds in every world. */
static void judge_kernel(const struct sim_kernel_state *kernel)
{
	if (kernel->descriptors)
		(void)wrong("%u descriptors are left open", kernel->descriptors);
	if (kernel->left_bytes)
		(void)wrong("%llu bytes of memory were left",
			    (unsigned long long)kernel->left_bytes);
	if (kernel->processes)
		(void)wrong("a process has not ended");
	if (kernel->late_ns)
		(void)wrong("a timer fired %llu ns late", (unsigned long long)kernel->late_ns);
}

void sim_warm_up(void)
{
	static bool warm;
	struct sim_outcome outcome;
	const struct sim_choices plain = sim_choices_of(1, sim_n_ends, false);
	bool shows = sim_show_trace;

	if (warm)
		return;
	warm = true;
	sim_show_trace = false;
	run_whole(&plain, &outcome);
	sim_show_trace = shows;
}

void sim_run(const struct sim_choices *choices, struct sim_outcome *ret)
{
	sim_warm_up();
	if (sim_profiles[choices->profile].n_slaves)
		run_whole(choices, ret);
	else
		sim_run_ends(choices, ret);
	world.outcome = ret;
	judge_kernel(&ret->kernel);
}
