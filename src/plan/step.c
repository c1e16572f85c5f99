/* SPDX-License-Identifier: Apache-2.0 */
/* What a step does, as all checks ask. */
#include "plan/ir.h"

bool nm_ir_has_conn(const struct nm_ir_step *step)
{
	return step->op->flags & (NM_FLOWOP_OPENS | NM_FLOWOP_USES);
}

bool nm_ir_acts(const struct nm_ir_step *step)
{
	return (step->op->flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_FOLLOWS)) && step->common->count;
}

bool nm_ir_is_to_server(const struct nm_ir_step *step)
{
	return nm_flowop_is_to_server(step->op, step->opts);
}

bool nm_ir_is_skipped(const struct nm_ir_transaction *t)
{
	return t->n_steps == 0 || (!t->has_duration && t->attrs.iterations == 0);
}

bool nm_ir_moves_messages(const struct nm_ir_step *step)
{
	return step->transport && (step->transport->caps & NM_TRANSPORT_MESSAGES) &&
	       (step->op->flags & NM_FLOWOP_MOVES);
}
