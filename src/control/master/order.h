/* SPDX-License-Identifier: Apache-2.0 */
/* The order that all hosts get when a phase begins: made from the master's plan and the options.
 * Pure. */
#ifndef NM_CONTROL_MASTER_ORDER_H
#define NM_CONTROL_MASTER_ORDER_H

#include <stdint.h>

#include "control/options.h"
#include "control/wire/codec.h"
#include "plan/plan.h"

/* The first and the last phase in which any group is measured; UINT32_MAX: none is. */
void nm_order_measured(const struct nm_plan *plan, uint32_t *ret_first, uint32_t *ret_last);
/* The order of a phase. */
void nm_order_make(const struct nm_plan *plan, const struct nm_run_options *options, uint32_t phase,
		   struct nm_phase_order *ret_order);
/* How long no host may make progress before the master ends the run: the timeout, and the longest
 * wait of a pass. */
uint64_t nm_order_stall_ns(const struct nm_plan *plan, const struct nm_run_options *options);
/* How long no host may make progress in a phase before its connections are asked for: half the
 * timeout, and the longest wait of its passes. */
uint64_t nm_order_quiet_ns(const struct nm_plan *plan, const struct nm_run_options *options,
			   uint32_t phase);

#endif
