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
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/shape.h"

/* A request of HTTP is told by its method, and any other by the name of its flowop. */
static const char *name_of(const struct nm_instr *instr)
{
	const struct nm_opts_ask *opts = instr->opts;

	switch ((enum nm_verb)instr->op->verb) {
	case NM_VERB_HTTP:
		return nm_http_methods[opts->method];
	case NM_VERB_COMMAND:
		return instr->ask.command->name;
	default:
		return instr->op->name;
	}
}

/* Its number; a new one has room already. */
static uint16_t number_of(struct nm_plan *plan, const char *name)
{
	char known[NM_VERB_NAME];
	uint32_t v = 0;

	snprintf(known, sizeof known, "%s", name);
	while (v < plan->n_verbs && strcmp(plan->verbs[v].name, known) != 0)
		v++;
	if (v == plan->n_verbs)
		memcpy(plan->verbs[plan->n_verbs++].name, known, sizeof known);
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

int nm_plan_number_verbs(struct nm_plan *plan)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++)
		for (uint32_t i = 0; i < plan->groups[g].n_instrs; i++)
			n += nm_instr_asks(&plan->groups[g].instrs[i]);
	if (!plan->master || !n)
		return 0;
	plan->verbs = calloc(n, sizeof *plan->verbs);
	if (!plan->verbs)
		return -ENOMEM;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (uint32_t p = 0; p < group->n_phases; p++) {
			struct nm_instr *first = &group->instrs[group->phases[p].first];

			for (uint32_t i = 0; i < group->phases[p].n_instrs; i++) {
				if (!nm_instr_asks(&first[i]))
					continue;
				first[i].ask.verb = number_of(plan, name_of(&first[i]));
				first[i].ask.begins = begins_pass(first, &first[i]);
				first[i].ask.alone = first[i].ask.begins && !nm_instr_mix(first) &&
						     i + 1 + (group->phases[p].pipeline > 0) ==
							     group->phases[p].n_instrs;
			}
		}
	}
	return 0;
}
