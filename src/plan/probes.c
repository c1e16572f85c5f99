/* SPDX-License-Identifier: Apache-2.0 */
/* Puts solitary flows before transactions with slowdown="auto": each is the transaction itself in a
 * closed loop, made by the first flow of the group alone while nobody else does anything. */
#include "plan/probes.h"

#include <errno.h>
#include <stdio.h>

#include "base/ascii.h"
#include "plan/insert.h"
#include "plan/ir.h"

/* As long as it takes, but for a path so slow that the largest flows would take minutes, which do
 * not begin then. */
#define MOST_TIME "5s"

static struct nm_node *probe_of(const struct nm_ir_transaction *t)
{
	struct nm_node *node = nm_node_new("transaction", t->line);
	char name[128];
	int error = node ? 0 : -ENOMEM;

	(void)snprintf(name, sizeof name, "idle path%s%.100s", t->attrs.name ? " of " : "",
		       t->attrs.name ? t->attrs.name : "");
	for (size_t i = 0; !error && i < t->node->n_children; i++)
		error = nm_node_insert(node, i, nm_node_copy(t->node->children[i]));
	if (error || nm_node_set_attr(node, "name", name) != 0 ||
	    nm_node_set_attr(node, "duration", MOST_TIME) != 0 ||
	    nm_node_set_attr(node, "measure", "no") != 0 ||
	    nm_node_set_attr(node, "slowdown", "probe") != 0)
		return nm_node_free(node);
	return node;
}

/* The others do nothing meanwhile, and count their phases alike. */
static int add_probe(const struct nm_ir *ir, const struct nm_ir_group *of, size_t k)
{
	int error = 0;

	for (size_t g = 0; g < ir->n_groups && !error; g++) {
		const struct nm_ir_group *group = &ir->groups[g];
		const struct nm_ir_transaction *t = &group->transactions[k];

		if (k < group->n_transactions)
			error = nm_ir_insert(group, t,
					     group == of ? probe_of(t)
							 : nm_node_new("transaction", t->line));
	}
	return error;
}

static int add_probes(const struct nm_ir *ir, const void *arg)
{
	int error = 0;

	(void)arg;
	for (size_t g = 0; g < ir->n_groups && !ir->diags->n_errors; g++) {
		const struct nm_ir_group *group = &ir->groups[g];

		for (size_t k = 0; k < group->n_transactions && !error; k++)
			if (group->transactions[k].ideal.kind == NM_IDEAL_MEASURED)
				error = add_probe(ir, group, k);
	}
	return error;
}

/* Whether any transaction may need it: others are not read twice. */
static bool may_need(const struct nm_node *node)
{
	const char *slowdown = nm_node_attr(node, "slowdown");
	bool may = slowdown && nm_ascii_equals(slowdown, "auto");

	for (size_t i = 0; i < node->n_children && !may; i++)
		may = may_need(node->children[i]);
	return may;
}

int nm_plan_add_probes(struct nm_node *root)
{
	return may_need(root) ? nm_ir_change(root, add_probes, NULL) : 0;
}
