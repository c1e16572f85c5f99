/* SPDX-License-Identifier: Apache-2.0 */
/* One script on both kernels. */
#include "conform.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "script.h"
#include "shrink.h"
#include "world.h"

#define SETTLE_NS 100000 /* of a world's time: many delays of its link */

/* Behind a call the machine's kernel mostly has done all that it does. Only a script that differs
 * is run again with more time: what tells of the last room, or that the other end has got the end,
 * which is an event, may be 40 ms late. */
static void settle_at_once(void)
{
}

static void settle_soon(void)
{
	(void)poll(NULL, 0, 2);
}

static void settle_all(void)
{
	(void)poll(NULL, 0, 50);
}

static const struct sim_patience patience[] = {
	{.settle = settle_at_once, .full_ms = 3},
	{.settle = settle_soon, .full_ms = 100},
	{.settle = settle_all, .full_ms = 100},
};

static void settle_world(void)
{
	(void)sim_block(NULL, NULL, sim_now() + SETTLE_NS, "settle");
}

static const struct sim_patience patience_in_world = {.settle = settle_world, .full_ms = 3};

static void perform_in_world(const struct sim_script *script, const struct sim_choices *choices,
			     sim_says *ret_said)
{
	struct sim_kernel_state state;

	sim_begin(choices->seed);
	sim_kernel_begin(choices);
	(void)sim_script_perform(script, choices->without, &patience_in_world, NULL, ret_said);
	sim_kernel_end(&state);
	sim_end();
}

/* The first step of which they do not say the same; SIM_STEPS: there is none. */
static unsigned compare(const struct sim_choices *choices, struct sim_script *script,
			sim_says *ret_simulated, sim_says *ret_real)
{
	unsigned step = 0;

	(void)signal(SIGPIPE, SIG_IGN);
	sim_script_of_seed(choices->seed, script);
	perform_in_world(script, choices, ret_simulated);
	for (size_t i = 0; step < SIM_STEPS && i < sizeof patience / sizeof *patience; i++)
		step = sim_script_perform(script, choices->without, &patience[i], ret_simulated,
					  ret_real);
	return step;
}

void sim_conform(const struct sim_choices *choices, struct sim_outcome *ret)
{
	struct sim_script script;
	sim_says simulated, real;
	unsigned step = compare(choices, &script, &simulated, &real);

	*ret = (struct sim_outcome){.hash = 0};
	if (step < SIM_STEPS)
		(void)snprintf(ret->why, sizeof ret->why, "%s says \"%s\" instead of \"%s\"",
			       sim_script_calls[script.steps[step].call].name, simulated[step],
			       real[step]);
}

void sim_conform_print(const struct sim_choices *choices)
{
	struct sim_script script;
	sim_says simulated, real;
	char line[SIM_SAY_BYTES];
	unsigned step = compare(choices, &script, &simulated, &real);

	for (unsigned i = 0; i < SIM_STEPS && i <= step; i++) {
		if (choices->without & UINT64_C(1) << i)
			continue;
		sim_step_print(&script.steps[i], line);
		printf("%2u  %-28s %s", i, line, simulated[i]);
		if (i == step)
			printf("   <-- instead of: %s", real[i]);
		printf("\n");
	}
}

static unsigned all_steps(const struct sim_choices *choices)
{
	(void)choices;
	return SIM_STEPS;
}

const struct sim_kind sim_scripts = {.run = sim_conform, .elements = all_steps};
