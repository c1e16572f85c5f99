/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of an element, as the tables of elements have them. */
#ifndef NM_PLAN_ATTRIBUTES_H
#define NM_PLAN_ATTRIBUTES_H

#include "plan/ir.h"

/* Reads the attributes of an element into a struct by its table; complains about unknown ones. */
void nm_ir_attrs(struct nm_ir *ir, const struct nm_node *node, void *attrs);
/* Writes the names of all flowops: "connect, accept, ..." */
void nm_ir_list_flowops(char *buf, size_t size);

#endif
