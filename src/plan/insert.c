/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a tree for those who put transactions into it, and finds the places. */
#include "plan/insert.h"

#include <errno.h>
#include <stdint.h>

#include "plan/arena.h"
#include "plan/ir.h"

int nm_ir_change(struct nm_node *root, int (*change)(const struct nm_ir *ir, const void *arg),
		 const void *arg)
{
	struct nm_diags ignored = {.lenient = true};
	struct nm_ir ir = {.file = "", .diags = &ignored, .arena = nm_arena_new()};
	int ret = -ENOMEM;

	if (ir.arena) {
		nm_ir_read(&ir, root);
		nm_ir_check(&ir);
		ret = change(&ir, arg);
		nm_ir_fini(&ir);
		nm_arena_free(ir.arena);
	}
	nm_diags_fini(&ignored);
	return ret;
}

int nm_ir_insert(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
		 struct nm_node *before)
{
	/* The tree is the caller's, who may change it. */
	struct nm_node *parent = (struct nm_node *)(uintptr_t)group->node;
	size_t at = 0;

	while (at < parent->n_children && parent->children[at] != t->node)
		at++;
	if (at < parent->n_children)
		return nm_node_insert(parent, at, before);
	nm_node_free(before);
	return -EINVAL;
}
