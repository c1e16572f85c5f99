/* SPDX-License-Identifier: Apache-2.0 */
/* Paces the transactions that do nothing but open connections, as the group's attribute says. */
#include "plan/diag.h"
#include "plan/ir.h"

/* How many connections a pass opens; 0: it does something else, too. */
static unsigned opened_by(const struct nm_ir_group *group, const struct nm_ir_transaction *t)
{
	unsigned count = 0;

	NM_EACH_STEP(step, group, t)
		if (step->op->flags & NM_FLOWOP_OPENS)
			count++;
		else if (!(step->op->flags & NM_FLOWOP_HANDSHAKES))
			return 0;
	return count;
}

void nm_ir_pace_connects(struct nm_ir *ir, struct nm_ir_group *group)
{
	double per_s = group->attrs.connect_rate_per_s;
	bool paces = false;

	for (size_t k = 0; per_s > 0 && k < group->n_transactions; k++) {
		struct nm_ir_transaction *t = &group->transactions[k];
		unsigned count = opened_by(group, t);

		if (!count || t->has_duration || t->attrs.rate_per_s > 0)
			continue;
		t->attrs.rate_per_s = per_s / ((double)group->attrs.nflows * count);
		paces = true;
	}
	if (per_s > 0 && !paces)
		nm_attr_error(ir, group->node, "connect_rate",
			      " connect_rate: no transaction does nothing but open connections, "
			      "without a duration or a rate of its own");
}
