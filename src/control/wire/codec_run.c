/* SPDX-License-Identifier: Apache-2.0 */
#include "control/wire/codec.h"

#include <errno.h>

json_t *nm_begin_pack(const struct nm_phase_order *order)
{
	return json_pack("{s:I,s:b,s:I,s:I,s:I}", "phase", (json_int_t)order->phase, "measured",
			 (int)order->measured, "stop_ns", (json_int_t)order->stop_ns,
			 "usage_from_ns", (json_int_t)order->usage_from_ns, "usage_to_ns",
			 (json_int_t)order->usage_to_ns);
}

int nm_begin_unpack(json_t *body, uint32_t n_phases, struct nm_phase_order *ret)
{
	json_t *phase, *stop;
	json_int_t from, to;
	int measured;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:b,s:o,s:I,s:I}", "phase", &phase,
			   "measured", &measured, "stop_ns", &stop, "usage_from_ns", &from,
			   "usage_to_ns", &to) < 0 ||
	    n_phases == 0 || nm_u32_unpack(phase, n_phases - 1, &ret->phase) ||
	    nm_u64_unpack(stop, INT64_MAX / 2, &ret->stop_ns) || from < NM_USAGE_NEVER ||
	    to < NM_USAGE_NEVER)
		return -EPROTO;
	ret->measured = measured;
	ret->usage_from_ns = from;
	ret->usage_to_ns = to;
	return 0;
}

json_t *nm_began_pack(uint32_t phase, uint64_t at_ns)
{
	return json_pack("{s:I,s:I}", "phase", (json_int_t)phase, "at_ns", (json_int_t)at_ns);
}

int nm_began_unpack(json_t *body, uint32_t *ret_phase, uint64_t *ret_at_ns)
{
	json_t *phase, *at;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o}", "phase", &phase, "at_ns", &at) <
		    0 ||
	    nm_u32_unpack(phase, UINT32_MAX, ret_phase) || nm_u64_unpack(at, INT64_MAX, ret_at_ns))
		return -EPROTO;
	return 0;
}

static int unpack_place(json_t *phase, json_t *group, const struct nm_plan *plan,
			uint32_t *ret_phase, uint32_t *ret_group)
{
	if (plan->n_groups == 0 || nm_u32_unpack(group, plan->n_groups - 1, ret_group) ||
	    nm_u32_unpack(phase, UINT32_MAX, ret_phase) ||
	    *ret_phase >= plan->groups[*ret_group].n_phases)
		return -EPROTO;
	return 0;
}

json_t *nm_stop_pack(uint32_t phase, uint32_t group)
{
	return json_pack("{s:I,s:I}", "phase", (json_int_t)phase, "group", (json_int_t)group);
}

int nm_stop_unpack(json_t *body, const struct nm_plan *plan, uint32_t *ret_phase,
		   uint32_t *ret_group)
{
	json_t *phase, *group;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o}", "phase", &phase, "group", &group) <
	    0)
		return -EPROTO;
	return unpack_place(phase, group, plan, ret_phase, ret_group);
}

static int unpack_totals(json_t *list, const struct nm_plan *plan, struct nm_msg_totals *ret)
{
	uint32_t n_workers = plan->groups[ret->group].n_workers;

	if (n_workers > ret->room)
		return -EPROTO;
	return nm_u64s_unpack(list, ret->totals, n_workers);
}

json_t *nm_follow_pack(const struct nm_msg_totals *follow, uint32_t n_workers)
{
	return json_pack("{s:I,s:I,s:o}", "phase", (json_int_t)follow->phase, "group",
			 (json_int_t)follow->group, "totals",
			 nm_u64s_pack(follow->totals, n_workers));
}

int nm_follow_unpack(json_t *body, const struct nm_plan *plan, struct nm_msg_totals *ret)
{
	json_t *phase, *group, *totals;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o,s:o}", "phase", &phase, "group",
			   &group, "totals", &totals) < 0 ||
	    unpack_place(phase, group, plan, &ret->phase, &ret->group))
		return -EPROTO;
	return unpack_totals(totals, plan, ret);
}

json_t *nm_done_pack(const struct nm_msg_totals *done, uint32_t n_workers)
{
	return json_pack("{s:I,s:I,s:o,s:o}", "phase", (json_int_t)done->phase, "group",
			 (json_int_t)done->group, "totals", nm_u64s_pack(done->totals, n_workers),
			 "counts", nm_counts_pack(&done->counts));
}

int nm_done_unpack(json_t *body, const struct nm_plan *plan, struct nm_msg_totals *ret)
{
	json_t *phase, *group, *totals, *counts;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o,s:o,s:o}", "phase", &phase, "group",
			   &group, "totals", &totals, "counts", &counts) < 0 ||
	    unpack_place(phase, group, plan, &ret->phase, &ret->group) ||
	    nm_counts_unpack(counts, &ret->counts))
		return -EPROTO;
	return unpack_totals(totals, plan, ret);
}

json_t *nm_renew_pack(uint32_t group)
{
	return json_pack("{s:I}", "group", (json_int_t)group);
}

int nm_renew_unpack(json_t *body, const struct nm_plan *plan, uint32_t *ret_group)
{
	json_t *group;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o}", "group", &group) < 0 ||
	    plan->n_groups == 0)
		return -EPROTO;
	return nm_u32_unpack(group, plan->n_groups - 1, ret_group);
}

json_t *nm_heartbeat_pack(uint64_t progress)
{
	return json_pack("{s:I}", "progress", (json_int_t)progress);
}

int nm_heartbeat_unpack(json_t *body, uint64_t *ret_progress)
{
	json_t *progress;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o}", "progress", &progress) < 0)
		return -EPROTO;
	return nm_u64_unpack(progress, INT64_MAX, ret_progress);
}

json_t *nm_failed_pack(const struct nm_msg_failed *failed)
{
	return json_pack("{s:o,s:b}", "text", nm_text_pack(failed->text), "secondary",
			 (int)failed->secondary);
}

int nm_failed_unpack(json_t *body, struct nm_msg_failed *ret)
{
	json_t *text;
	int secondary;

	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:b}", "text", &text, "secondary",
			   &secondary) < 0)
		return -EPROTO;
	ret->secondary = secondary;
	return nm_text_unpack(text, NM_WIRE_MAX_TEXT, &ret->text);
}
