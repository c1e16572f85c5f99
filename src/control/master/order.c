/* SPDX-License-Identifier: Apache-2.0 */
/* Computes when phases stop, and when the measured window opens and closes. */
#include "control/master/order.h"

void nm_order_measured(const struct nm_plan *plan, uint32_t *ret_first, uint32_t *ret_last)
{
	*ret_first = *ret_last = UINT32_MAX;
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		for (uint32_t k = 0; group->runs && k < group->n_phases; k++) {
			if (!group->phases[k].measured)
				continue;
			if (*ret_first == UINT32_MAX || k < *ret_first)
				*ret_first = k;
			if (*ret_last == UINT32_MAX || k > *ret_last)
				*ret_last = k;
		}
	}
}

uint64_t nm_order_quiet_ns(const struct nm_plan *plan, const struct nm_run_options *options,
			   uint32_t phase)
{
	uint64_t wait_ns = 0;

	for (uint32_t g = 0; g < plan->n_groups; g++) {
		if (phase >= plan->groups[g].n_phases)
			continue;
		const struct nm_phase *one = &plan->groups[g].phases[phase];
		uint64_t pause_ns = nm_phase_longest_pause_ns(one);

		if (one->waits.all_ns > wait_ns)
			wait_ns = one->waits.all_ns;
		if (pause_ns > wait_ns)
			wait_ns = pause_ns;
	}
	return options->timeout_ns / 2 + wait_ns;
}

uint64_t nm_order_stall_ns(const struct nm_plan *plan, const struct nm_run_options *options)
{
	return options->timeout_ns + nm_plan_longest_wait_ns(plan);
}

void nm_order_make(const struct nm_plan *plan, const struct nm_run_options *options, uint32_t phase,
		   struct nm_phase_order *ret_order)
{
	struct nm_phase_order order = {.phase = phase,
				       .stall_ns = nm_order_stall_ns(plan, options),
				       .usage_from_ns = NM_USAGE_NEVER,
				       .usage_to_ns = NM_USAGE_NEVER};
	uint64_t cooldown_ns = options->cooldown_ns;
	uint32_t first, last;

	nm_order_measured(plan, &first, &last);
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		if (!group->runs || phase >= group->n_phases || !group->phases[phase].measured)
			continue;
		order.measured = true;
		if (group->phases[phase].duration_ns > order.stop_ns)
			order.stop_ns = group->phases[phase].duration_ns;
	}
	if (phase == first)
		order.usage_from_ns = (int64_t)options->warmup_ns;
	if (phase == last)
		order.usage_to_ns = cooldown_ns && order.stop_ns > cooldown_ns
					    ? (int64_t)(order.stop_ns - cooldown_ns)
					    : NM_USAGE_AT_END;
	*ret_order = order;
}
