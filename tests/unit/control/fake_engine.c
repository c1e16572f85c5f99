/* SPDX-License-Identifier: Apache-2.0 */
/* All functions of the engine that control calls. */
#include "fake_engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/thread.h"
#include "flowop/flowop.h"
#include "host/clock.h"
#include "stats/idle_path.h"

#define PASS_BYTES 100u

struct fake_script fake_script;
_Atomic unsigned fake_counts_read, fake_places_asked;
_Atomic(struct nm_engine *) fake_master;

static void notify(const struct nm_engine *engine)
{
	const uint64_t one = 1;
	ssize_t written = write(engine->fd, &one, sizeof one);

	(void)written;
}

int nm_engine_new(const struct nm_engine_config *config, struct nm_engine **ret_engine)
{
	struct nm_engine *engine = calloc(1, sizeof *engine);

	if (!engine)
		return -ENOMEM;
	engine->config = *config;
	engine->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (config->plan->master)
		atomic_store(&fake_master, engine);
	*ret_engine = engine;
	return 0;
}

struct nm_engine *nm_engine_free(struct nm_engine *engine)
{
	if (!engine)
		return NULL;
	if (engine->config.plan->master)
		atomic_store(&fake_master, NULL);
	(void)close(engine->fd);
	free(engine);
	return NULL;
}

const struct nm_buffers *nm_engine_cut(const struct nm_engine *engine)
{
	static const struct nm_buffers none = {.send_asked = 0};

	(void)engine;
	return &none;
}

uint64_t nm_engine_strangers(const struct nm_engine *engine, struct nm_addr *ret_last)
{
	(void)engine;
	*ret_last = (struct nm_addr){.len = 0};
	return 0;
}

const unsigned char *nm_engine_nonce(const struct nm_engine *engine)
{
	static const unsigned char nonce[NM_NONCE_BYTES];

	(void)engine;
	return nonce;
}

void nm_engine_set_nonce(struct nm_engine *engine, uint32_t host, const unsigned char *nonce)
{
	(void)engine;
	(void)host;
	(void)nonce;
}

void nm_engine_set_host(struct nm_engine *engine, uint32_t host, const struct nm_addr *peer,
			const struct nm_addr *local)
{
	(void)engine;
	(void)host;
	(void)peer;
	(void)local;
}

int nm_engine_prepare(struct nm_engine *engine, char *why, size_t why_size)
{
	(void)engine;
	(void)why;
	(void)why_size;
	return 0;
}

int nm_engine_listen(struct nm_engine *engine, char *why, size_t why_size)
{
	(void)why;
	(void)why_size;
	return engine->config.plan->master ? 0 : -fake_script.no_listen;
}

/* Where the plan accepts, and so listens. */
static bool listens(const struct nm_engine *engine, uint32_t group, uint32_t opening)
{
	const struct nm_group *g = &engine->config.plan->groups[group];

	for (uint32_t i = 0; i < g->n_instrs; i++) {
		const struct nm_instr *instr = &g->instrs[i];

		if (instr->op && instr->opening == opening &&
		    strcmp(instr->op->name, "accept") == 0)
			return true;
	}
	return false;
}

const char *nm_engine_listener(const struct nm_engine *engine, uint32_t group, uint32_t opening,
			       uint32_t worker)
{
	(void)worker;
	return listens(engine, group, opening) ? "4711" : NULL;
}

int nm_engine_set_endpoint(struct nm_engine *engine, uint32_t group, uint32_t opening,
			   uint32_t worker, const char *text)
{
	(void)group;
	(void)opening;
	(void)worker;
	engine->n_endpoints++;
	return strcmp(text, "4711") == 0 ? 0 : -EINVAL;
}

int nm_engine_set_servers(struct nm_engine *engine, uint32_t group, const struct nm_instr *connect,
			  const struct nm_addr *servers, uint32_t n, char *why, size_t why_size)
{
	(void)engine;
	(void)group;
	(void)connect;
	(void)servers;
	(void)why;
	(void)why_size;
	return n ? 0 : -EINVAL;
}

