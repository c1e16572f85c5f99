/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of a plan: what the requests of its flowops are told apart by in results. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/command.h"
#include "app/http.h"
#include "flowop/ask.h"
#include "flowop/mix.h"
#include "flowop/pseudo_ops.h"
#include "flowop/queue.h"
#include "plan/arena.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/shape.h"

static enum nm_http_method method_of(const struct nm_instr *instr)
{
	return (enum nm_http_method)((const struct nm_opts_ask *)instr->opts)->method;
}

/* A request of HTTP is told by its method, and any other by the name of its flowop. */
static const char *name_of(const struct nm_instr *instr)
{
	switch ((enum nm_verb)instr->op->verb) {
	case NM_VERB_HTTP:
		return nm_http_methods[method_of(instr)];
	case NM_VERB_COMMAND:
		return instr->ask.command->name;
	default:
		return instr->op->name;
	}
}

bool nm_instr_destroys(const struct nm_instr *instr)
{
	switch ((enum nm_verb)instr->op->verb) {
	case NM_VERB_HTTP:
		return method_of(instr) == NM_HTTP_DELETE;
	case NM_VERB_COMMAND:
		return instr->ask.command->destroys;
	default:
		return NM_VERBS_DESTRUCTIVE >> instr->op->verb & 1;
	}
}

/* Its number; a new one has room already. */
static uint16_t number_of(struct nm_plan *plan, const char *name, const struct nm_app *app)
{
	char known[NM_VERB_NAME];
	uint32_t v = 0;

	snprintf(known, sizeof known, "%s", name);
	while (v < plan->n_verbs && strcmp(plan->verbs[v].name, known) != 0)
		v++;
	if (v == plan->n_verbs) {
		memcpy(plan->verbs[v].name, known, sizeof known);
		plan->verbs[plan->n_verbs++].app = app;
	}
	return (uint16_t)v;
}

/* Whether passes begin with the instruction: nothing but what draws or selects stands before it. */
static bool begins_pass(const struct nm_instr *first, const struct nm_instr *instr)
{
	const struct nm_instr *at = first;
	const struct nm_mix *mix = nm_instr_mix(first);

	for (uint32_t m = 0; mix && m < mix->n_members; m++)
		if (first + mix->members[m].at <= instr)
			at = first + mix->members[m].at;
	while (at < instr && at->op == &nm_pseudo_select)
		at++;
	return at == instr;
}

/* The verbs of a server for whoever connects; what is none of them is "other". 0 or -ENOMEM. */
static int number_served(struct nm_plan *plan, struct nm_instr *serve)
{
	const struct nm_app *app = serve->ask.app;
	const uint64_t has = nm_app_served_verbs(app);
	const uint16_t other = number_of(plan, "other", app);
	uint16_t *numbers = calloc(NM_VERB__COUNT, sizeof *numbers);

	for (unsigned v = 0; numbers && v < NM_VERB__COUNT; v++)
		numbers[v] = has & NM_VERB_BIT(v)
				     ? number_of(plan, nm_verb_name((enum nm_verb)v), app)
				     : other;
	serve->ask.verbs = numbers;
	return nm_arena_keep(plan->arena, numbers);
}

/* Numbers what the instruction asks with; passes begin with the first. */
static void number_asked(struct nm_plan *plan, const struct nm_phase *phase,
			 const struct nm_instr *first, struct nm_instr *instr)
{
	if (nm_instr_is_queue(instr)) { /* of requests that have their numbers */
		instr->ask.verb = instr[-1].ask.verb;
		return;
	}
	instr->ask.verb = number_of(plan, name_of(instr), instr->ask.app);
	instr->ask.named = plan->verbs[instr->ask.verb].app->usual != instr->ask.app->usual;
	instr->ask.apart = instr->ask.named || instr->ask.batch || nm_phase_is_open(phase);
	instr->ask.begins = begins_pass(first, instr);
	instr->ask.alone = instr->ask.begins && !nm_instr_mix(first) &&
			   instr + 1 + (phase->pipeline > 0) == first + phase->n_instrs;
}

static int number_phase(struct nm_plan *plan, const struct nm_group *group,
			const struct nm_phase *phase)
{
	struct nm_instr *first = &group->instrs[phase->first];
	int r = 0;

	for (struct nm_instr *i = first; r == 0 && i < first + phase->n_instrs; i++)
		if (nm_instr_serves(i))
			r = number_served(plan, i);
		else if (nm_instr_asks(i))
			number_asked(plan, phase, first, i);
	return r;
}

int nm_plan_number_verbs(struct nm_plan *plan)
{
	uint32_t n = 0;
	int r = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t i = 0; i < plan->groups[g].n_instrs; i++)
			if (nm_instr_asks(&plan->groups[g].instrs[i]))
				n += nm_instr_serves(&plan->groups[g].instrs[i]) ? NM_VERB__COUNT
										 : 1;
	if (!plan->master || !n)
		return 0;
	plan->verbs = calloc(n, sizeof *plan->verbs);
	if (!plan->verbs)
		return -ENOMEM;
	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t p = 0; r == 0 && p < plan->groups[g].n_phases; p++)
			r = number_phase(plan, &plan->groups[g], &plan->groups[g].phases[p]);
	return r;
}
