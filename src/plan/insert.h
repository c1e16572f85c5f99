/* SPDX-License-Identifier: Apache-2.0 */
/* Puts transactions into a substituted tree, before it is compiled. */
#ifndef NM_PLAN_INSERT_H
#define NM_PLAN_INSERT_H

struct nm_ir;
struct nm_ir_group;
struct nm_ir_transaction;
struct nm_node;

/* Has `change` change the tree by what it says: what that answers, or -ENOMEM. Mistakes are told to
 * nobody, as the compiler finds them again. */
int nm_ir_change(struct nm_node *root, int (*change)(const struct nm_ir *ir, const void *arg),
		 const void *arg);
/* Puts a node, which is given away and NULL without memory, before a transaction of the group. 0,
 * -ENOMEM or -EINVAL. */
int nm_ir_insert(const struct nm_ir_group *group, const struct nm_ir_transaction *t,
		 struct nm_node *before);

#endif
