/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of the messages that lead a run through its phases. Values that depend on the plan are
 * checked here, after the tables. */
#include <errno.h>

#include "control/wire/codec.h"

const struct nm_field nm_begin_fields[] = {
	NM_FIELD(U32, struct nm_phase_order, phase),
	NM_FIELD(BOOL, struct nm_phase_order, measured,
		 .doc = "Some group's transaction is: intervals are kept."),
	NM_FIELD(U64, struct nm_phase_order, stall_ns,
		 .doc = "So long without progress on any host, and the master ends the run."),
	NM_FIELD(U64, struct nm_phase_order, stop_ns, .max = INT64_MAX / 2,
		 .doc = "When the last group will be stopped, after the begin; 0: not known."),
	NM_FIELD(I64, struct nm_phase_order, usage_from_ns,
		 .doc = "When the slave begins to count what its host uses, after the begin of the "
			"phase; -1: not in this phase."),
	NM_FIELD(I64, struct nm_phase_order, usage_to_ns,
		 .doc = "When it ends that; -1: not in this phase, 2^63 - 1: at its end."),
	NM_FIELD_END,
};

json_t *nm_begin_pack(const struct nm_phase_order *order)
{
	return nm_fields_pack(nm_begin_fields, order);
}

int nm_begin_unpack(json_t *body, uint32_t n_phases, struct nm_phase_order *ret)
{
	int error = nm_fields_unpack(nm_begin_fields, body, ret);

	return error || ret->phase < n_phases ? error : -EPROTO;
}

struct began {
	uint32_t phase;
	uint64_t at_ns;
};

const struct nm_field nm_began_fields[] = {
	NM_FIELD(U32, struct began, phase),
	NM_FIELD(U64, struct began, at_ns, .max = NM_FIELD_MOST_CLOCK,
		 .doc = "By the clock of the slave."),
	NM_FIELD_END,
};

json_t *nm_began_pack(uint32_t phase, uint64_t at_ns)
{
	const struct began began = {.phase = phase, .at_ns = at_ns};

	return nm_fields_pack(nm_began_fields, &began);
}

int nm_began_unpack(json_t *body, uint32_t *ret_phase, uint64_t *ret_at_ns)
{
	struct began began;
	int error = nm_fields_unpack(nm_began_fields, body, &began);

	if (error)
		return error;
	*ret_phase = began.phase;
	*ret_at_ns = began.at_ns;
	return 0;
}

/* The phase and the group of a message: stop, cut, follow and done. */
struct place {
	uint32_t phase, group;
	json_t *totals;		 /* follow and done */
	struct nm_counts counts; /* done */
	struct nm_span span;	 /* done */
};

#define PLACE NM_FIELD(U32, struct place, phase), NM_FIELD(U32, struct place, group)

const struct nm_field nm_stop_fields[] = {
	PLACE,
	NM_FIELD_END,
};

#define TOTALS                                                                                     \
	NM_FIELD(VALUE, struct place, totals,                                                      \
		 .doc = "A list of numbers: the passes of each worker of the group.")

const struct nm_field nm_follow_fields[] = {
	PLACE,
	TOTALS,
	NM_FIELD_END,
};

static const struct nm_field span_fields[] = {
	NM_FIELD(U64, struct nm_span, from_ns, .max = NM_FIELD_MOST_CLOCK),
	NM_FIELD(U64, struct nm_span, to_ns, .max = NM_FIELD_MOST_CLOCK),
	NM_FIELD_END,
};

const struct nm_field nm_done_fields[] = {
	PLACE,
	TOTALS,
	NM_FIELD(ROW, struct place, counts, .fields = nm_counts_fields,
		 .doc = "What the slave has counted in the phase."),
	NM_FIELD(ROW, struct place, span, .fields = span_fields,
		 .doc = "When its first flow of the group entered the phase and its last one left, "
			"by the clock of the slave: the time in which it has counted that."),
	NM_FIELD_END,
};

static int unpack_place(const struct nm_field *fields, json_t *body, const struct nm_plan *plan,
			struct place *ret)
{
	if (nm_fields_unpack(fields, body, ret) || ret->group >= plan->n_groups ||
	    ret->phase >= plan->groups[ret->group].n_phases)
		return -EPROTO;
	return 0;
}

