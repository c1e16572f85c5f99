/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of transactions with several requests outstanding. */
#ifndef NM_PLAN_PIPELINE_CHECK_H
#define NM_PLAN_PIPELINE_CHECK_H

#include "plan/ir.h"

/* Whether each pass is a request over one stream, of which several may be outstanding as their
 * answers come in order. */
bool nm_ir_is_queue(const struct nm_ir_group *group, const struct nm_ir_transaction *t);
/* Whether each is a query, of which several may be outstanding on one socket. */
bool nm_ir_is_window(const struct nm_ir_group *group, const struct nm_ir_transaction *t);
/* Refuses what cannot go with them. leader: as nm_ir_leader has it. */
void nm_ir_check_pipeline(struct nm_ir *ir, const struct nm_ir_group *group,
			  const struct nm_ir_transaction *t, uint32_t leader);

#endif
