/* SPDX-License-Identifier: Apache-2.0 */
#include "compiled.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flowop/flowop.h"

#define FILE_NAME "t.xml"

struct compiled compile(const char *text)
{
	struct compiled c = {.root = NULL};

	c.root = nm_profile_parse(FILE_NAME, text, strlen(text), &c.diags);
	if (c.root)
		c.plan = nm_plan_compile(c.root, FILE_NAME, &c.diags);
	return c;
}

struct compiled compile_good(const char *text)
{
	struct compiled c = compile(text);
	char *all = said(&c.diags);

	ck_assert_str_eq(all, "");
	ck_assert_ptr_nonnull(c.plan);
	free(all);
	return c;
}

struct nm_plan *mirror(const struct compiled *compiled, const char *host)
{
	struct nm_diags diags = {0};
	struct nm_plan *plan = nm_plan_compile_mirror(compiled->root, FILE_NAME, host, &diags);
	char *all = said(&diags);

	ck_assert_str_eq(all, "");
	ck_assert_ptr_nonnull(plan);
	free(all);
	nm_diags_fini(&diags);
	return plan;
}

void compiled_fini(struct compiled *compiled)
{
	nm_plan_free(compiled->plan);
	nm_node_free(compiled->root);
	nm_diags_fini(&compiled->diags);
}

char *said(const struct nm_diags *diags)
{
	char *text = NULL, line[1024];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	for (size_t i = 0; i < diags->count; i++) {
		nm_diag_format(&diags->items[i], line, sizeof line);
		fprintf(out, "%s\n", line);
	}
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

const struct nm_instr *instr_at(const struct nm_plan *plan, uint32_t group, uint32_t index)
{
	ck_assert_uint_lt(group, plan->n_groups);
	ck_assert_uint_lt(index, plan->groups[group].n_instrs);
	return &plan->groups[group].instrs[index];
}

char *program(const struct nm_plan *plan, uint32_t group, uint32_t phase)
{
	const struct nm_phase *at = &plan->groups[group].phases[phase];
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	for (uint32_t i = 0; i < at->n_instrs; i++)
		fprintf(out, "%s%s", i ? " " : "", instr_at(plan, group, at->first + i)->op->name);
	ck_assert_int_eq(fclose(out), 0);
	/* Each body ends with an instruction that does nothing. */
	ck_assert(!instr_at(plan, group, at->first + at->n_instrs)->step);
	return text;
}

void assert_program(const struct nm_plan *plan, uint32_t group, uint32_t phase,
		    const char *expected)
{
	char *found = program(plan, group, phase);

	ck_assert_str_eq(found, expected);
	free(found);
}
