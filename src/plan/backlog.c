/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what becomes of passes with open arrivals that wait for a free flow. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/plan.h"

/* Reads "send" or "drop(5ms)": the time, 0 for send. */
static int read_late(const char *text, uint64_t *ret_ns)
{
	char time[32];
	int end = 0;

	*ret_ns = 0;
	if (strcmp(text, "send") == 0)
		return 0;
	if (sscanf(text, "drop(%31[^()])%n", time, &end) != 1 || !end || text[end] ||
	    nm_parse_duration(time, NM_READING_NETMODEL, ret_ns) != 0 || !*ret_ns)
		return -EINVAL;
	return 0;
}

void nm_ir_read_backlog(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_transaction *t)
{
	static const char *const attrs[] = {"queue", "late", "drain"};

	for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
		if (nm_node_attr(node, attrs[i]) && !nm_node_attr(node, "arrivals"))
			nm_attr_error(ir, node, attrs[i],
				      " %s=\"%s\": only with arrivals, which become due whether or "
				      "not a flow is free",
				      attrs[i], nm_node_attr(node, attrs[i]));
	/* Centuries are as good as for ever, and can still be added to. */
	if (t->attrs.drain_ns > NM_PLAN_MAX_WAIT_NS)
		t->attrs.drain_ns = NM_PLAN_MAX_WAIT_NS;
	t->arrivals.backlog =
		(struct nm_backlog_rules){.limited = nm_node_attr(node, "queue") != NULL,
					  .queue = (uint32_t)t->attrs.queue,
					  .drain_ns = t->attrs.drain_ns};
	if (t->attrs.late && read_late(t->attrs.late, &t->arrivals.backlog.late_ns) != 0)
		nm_attr_error(ir, node, "late",
			      " late=\"%s\": must be send, or drop(TIME) with a time above 0, as "
			      "drop(5ms)",
			      t->attrs.late);
}