bool nm_engine_endpoints_complete(const struct nm_engine *engine)
{
	(void)engine;
	return true;
}

int nm_engine_start(struct nm_engine *engine)
{
	return engine->config.plan->master ? 0 : -fake_script.no_start;
}

int nm_engine_fd(const struct nm_engine *engine)
{
	return engine->fd;
}

void nm_engine_clear(struct nm_engine *engine)
{
	uint64_t count;
	ssize_t got = read(engine->fd, &count, sizeof count);

	(void)got;
}

static struct fake_part *part_of(const struct nm_engine *engine, uint32_t group)
{
	return (struct fake_part *)&engine->parts[group][engine->phase];
}

static const struct nm_phase *phase_of(const struct nm_engine *engine, uint32_t group)
{
	const struct nm_group *g = &engine->config.plan->groups[group];

	return g->runs && engine->phase < g->n_phases ? &g->phases[engine->phase] : NULL;
}

/* The group has done its passes: this many of each worker. */
static void finish(struct nm_engine *engine, uint32_t group, const uint64_t *passes)
{
	struct fake_part *part = part_of(engine, group);
	const struct nm_group *g = &engine->config.plan->groups[group];
	bool master = engine->config.plan->master;

	if (part->done || (master && fake_script.master_stalls))
		return;
	for (uint32_t w = 0; w < g->n_workers && w < FAKE_WORKERS; w++) {
		part->passes[w] = passes[w];
		part->sample.counts.iterations += passes[w];
		part->operations += passes[w];
	}
	part->sample.counts.bytes_sent = part->sample.counts.bytes_received =
		part->sample.counts.iterations * PASS_BYTES;
	if (!master)
		part->sample.counts.bytes_sent += fake_script.slave_sends;
	part->end_ns = nm_clock_ns();
	part->passed = part->done = true;
	notify(engine);
}

static void fail(struct nm_engine *engine, int error)
{
	if (!error || engine->phase)
		return;
	engine->failed = true;
	engine->error = (struct nm_engine_error){
		.line = 7, .flowop = "connect", .site = UINT32_MAX, .error = error, .count = 1};
	notify(engine);
}

void nm_engine_begin(struct nm_engine *engine, uint32_t phase)
{
	const struct nm_plan *plan = engine->config.plan;

	engine->phase = phase;
	for (uint32_t g = 0; fake_script.works && g < plan->n_groups; g++) {
		const struct nm_phase *p = phase_of(engine, g);
		uint64_t passes[FAKE_WORKERS];

		if (!p)
			continue;
		part_of(engine, g)->begin_ns =
			nm_clock_ns() + (plan->master ? fake_script.late_ns : 0);
		part_of(engine, g)->sample.kept =
			engine->config.measures && p->measured ? 1u << NM_TIME_LATENCY : 0;
		nm_hist_snap_init(&part_of(engine, g)->sample.latency);
		for (uint32_t w = 0; w < FAKE_WORKERS; w++)
			passes[w] = p->iterations;
		if (p->iterations && !p->duration_ns && (p->leads || !p->counts.may_lose))
			finish(engine, g, passes);
	}
	if (!plan->master && fake_script.reconnects) {
		engine->reconnects[0] = fake_script.reconnects;
		notify(engine);
	}
	fail(engine, plan->master ? fake_script.master_fails : fake_script.slave_fails);
}

void nm_engine_stop(struct nm_engine *engine, uint32_t group, bool interrupted)
{
	uint64_t passes[FAKE_WORKERS];

	(void)interrupted;
	for (uint32_t w = 0; w < FAKE_WORKERS; w++)
		passes[w] = fake_script.passes;
	if (fake_script.works)
		finish(engine, group, passes);
}

