/* SPDX-License-Identifier: Apache-2.0 */
/* Empties the engine's log of executions before it is full: the workers do not wait for a slow
 * reader. */
#include "control/responses.h"

#include <stdlib.h>

#include "engine/flowop_stats.h"
#include "flowop/flowop.h"

#define ROWS	4096u	  /* taken at a time */
#define PARTS	32u	  /* times that rows are taken in one turn of the event loop */
#define TAKE_NS 50000000u /* at least so often */

struct nm_response_sampler {
	struct nm_sampler base;
	const struct nm_plan *plan; /* borrowed, all of them */
	struct nm_engine *engine;
	const struct nm_run_options *options;
	struct nm_result *result;
	bool running;
	uint64_t next_ns;
	struct nm_exec_record responses[ROWS];
	struct nm_response_row rows[ROWS];
};

static struct nm_response_sampler *sampler_of(struct nm_sampler *base)
{
	return (struct nm_response_sampler *)base;
}

static uint32_t phase_of(const struct nm_group *group, uint32_t instr)
{
	uint32_t low = 0, high = group->n_phases;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (group->phases[middle].first <= instr)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void fill_row(const struct nm_response_sampler *sampler, const struct nm_exec_record *from,
		     struct nm_response_row *row)
{
	const struct nm_group *group = &sampler->plan->groups[from->group];
	uint32_t phase = phase_of(group, from->instr);
	uint64_t begin_ns, end_ns;

	nm_engine_times(sampler->engine, from->group, phase, &begin_ns, &end_ns);
	*row = (struct nm_response_row){
		.wall_ns = from->end_ns + sampler->result->wall.offset_ns,
		.elapsed_ns = from->elapsed_ns,
		.group = group->name,
		.transaction = group->phases[phase].name,
		.flowop = from->is_pass ? NULL : group->instrs[from->instr].op->name,
		.since_ns = from->end_ns - begin_ns,
		.worker = from->flow % group->n_workers,
		.phase = phase,
		.flow = from->flow,
		.failed = from->failed,
	};
}

/* Takes at most so many parts: workers that are faster than this loop must not keep it busy. */
static void take(struct nm_response_sampler *sampler, unsigned parts)
{
	const struct nm_run_events *events = &sampler->options->events;
	struct nm_response_report *report = &sampler->result->responses;
	size_t n;

	while (parts-- > 0 && (!events->has_room || events->has_room(events->arg)) &&
	       (n = nm_engine_take_execs(sampler->engine, sampler->responses, ROWS)) > 0) {
		for (size_t i = 0; i < n; i++) {
			fill_row(sampler, &sampler->responses[i], &sampler->rows[i]);
			report->passes += sampler->responses[i].is_pass;
		}
		events->responses(events->arg, sampler->rows, n);
		report->told += n;
	}
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_response_sampler *sampler = sampler_of(base);

	(void)order;
	sampler->running = true;
	sampler->next_ns = begin_ns + TAKE_NS;
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	const struct nm_response_sampler *sampler = (const struct nm_response_sampler *)base;

	return sampler->running ? sampler->next_ns : UINT64_MAX;
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_response_sampler *sampler = sampler_of(base);

	if (!sampler->running)
		return;
	take(sampler, PARTS);
	sampler->next_ns = now_ns + TAKE_NS;
}

/* Rows that are still in the log are taken in the next phase, or by the finish. */
static void end(struct nm_sampler *base, uint64_t now_ns)
{
	(void)now_ns;
	sampler_of(base)->running = false;
}

bool nm_responses_wanted(const struct nm_run_options *options)
{
	return ((options->statistics & NM_STAT_RESPONSES) || options->log_passes) &&
	       options->events.responses;
}

struct nm_response_sampler *nm_response_sampler_new(const struct nm_plan *plan,
						    struct nm_engine *engine,
						    const struct nm_run_options *options,
						    struct nm_result *result)
{
	static const struct nm_sampler_ops ops = {
		.begin = begin, .next_ns = next_ns, .run = run, .end = end};
	struct nm_response_sampler *sampler = calloc(1, sizeof *sampler);

	if (!sampler)
		return NULL;
	sampler->base.ops = &ops;
	sampler->plan = plan;
	sampler->engine = engine;
	sampler->options = options;
	sampler->result = result;
	return sampler;
}

struct nm_response_sampler *nm_response_sampler_free(struct nm_response_sampler *responses)
{
	free(responses);
	return NULL;
}

struct nm_sampler *nm_response_sampler_base(struct nm_response_sampler *responses)
{
	return &responses->base;
}

void nm_response_sampler_finish(struct nm_response_sampler *responses)
{
	struct nm_response_report *report = &responses->result->responses;

	take(responses, UINT16_MAX);
	report->lost = nm_engine_lost_execs(responses->engine);
	/* There was no room for the rest. */
	for (size_t n; (n = nm_engine_take_execs(responses->engine, responses->responses, ROWS));)
		report->lost += n;
	if (report->lost)
		nm_result_warn(responses->result,
			       "the log of responses is not complete: %llu of %llu came faster "
			       "than they could be written",
			       (unsigned long long)report->lost,
			       (unsigned long long)(report->told + report->lost));
}