json_t *nm_stop_pack(uint32_t phase, uint32_t group)
{
	const struct place place = {.phase = phase, .group = group};

	return nm_fields_pack(nm_stop_fields, &place);
}

int nm_stop_unpack(json_t *body, const struct nm_plan *plan, uint32_t *ret_phase,
		   uint32_t *ret_group)
{
	struct place place;
	int error = unpack_place(nm_stop_fields, body, plan, &place);

	if (error)
		return error;
	*ret_phase = place.phase;
	*ret_group = place.group;
	return 0;
}

static json_t *pack_totals(const struct nm_field *fields, const struct nm_msg_totals *sent,
			   uint32_t n_workers)
{
	const struct place place = {.phase = sent->phase,
				    .group = sent->group,
				    .totals = nm_u64s_pack(sent->totals, n_workers),
				    .counts = sent->counts,
				    .span = sent->span};

	return nm_fields_pack(fields, &place);
}

static int unpack_totals(const struct nm_field *fields, json_t *body, const struct nm_plan *plan,
			 struct nm_msg_totals *ret)
{
	struct place place = {.phase = 0};
	int error = unpack_place(fields, body, plan, &place);

	if (error)
		return error;
	uint32_t n_workers = plan->groups[place.group].n_workers;

	if (n_workers > ret->room)
		return -EPROTO;
	ret->phase = place.phase;
	ret->group = place.group;
	ret->counts = place.counts;
	ret->span = place.span;
	return nm_u64s_unpack(place.totals, ret->totals, n_workers);
}

json_t *nm_follow_pack(const struct nm_msg_totals *follow, uint32_t n_workers)
{
	return pack_totals(nm_follow_fields, follow, n_workers);
}

int nm_follow_unpack(json_t *body, const struct nm_plan *plan, struct nm_msg_totals *ret)
{
	return unpack_totals(nm_follow_fields, body, plan, ret);
}

json_t *nm_done_pack(const struct nm_msg_totals *done, uint32_t n_workers)
{
	return pack_totals(nm_done_fields, done, n_workers);
}

int nm_done_unpack(json_t *body, const struct nm_plan *plan, struct nm_msg_totals *ret)
{
	int error = unpack_totals(nm_done_fields, body, plan, ret);

	return error || ret->span.from_ns <= ret->span.to_ns ? error : -EPROTO;
}

const struct nm_field nm_renew_fields[] = {
	NM_FIELD(
		U32, struct place, group,
		.doc = "Its connections will not last, and are to be replaced between two passes."),
	NM_FIELD_END,
};

json_t *nm_renew_pack(uint32_t group)
{
	const struct place place = {.group = group};

	return nm_fields_pack(nm_renew_fields, &place);
}

int nm_renew_unpack(json_t *body, const struct nm_plan *plan, uint32_t *ret_group)
{
	struct place place;

	if (nm_fields_unpack(nm_renew_fields, body, &place) || place.group >= plan->n_groups)
		return -EPROTO;
	*ret_group = place.group;
	return 0;
}

struct heartbeat {
	uint64_t progress;
};

const struct nm_field nm_heartbeat_fields[] = {
	NM_FIELD(U64, struct heartbeat, progress, .doc = "Grows while anything moves."),
	NM_FIELD_END,
};

const struct nm_field nm_failed_fields[] = {
	NM_FIELD(TEXT, struct nm_msg_failed, text, .max = NM_WIRE_MAX_TEXT),
	NM_FIELD(BOOL, struct nm_msg_failed, secondary,
		 .doc = "It is an error that flows see when it was their peer that failed first."),
	NM_FIELD_END,
};

json_t *nm_failed_pack(const struct nm_msg_failed *failed)
{
	return nm_fields_pack(nm_failed_fields, failed);
}

int nm_failed_unpack(json_t *body, struct nm_msg_failed *ret)
{
	return nm_fields_unpack(nm_failed_fields, body, ret);
}

