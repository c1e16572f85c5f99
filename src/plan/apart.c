/* SPDX-License-Identifier: Apache-2.0 */
/* Finds groups whose measured transactions are in different phases: what one reads as a mix of
 * traffic then never runs at the same time. */
#include <stdio.h>
#include <stdlib.h>

#include "plan/ir.h"

#define MAX_NAMED 6 /* groups that are named; more are counted */

/* The first measured transaction of the group; n_transactions when there is none. */
static size_t first_measured(const struct nm_ir_group *group)
{
	size_t k = 0;

	while (k < group->n_transactions && !group->transactions[k].measured)
		k++;
	return k;
}

static bool is_measured(const struct nm_ir_group *group)
{
	return first_measured(group) < group->n_transactions;
}

/* Whether the profile says that the group is to do nothing in that phase. */
static bool waits_in(const struct nm_ir_group *group, size_t phase)
{
	const struct nm_ir_transaction *t =
		phase < group->n_transactions ? &group->transactions[phase] : NULL;

	if (!t || t->left_out)
		return false;
	for (size_t i = 0; !nm_ir_is_skipped(t) && i < t->n_steps; i++)
		if (nm_ir_has_conn(&group->steps[t->first + i]) ||
		    nm_ir_wait_ns(&group->steps[t->first + i]))
			return false;
	return true;
}

/* Whether a group does nothing, on purpose, in all phases in which another is measured. */
static bool makes_way(const struct nm_ir_group *group, const struct nm_ir_group *other)
{
	for (size_t k = 0; k < other->n_transactions; k++)
		if (other->transactions[k].measured && !waits_in(group, k))
			return false;
	return true;
}

/* Whether no phase measures both groups, although the profile does not ask for that. */
static bool are_apart(const struct nm_ir_group *a, const struct nm_ir_group *b)
{
	for (size_t k = 0; k < a->n_transactions && k < b->n_transactions; k++)
		if (a->transactions[k].measured && b->transactions[k].measured)
			return false;
	return is_measured(a) && is_measured(b) && !makes_way(a, b) && !makes_way(b, a);
}

/* The group that is measured earliest of those that are apart from another; NULL: there is
 * none. */
static const struct nm_ir_group *find_early(const struct nm_ir *ir)
{
	const struct nm_ir_group *early = NULL;

	for (size_t g = 0; g < ir->n_groups; g++)
		for (size_t h = 0; h < ir->n_groups; h++)
			if (are_apart(&ir->groups[g], &ir->groups[h]) &&
			    (!early || first_measured(&ir->groups[g]) < first_measured(early)))
				early = &ir->groups[g];
	return early;
}

/* "group lookup is measured in phase 2 (transaction "get", line 9)" */
static void print_group(const struct nm_ir *ir, const struct nm_ir_group *group, FILE *out)
{
	size_t k = first_measured(group);
	const struct nm_ir_transaction *t = &group->transactions[k];

	if (group->attrs.name)
		fprintf(out, "group %s", group->attrs.name);
	else
		fprintf(out, "group Group%zu", (size_t)(group - ir->groups));
	fprintf(out, " is measured in phase %zu (", k + 1);
	if (t->attrs.name)
		fprintf(out, "transaction %s, ", t->attrs.name);
	fprintf(out, "line %u)", t->line);
}

/* How many phases the early group has to wait for the first of the others. */
static size_t print_others(const struct nm_ir *ir, const struct nm_ir_group *early, FILE *out)
{
	size_t n_named = 0, n_more = 0, phase = 0;

	for (size_t g = 0; g < ir->n_groups; g++) {
		const struct nm_ir_group *group = &ir->groups[g];

		if (!are_apart(early, group))
			continue;
		if (!phase || first_measured(group) < phase)
			phase = first_measured(group);
		if (n_named == MAX_NAMED) {
			n_more++;
			continue;
		}
		fputs(n_named++ ? ", " : ", but ", out);
		print_group(ir, group, out);
	}
	if (n_more)
		fprintf(out, ", and %zu more groups in others", n_more);
	return phase - first_measured(early);
}

char *nm_ir_tell_apart(const struct nm_ir *ir, unsigned *ret_line)
{
	const struct nm_ir_group *early = find_early(ir);
	char *text = NULL;
	size_t size = 0;
	FILE *out = early ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	*ret_line = early->transactions[first_measured(early)].line;
	print_group(ir, early, out);
	size_t n_waits = print_others(ir, early, out);

	fputs(": they do not run at the same time; put ", out);
	if (n_waits == 1)
		fputs("an", out);
	else
		fprintf(out, "%zu", n_waits);
	fprintf(out, " empty <transaction/> before line %u to let the first wait", *ret_line);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
