/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of flows and connections on the wire: long lists of numbers, so many for each. */
#include <errno.h>
#include <stdlib.h>

#include "control/wire/codec.h"
#include "control/wire/rows.h"

#define N_COUNTS 4
#define N_FLOW	 (2 + 2 * N_COUNTS)    /* group, flow, total, delta */
#define N_TCP	 (4 + NM_TCP_N_FIELDS) /* group, flow, slot, time, values */
#define N_USAGE	 7

static int append(json_t *list, uint64_t value)
{
	if (value > INT64_MAX)
		value = INT64_MAX;
	return json_array_append_new(list, json_integer((json_int_t)value)) < 0 ? -ENOMEM : 0;
}

static int append_counts(json_t *list, const struct nm_flow_counts *counts)
{
	const uint64_t values[N_COUNTS] = {counts->passes, counts->bytes_sent,
					   counts->bytes_received, counts->errors};
	int error = 0;

	for (size_t i = 0; !error && i < N_COUNTS; i++)
		error = append(list, values[i]);
	return error;
}

static json_t *or_nothing(json_t *list, int error)
{
	if (!error)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *pack_flow_rows(const struct nm_flow_rows *rows)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < rows->count; i++) {
		const struct nm_flow_row *row = &rows->rows[i];

		error = append(list, row->group);
		if (!error)
			error = append(list, row->flow);
		if (!error)
			error = append_counts(list, &row->total);
		if (!error)
			error = append_counts(list, &row->delta);
	}
	return or_nothing(list, error);
}

json_t *nm_flows_pack(const struct nm_flow_rows *rows)
{
	const struct nm_rusage *usage = &rows->usage;
	const uint64_t values[N_USAGE] = {usage->utime_ns, usage->stime_ns, usage->maxrss_kb,
					  usage->minflt,   usage->majflt,   usage->nvcsw,
					  usage->nivcsw};

	return json_pack("{s:I,s:I,s:f,s:o,s:o}", "phase", (json_int_t)rows->phase, "at_ns",
			 (json_int_t)rows->at_ns, "seconds", rows->seconds, "usage",
			 nm_u64s_pack(values, N_USAGE), "flows", pack_flow_rows(rows));
}

/* `count` numbers from `*at` on, which moves behind them. */
static int take(const json_t *list, size_t *at, uint64_t *values, size_t count)
{
	int error = 0;

	for (size_t i = 0; !error && i < count; i++)
		error = nm_u64_unpack(json_array_get(list, (*at)++), INT64_MAX, &values[i]);
	return error;
}

/* Group and flow must be of the plan. */
static int take_place(const json_t *list, size_t *at, const struct nm_plan *plan,
		      uint32_t *ret_group, uint32_t *ret_flow)
{
	uint64_t place[2];

	if (take(list, at, place, 2) || place[0] >= plan->n_groups ||
	    place[1] >= plan->groups[place[0]].n_flows)
		return -EPROTO;
	*ret_group = (uint32_t)place[0];
	*ret_flow = (uint32_t)place[1];
	return 0;
}

static int unpack_flow(const json_t *list, size_t *at, const struct nm_plan *plan,
		       struct nm_flow_row *ret)
{
	uint64_t v[2 * N_COUNTS];

	*ret = (struct nm_flow_row){.has_latency = false};
	if (take_place(list, at, plan, &ret->group, &ret->flow) || take(list, at, v, 2 * N_COUNTS))
		return -EPROTO;
	ret->total = (struct nm_flow_counts){v[0], v[1], v[2], v[3]};
	ret->delta = (struct nm_flow_counts){v[4], v[5], v[6], v[7]};
	return 0;
}

/* How many records of `size` numbers the list has; at most `most`. */
static int count_records(const json_t *list, size_t size, size_t most, size_t *ret_count)
{
	*ret_count = json_array_size(list) / size;
	return !json_is_array(list) || json_array_size(list) % size || *ret_count > most ? -EPROTO
											 : 0;
}

int nm_flows_unpack(json_t *body, const struct nm_plan *plan, struct nm_flow_rows *ret,
		    struct nm_flow_row **ret_rows)
{
	json_t *phase, *at, *usage, *flows;
	uint64_t of_usage[N_USAGE];
	size_t position = 0;

	*ret = (struct nm_flow_rows){.count = 0};
	*ret_rows = NULL;
	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o,s:F,s:o,s:o}", "phase", &phase,
			   "at_ns", &at, "seconds", &ret->seconds, "usage", &usage, "flows",
			   &flows) < 0 ||
	    plan->n_phases == 0 || nm_u32_unpack(phase, plan->n_phases - 1, &ret->phase) ||
	    nm_u64_unpack(at, INT64_MAX, &ret->at_ns) || nm_u64s_unpack(usage, of_usage, N_USAGE) ||
	    count_records(flows, N_FLOW, NM_FLOW_ROWS_MAX, &ret->count))
		return -EPROTO;
	ret->usage = (struct nm_rusage){of_usage[0], of_usage[1], of_usage[2], of_usage[3],
					of_usage[4], of_usage[5], of_usage[6]};
	struct nm_flow_row *rows = calloc(ret->count + 1, sizeof *rows);
	int error = rows ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < ret->count; i++)
		error = unpack_flow(flows, &position, plan, &rows[i]);
	if (error)
		free(rows);
	else
		ret->rows = *ret_rows = rows;
	return error;
}

json_t *nm_tcp_pack(const struct nm_tcp_rows *rows)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < rows->count; i++) {
		const struct nm_tcp_sample *row = &rows->rows[i];
		const uint64_t head[] = {row->group, row->flow, row->slot, row->at_ns};

		for (size_t k = 0; !error && k < 4; k++)
			error = append(list, head[k]);
		for (size_t k = 0; !error && k < NM_TCP_N_FIELDS; k++)
			error = append(list, row->values[k]);
	}
	return json_pack("{s:I,s:o}", "phase", (json_int_t)rows->phase, "connections",
			 or_nothing(list, error));
}

static int unpack_tcp(const json_t *list, size_t *at, const struct nm_plan *plan,
		      struct nm_tcp_sample *ret)
{
	uint64_t head[2];

	if (take_place(list, at, plan, &ret->group, &ret->flow) || take(list, at, head, 2) ||
	    head[0] >= NM_PLAN_MAX_CONNS || take(list, at, ret->values, NM_TCP_N_FIELDS))
		return -EPROTO;
	ret->slot = (uint32_t)head[0];
	ret->at_ns = head[1];
	return 0;
}

int nm_tcp_unpack(json_t *body, const struct nm_plan *plan, struct nm_tcp_rows *ret,
		  struct nm_tcp_sample **ret_rows)
{
	json_t *phase, *list;
	size_t position = 0;

	*ret = (struct nm_tcp_rows){.count = 0};
	*ret_rows = NULL;
	if (json_unpack_ex(body, NULL, JSON_STRICT, "{s:o,s:o}", "phase", &phase, "connections",
			   &list) < 0 ||
	    plan->n_phases == 0 || nm_u32_unpack(phase, plan->n_phases - 1, &ret->phase) ||
	    count_records(list, N_TCP, SIZE_MAX, &ret->count))
		return -EPROTO;
	struct nm_tcp_sample *rows = calloc(ret->count + 1, sizeof *rows);
	int error = rows ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < ret->count; i++)
		error = unpack_tcp(list, &position, plan, &rows[i]);
	if (error)
		free(rows);
	else
		ret->rows = *ret_rows = rows;
	return error;
}