const struct nm_field nm_interval_fields[] = {
	NM_FIELD(U32, struct nm_host_interval, phase),
	NM_FIELD(REAL, struct nm_host_interval, from_s, .doc = "Since the phase began."),
	NM_FIELD(REAL, struct nm_host_interval, to_s),
	NM_FIELD(ROW, struct nm_host_interval, cpu, .fields = nm_cpu_fields,
		 .doc = "Nanoseconds, summed over the CPUs of the host."),
	NM_FIELD(ROW, struct nm_host_interval, usage, .fields = nm_usage_row_fields,
		 .doc = "Counters of the whole host; -1: not known."),
	NM_FIELD(ROW, struct nm_host_interval, counts, .fields = nm_counts_fields),
	NM_FIELD_END,
};

json_t *nm_interval_pack(const struct nm_host_interval *row)
{
	return nm_fields_pack(nm_interval_fields, row);
}

int nm_interval_unpack(json_t *body, uint32_t n_phases, struct nm_host_interval *ret)
{
	int error = nm_fields_unpack(nm_interval_fields, body, ret);

	return error || ret->phase < n_phases ? error : -EPROTO;
}

static const struct nm_field port_fields[] = {
	NM_FIELD(U32, struct nm_place_port, port, .max = UINT16_MAX),
	NM_FIELD_END,
};

static const struct nm_field place_fields[] = {
	NM_FIELD(U32, struct nm_flow_place, group),
	NM_FIELD(U32, struct nm_flow_place, site),
	NM_FIELD(U32, struct nm_flow_place, wait, .max = NM_FLOW_WAIT__COUNT - 1),
	NM_FIELD(U32, struct nm_flow_place, flows, .max = NM_PLAN_MAX_FLOWS),
	NM_FIELD(LIST, struct nm_flow_place, ports, .max = NM_PLACE_PORTS, .fields = port_fields,
		 .item_size = sizeof(struct nm_place_port),
		 .count_offset = offsetof(struct nm_flow_place, n_ports)),
	NM_FIELD(BOOL, struct nm_flow_place, more_ports),
	NM_FIELD_END,
};

static const struct nm_field unacked_fields[] = {
	NM_FIELD(U32, struct nm_unacked, connections),
	NM_FIELD(U64, struct nm_unacked, bytes),
	NM_FIELD(U32, struct nm_unacked, segment),
	NM_FIELD(U32, struct nm_unacked, again_ms),
	NM_FIELD_END,
};

const struct nm_field nm_places_fields[] = {
	NM_FIELD(LIST, struct nm_flow_places, list, .max = NM_PLACES_MAX, .fields = place_fields,
		 .item_size = sizeof(struct nm_flow_place),
		 .count_offset = offsetof(struct nm_flow_places, count),
		 .doc = "How many flows of a group stand at an instruction, by its number, and "
			"wait for 0: their turn, 1: input, 2: output, 3: a connection, 4: a "
			"time; where they connect, ports that have not answered, and whether "
			"there are more of these."),
	NM_FIELD(U32, struct nm_flow_places, more, .max = NM_PLAN_MAX_FLOWS,
		 .doc = "Flows at other places."),
	NM_FIELD(U32, struct nm_flow_places, silent, .doc = "Workers that have not answered."),
	NM_FIELD(ROW, struct nm_flow_places, unacked, .fields = unacked_fields,
		 .doc = "Connections whose bytes nothing acknowledges, though they were sent "
			"again, and the largest segment that was; and in how many milliseconds the "
			"kernel sends what was lost on another connection again, 0: never."),
	NM_FIELD_END,
};

json_t *nm_places_pack(const struct nm_flow_places *places)
{
	return nm_fields_pack(nm_places_fields, places);
}

int nm_places_unpack(json_t *body, const struct nm_plan *plan, struct nm_flow_places *ret)
{
	if (nm_fields_unpack(nm_places_fields, body, ret))
		return -EPROTO;
	for (size_t i = 0; i < ret->count; i++) {
		const struct nm_flow_place *place = &ret->list[i];

		if (place->group >= plan->n_groups ||
		    place->site >= plan->groups[place->group].n_instrs)
			return -EPROTO;
	}
	return 0;
}
