/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers the begin of passes of which several may be under way. */
#ifndef NM_PLAN_LOWER_PIPELINE_H
#define NM_PLAN_LOWER_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/app.h"
#include "plan/ir.h"
#include "plan/plan.h"

/* Emits the instruction that the passes of t's phase begin with, behind all others of it: see
 * flowop/pipeline.h, window.h and queue.h. */
void nm_pipeline_lower(struct nm_group *group, const struct nm_ir_group *from,
		       const struct nm_ir_transaction *t, struct nm_phase *phase);

/* The most bytes of a request of the app, but for its payload. */
uint32_t nm_request_head_bytes(const struct nm_app *app, bool commands);

#endif
