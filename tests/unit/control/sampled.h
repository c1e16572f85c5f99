/* SPDX-License-Identifier: Apache-2.0 */
/* What is read while a phase runs, by a clock and an engine that stand still until the test moves
 * them: what the tests of samplers share. */
#ifndef NM_TESTS_UNIT_CONTROL_SAMPLED_H
#define NM_TESTS_UNIT_CONTROL_SAMPLED_H

#include <check.h>
#include <stdlib.h>

#include "control/options.h"
#include "control/sampler.h"
#include "fake_engine.h"
#include "flowop/flowop.h"
#include "result/result.h"

#define S UINT64_C(1000000000)

static struct nm_phase phases[2];
static struct nm_instr instrs[2];
static struct nm_group group;
static struct nm_plan plan;
static struct nm_engine *engine;
static struct nm_run_options options;
static struct nm_result *result;
static struct nm_samplers samplers;
static struct nm_phase_order order;

/* One group of two flows: a phase that is not measured, and one that is, of 10 s. */
static inline void start(void)
{
	static char name[] = "web", nothing[] = "", measured[] = "load";

	instrs[0] = instrs[1] = (struct nm_instr){.op = nm_flowop_find("nop")};
	phases[0] = (struct nm_phase){.name = nothing, .iterations = 1, .first = 0, .n_instrs = 1};
	phases[1] = (struct nm_phase){.name = measured,
				      .measured = true,
				      .duration_ns = 10 * S,
				      .first = 1,
				      .n_instrs = 1};
	group = (struct nm_group){.name = name,
				  .runs = true,
				  .n_flows = 2,
				  .n_workers = 1,
				  .n_phases = 2,
				  .phases = phases,
				  .instrs = instrs,
				  .n_instrs = 2};
	plan = (struct nm_plan){.master = true, .groups = &group, .n_groups = 1, .n_phases = 2};
	order = (struct nm_phase_order){
		.phase = 1, .measured = true, .stop_ns = 10 * S, .usage_to_ns = NM_USAGE_AT_END};
	nm_run_options_default(&options);
	options.interval_ns = S;
	result = nm_result_new();
	ck_assert_ptr_nonnull(result);
	result->wall.offset_ns = 1000 * S;
	result->groups = calloc(1, sizeof *result->groups);
	result->n_groups = 1;
	result->groups[0].phases = calloc(2, sizeof *result->groups[0].phases);
	result->groups[0].n_phases = 2;
	samplers = (struct nm_samplers){.first = NULL};
	const struct nm_engine_config config = {.plan = &plan,
						.details = NM_OBSERVE_ALL & ~NM_OBSERVE_PASS_TIMES};

	ck_assert_int_eq(nm_engine_new(&config, &engine), 0);
	engine->phase = 1;
	engine->parts[0][1].begin_ns = 100 * S;
}

static inline void end(void)
{
	engine = nm_engine_free(engine);
	result = nm_result_free(result);
}

/* What the group has sent by now, in as many passes. */
static inline void sent(uint64_t bytes)
{
	struct fake_part *part = &engine->parts[0][1];

	part->sample.counts.bytes_sent = bytes;
	part->sample.counts.iterations = part->operations = bytes / 10;
}

static inline void begin(uint64_t at_ns)
{
	nm_samplers_begin(&samplers, &order, at_ns);
}

static inline void run(uint64_t now_ns)
{
	nm_samplers_run(&samplers, now_ns);
}

#endif
