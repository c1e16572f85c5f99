/* SPDX-License-Identifier: Apache-2.0 */
/* The short forms that a profile may have: <params names="...">, and <param sets="connect.cc">. */
#ifndef NM_PLAN_SHORTHAND_H
#define NM_PLAN_SHORTHAND_H

#include "base/opt.h"

struct nm_diags;
struct nm_flowop;
struct nm_node;
struct nm_standard_param;

/* Writes out the short forms in the tree, in place; a tree without any stays as it is. Nothing is
 * read but the tree and the tables of this program. Later steps know <param> with type, default,
 * choices and help only:
 *
 * - Each name in <params names="..."> becomes a <param> of the table of standard parameters
 *   (standard.h), at the line of <params>; name=value has another default.
 * - A <param> with sets="connect.cc" takes type, choices, default and help of that option, where it
 *   has none of its own, and each connect that has the option and does not give it gets cc=$NAME.
 *
 * Mistakes go to diags; all other short forms are written out all the same. Running out of memory
 * is an error in diags, too. */
void nm_shorthand_expand(struct nm_node *root, const char *file, struct nm_diags *diags);

/* The option that the first word of a text such as "connect.cc accept.cc" means; NULL: none.
 * *ret_op is its flowop, or NULL where it is an attribute of groups, or the word begins with no
 * flowop. */
const struct nm_opt *nm_shorthand_option(const char *target, const struct nm_flowop **ret_op);

/* The type of the values of a standard parameter: its own, or that of the option that it sets. */
enum nm_type nm_shorthand_type(const struct nm_standard_param *param);

#endif