void nm_engine_follow(struct nm_engine *engine, uint32_t group, const uint64_t *totals)
{
	if (fake_script.works)
		finish(engine, group, totals);
}

uint32_t nm_engine_reconnects(const struct nm_engine *engine, uint32_t group)
{
	return engine->reconnects[group];
}

void nm_engine_reconnect(struct nm_engine *engine, uint32_t group)
{
	(void)engine;
	(void)group;
}

uint64_t nm_engine_ends_ns(const struct nm_engine *engine, uint32_t phase, bool eager)
{
	(void)engine;
	(void)phase;
	if (!fake_script.awaits_resets)
		return 0;
	return eager ? 10000000 : 100000000;
}

void nm_engine_look_for_ends(struct nm_engine *engine, bool eager)
{
	engine->ends_looks++;
	engine->ends_eager += eager;
}

struct nm_engine_ends nm_engine_ends(const struct nm_engine *engine)
{
	return engine->ends;
}

const struct nm_idle_path *nm_engine_idle_path(const struct nm_engine *engine, uint32_t group,
					       uint32_t phase)
{
	static const struct nm_idle_path none;

	(void)engine;
	(void)group;
	(void)phase;
	return &none;
}

bool nm_engine_group_passed(const struct nm_engine *engine, uint32_t group)
{
	return part_of(engine, group)->passed;
}

void nm_engine_drain(struct nm_engine *engine, uint32_t group, const uint64_t *bytes)
{
	(void)bytes;
	part_of(engine, group)->done = true;
}

bool nm_engine_group_done(const struct nm_engine *engine, uint32_t group)
{
	return !phase_of(engine, group) || part_of(engine, group)->done;
}

bool nm_engine_done(const struct nm_engine *engine)
{
	(void)engine;
	return true;
}

uint64_t nm_engine_iterations(const struct nm_engine *engine, uint32_t group, uint32_t worker)
{
	return part_of(engine, group)->passes[worker];
}

bool nm_engine_failed(const struct nm_engine *engine, struct nm_engine_error *ret_error)
{
	if (engine->failed)
		*ret_error = engine->error;
	return engine->failed;
}

void nm_engine_times(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		     uint64_t *ret_begin_ns, uint64_t *ret_end_ns)
{
	uint64_t begin_ns = engine->parts[group][phase].begin_ns;
	bool is_due = !fake_script.late_ns || begin_ns <= nm_clock_ns();

	*ret_begin_ns = is_due ? begin_ns : 0;
	*ret_end_ns = engine->parts[group][phase].end_ns;
}

void nm_engine_sample(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_tally_snap *ret_sample)
{
	*ret_sample = engine->parts[group][phase].sample;
}

void nm_engine_counts(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_counts *ret_counts)
{
	fake_counts_read++;
	*ret_counts = engine->parts[group][phase].sample.counts;
}

bool nm_engine_cuts(const struct nm_engine *engine, uint32_t group, uint32_t phase)
{
	(void)engine;
	(void)group;
	(void)phase;
	return false;
}

void nm_engine_sample_due(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			  struct nm_tally_snap *ret_sample)
{
	nm_engine_sample(engine, group, phase, ret_sample);
}

void nm_engine_counts_due(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			  struct nm_counts *ret_counts)
{
	nm_engine_counts(engine, group, phase, ret_counts);
}

uint32_t nm_engine_steps(const struct nm_engine *engine, uint32_t group, uint32_t phase)
{
	(void)engine;
	(void)group;
	(void)phase;
	return 0;
}

void nm_engine_sample_step(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			   uint32_t step, struct nm_tally_snap *ret_sample)
{
	(void)step;
	nm_engine_sample(engine, group, phase, ret_sample);
}

void nm_engine_conn_summary(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			    struct nm_conn_summary *ret_summary)
{
	(void)group;
	(void)phase;
	*ret_summary = engine->connections;
}

