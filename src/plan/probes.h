/* SPDX-License-Identifier: Apache-2.0 */
/* Solitary flows, with which those of slowdown="auto" are compared. */
#ifndef NM_PLAN_PROBES_H
#define NM_PLAN_PROBES_H

struct nm_node;

/* Puts a transaction of them before each of the substituted tree that needs one. 0 or -ENOMEM. */
int nm_plan_add_probes(struct nm_node *root);

#endif
