/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attributes of an element by the table of its element. */
#include "plan/attributes.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/diag.h"
#include "plan/diag.h"
#include "plan/params.h"
#include "plan/plan.h"

/* Whether flowops or transports have an option of the name. */
static bool is_option(const char *name)
{
	bool is = false;

	for (const struct nm_flowop *const *op = nm_flowops; *op; op++)
		is |= nm_opt_find((*op)->opts, name) != NULL;
	for (const struct nm_transport *const *t = nm_transports; *t; t++)
		is |= nm_opt_find((*t)->opts, name) != NULL;
	return is || nm_opt_find(nm_common_opts, name);
}

static void unknown_attr(struct nm_ir *ir, const struct nm_node *node, const struct nm_opt *table,
			 const struct nm_attr *attr)
{
	const char *name = attr->name;
	const char *names[32];
	char allowed[256] = "";
	size_t count = 0, used = 0;

	for (; table->name && count < 32; table++) {
		names[count++] = table->name;
		if (used < sizeof allowed)
			used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
						 count > 1 ? ", " : "", table->name);
	}
	const char *nearest = nm_nearest(name, names, count);

	if (strcmp(node->name, "flowop") == 0 && is_option(name)) {
		nm_origin_attr(nm_node_unknown(ir, node,
					       " %s=\"%s\": not an attribute, but an option: "
					       "options=\"%s=%s\"",
					       name, attr->value, name, attr->value),
			       attr);
		return;
	}
	const struct nm_element *owner = nm_element_of_attr(name);

	if (owner) {
		nm_origin_attr(
			nm_node_unknown(ir, node,
					" %s=\"%s\": not an attribute of <%s>: it belongs on <%s>",
					name, attr->value, node->name, owner->name),
			attr);
		return;
	}
	nm_node_unknown(ir, node, ": unknown attribute \"%s\"%s%s%s; %s%s", name,
			nearest ? ", did you mean \"" : "", nearest ? nearest : "",
			nearest ? "\"?" : "", *allowed ? "allowed are " : "it has none", allowed);
}

/* Names that differ only in case are two attributes for XML, and one for netmodel. */
static void check_twice(struct nm_ir *ir, const struct nm_node *node, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (nm_ascii_equals(node->attrs[k].name, node->attrs[i].name))
			nm_node_error(ir, node,
				      ": has both %s and %s, which are the same attribute",
				      node->attrs[k].name, node->attrs[i].name);
}

void nm_ir_list_flowops(char *buf, size_t size)
{
	size_t used = 0;

	for (const struct nm_flowop *const *op = nm_flowops; *op && used < size; op++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s",
					 op != nm_flowops ? ", " : "", (*op)->name);
}

static void missing_attr(struct nm_ir *ir, const struct nm_node *node, const struct nm_opt *opt)
{
	char allowed[256];

	if (strcmp(node->name, "flowop") == 0 && strcmp(opt->name, "type") == 0) {
		nm_ir_list_flowops(allowed, sizeof allowed);
		nm_node_error(ir, node, ": needs type=\"...\": one of %s", allowed);
		return;
	}
	nm_node_error(ir, node, ": needs %s=\"...\": %s", opt->name, opt->help);
}

/* Whether an attribute is given that stands for a required one. */
static bool has_instead(const struct nm_node *node, const struct nm_opt *opt)
{
	bool has = false;

	for (size_t i = 0; i < NM_OPT_UNLESS && opt->unless[i]; i++)
		has |= nm_node_attr(node, opt->unless[i]) != NULL;
	return has;
}

void nm_ir_attrs(struct nm_ir *ir, const struct nm_node *node, void *attrs)
{
	const struct nm_opt *table = nm_element_find(node->name)->attrs;
	char why[256];

	if (nm_opts_defaults(table, attrs) < 0)
		nm_diag_error(ir->diags, ir->file, node->line, "out of memory");
	for (size_t i = 0; i < node->n_attrs; i++) {
		const struct nm_attr *attr = &node->attrs[i];
		const struct nm_opt *opt = nm_opt_find(table, attr->name);

		if (!opt)
			unknown_attr(ir, node, table, attr);
		else if (strstr(attr->value, NM_NO_VALUE) && strcmp(opt->name, "options") != 0)
			ir->lacks_values = true;
		else if (nm_opt_read(opt, (enum nm_reading)ir->attrs.units, attrs, attr->value, why,
				     sizeof why) < 0)
			nm_origin_attr(nm_node_error(ir, node, " %s=\"%s\": %s", attr->name,
						     attr->value, why),
				       attr);
		else if (*why)
			nm_node_warn(ir, node, " %s=\"%s\": %s", attr->name, attr->value, why);
		if (opt)
			check_twice(ir, node, i);
	}
	for (; table->name; table++)
		if (table->required && !nm_node_attr(node, table->name) &&
		    !has_instead(node, table))
			missing_attr(ir, node, table);
}