uint64_t nm_engine_received(const struct nm_engine *engine)
{
	(void)engine;
	return 0;
}

uint64_t nm_engine_progress(const struct nm_engine *engine)
{
	uint64_t sum = 0;

	for (int g = 0; g < FAKE_GROUPS; g++)
		for (int p = 0; p < FAKE_PHASES; p++)
			sum += engine->parts[g][p].sample.counts.iterations;
	return sum;
}

unsigned nm_engine_details(const struct nm_engine *engine)
{
	return engine->config.details;
}

void nm_engine_step_sums(const struct nm_engine *engine, uint32_t group, uint32_t instr,
			 struct nm_flowop_sums *ret_sums, struct nm_hist_snap *ret_times)
{
	(void)engine;
	(void)group;
	*ret_sums = (struct nm_flowop_sums){.operations = instr + 1};
	if (ret_times)
		nm_hist_snap_init(ret_times);
}

void nm_engine_flow_sums(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			 struct nm_flowop_sums *ret_sums)
{
	(void)engine;
	(void)group;
	*ret_sums = (struct nm_flowop_sums){.operations = flow + 1};
}

void nm_engine_flow_epoch(const struct nm_engine *engine)
{
	(void)engine;
}

void nm_engine_flow_sample(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			   struct nm_flow_sample *ret_sample)
{
	(void)group;
	*ret_sample = engine->flows[flow % FAKE_FLOWS];
}

bool nm_engine_flow_times(const struct nm_engine *engine, uint32_t group, uint32_t flow,
			  struct nm_hist_snap *ret_times)
{
	(void)group;
	(void)flow;
	if (engine->flow_times)
		*ret_times = *engine->flow_times;
	return engine->flow_times;
}

uint64_t nm_engine_operations(const struct nm_engine *engine, uint32_t group, uint32_t phase)
{
	return engine->parts[group][phase].operations;
}

size_t nm_engine_take_execs(struct nm_engine *engine, struct nm_exec_record *list, size_t room)
{
	size_t n = engine->n_execs < room ? engine->n_execs : room;

	memcpy(list, engine->execs, n * sizeof *list);
	engine->n_execs = 0;
	return n;
}

uint64_t nm_engine_lost_execs(const struct nm_engine *engine)
{
	return engine->lost_execs;
}

void nm_engine_tcp_ask(const struct nm_engine *engine)
{
	((struct nm_engine *)engine)->tcp_asked = true;
}

bool nm_engine_tcp_answered(const struct nm_engine *engine)
{
	return engine->tcp_answered;
}

void nm_engine_tcp_read(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg)
{
	for (size_t i = 0; i < engine->n_tcp; i++)
		fn(arg, &engine->tcp[i]);
}

void nm_engine_tcp_read_last(const struct nm_engine *engine, nm_tcp_sample_fn fn, void *arg)
{
	nm_engine_tcp_read(engine, fn, arg);
}

int nm_thread_start(struct nm_thread *thread, size_t stack_bytes, void *(*run)(void *arg),
		    void *arg)
{
	(void)stack_bytes;
	thread->started = pthread_create(&thread->id, NULL, run, arg) == 0;
	return thread->started ? 0 : -EAGAIN;
}

void nm_thread_join(struct nm_thread *thread)
{
	if (thread->started)
		(void)pthread_join(thread->id, NULL);
	thread->started = false;
}

void nm_engine_places_ask(const struct nm_engine *engine)
{
	fake_places_asked += engine->config.plan->master;
}

bool nm_engine_places_answered(const struct nm_engine *engine)
{
	(void)engine;
	return true;
}

void nm_engine_places_read(const struct nm_engine *engine, struct nm_flow_places *ret_places)
{
	(void)engine;
	*ret_places = (struct nm_flow_places){
		.list = {{.group = 0, .site = 0, .wait = NM_FLOW_WAIT_INPUT, .flows = 3}},
		.count = 1};
}
