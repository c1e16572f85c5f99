/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the measured transactions of a profile another duration. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/ascii.h"
#include "plan/arena.h"
#include "plan/ir.h"
#include "plan/plan.h"

/* The parameter that -D sets and that the attribute is made of; NULL: there is none. */
static const struct nm_piece *defined(const struct nm_node *node)
{
	for (size_t i = 0; i < node->n_attrs; i++) {
		const struct nm_attr *attr = &node->attrs[i];

		for (size_t k = 0; nm_ascii_equals(attr->name, "duration") && k < attr->n_pieces;
		     k++)
			if (attr->pieces[k].kind == NM_SUBJECT_DEFINE)
				return &attr->pieces[k];
	}
	return NULL;
}

static int set_durations(const struct nm_ir *ir, const char *text,
			 const struct nm_piece **ret_defined)
{
	int count = 0, error = 0;

	*ret_defined = NULL;
	for (size_t g = 0; g < ir->n_groups; g++)
		for (size_t k = 0; k < ir->groups[g].n_transactions && !error; k++) {
			const struct nm_ir_transaction *t = &ir->groups[g].transactions[k];

			if (!t->measured || !t->has_duration)
				continue;
			*ret_defined = *ret_defined ? *ret_defined : defined(t->node);
			count++;
			/* The tree is the caller's, who may change it. */
			if (!*ret_defined)
				error = nm_node_set_attr((struct nm_node *)(uintptr_t)t->node,
							 "duration", text);
		}
	return error ? error : count;
}

int nm_plan_set_duration(struct nm_node *root, uint64_t ns, const struct nm_piece **ret_defined)
{
	struct nm_diags ignored = {.lenient = true}; /* the compiler finds the mistakes again */
	struct nm_ir ir = {.file = "", .diags = &ignored, .arena = nm_arena_new()};
	char text[32];
	int count = -ENOMEM;

	if (ir.arena) {
		(void)snprintf(text, sizeof text, "%" PRIu64 "ns", ns);
		nm_ir_read(&ir, root);
		nm_ir_check(&ir);
		count = set_durations(&ir, text, ret_defined);
		nm_ir_fini(&ir);
		nm_arena_free(ir.arena);
	}
	nm_diags_fini(&ignored);
	return count;
}
