/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of flows and connections: long lists of numbers, with a fixed count for each sample, as
 * there may be many. */
#include <errno.h>
#include <stdlib.h>

#include "control/wire/codec.h"
#include "control/wire/rows.h"

#define FLOW(kind, member, name_)                                                                  \
	{                                                                                          \
		.name = name_, .type = NM_FIELD_##kind,                                            \
		.offset = offsetof(struct nm_flow_row, member)                                     \
	}

static const struct nm_field flow_row_fields[] = {
	FLOW(U32, group, "group"),
	FLOW(U32, flow, "flow"),
	FLOW(U64, total.passes, "passes"),
	FLOW(U64, total.bytes_sent, "bytes_sent"),
	FLOW(U64, total.bytes_received, "bytes_received"),
	FLOW(U64, total.errors, "errors"),
	FLOW(U64, delta.passes, "new_passes"),
	FLOW(U64, delta.bytes_sent, "new_bytes_sent"),
	FLOW(U64, delta.bytes_received, "new_bytes_received"),
	FLOW(U64, delta.errors, "new_errors"),
	NM_FIELD_END,
};

enum {
#define INDEX(name, member) TCP_##name,
	NM_TCP_FIELDS(INDEX)
#undef INDEX
};

static const struct nm_field tcp_row_fields[] = {
	NM_FIELD(U32, struct nm_tcp_sample, group),
	NM_FIELD(U32, struct nm_tcp_sample, flow),
	NM_FIELD(U32, struct nm_tcp_sample, slot, .max = NM_PLAN_MAX_CONNS - 1,
		 .doc = "Place among the flow's connections."),
	NM_FIELD(U64, struct nm_tcp_sample, at_ns, .max = NM_FIELD_MOST_CLOCK),
#define VALUE(name_, member)                                                                       \
	{.name = #name_,                                                                           \
	 .type = NM_FIELD_U64,                                                                     \
	 .max = INT64_MAX,                                                                         \
	 .offset = offsetof(struct nm_tcp_sample, values[TCP_##name_])},
	NM_TCP_FIELDS(VALUE)
#undef VALUE
		NM_FIELD_END,
};

/* The rows stand in one list without limits between them. */
struct flows_body {
	struct nm_flow_rows rows;
	json_t *flows;
};

const struct nm_field nm_flows_fields[] = {
	{.name = "phase", .type = NM_FIELD_U32, .offset = offsetof(struct flows_body, rows.phase)},
	{.name = "at_ns",
	 .type = NM_FIELD_U64,
	 .offset = offsetof(struct flows_body, rows.at_ns),
	 .max = NM_FIELD_MOST_CLOCK,
	 .doc = "By the clock of the slave."},
	{.name = "seconds",
	 .type = NM_FIELD_REAL,
	 .offset = offsetof(struct flows_body, rows.seconds),
	 .doc = "Since the message before."},
	{.name = "usage",
	 .type = NM_FIELD_ROW,
	 .fields = nm_rusage_fields,
	 .offset = offsetof(struct flows_body, rows.usage),
	 .doc = "Of the process, since it began."},
	NM_FIELD(
		VALUE, struct flows_body, flows, .fields = flow_row_fields,
		.doc = "One list with these numbers of each flow, one flow after the other: in the "
		       "phase so far, and since the message before."),
	NM_FIELD_END,
};

struct tcp_body {
	uint32_t phase;
	json_t *connections;
};

const struct nm_field nm_tcp_info_fields[] = {
	NM_FIELD(U32, struct tcp_body, phase),
	NM_FIELD(VALUE, struct tcp_body, connections, .fields = tcp_row_fields,
		 .doc = "One list with these numbers of each connection, one connection after the "
			"other."),
	NM_FIELD_END,
};

static json_t *pack_rows(const struct nm_field *fields, const void *rows, size_t size, size_t count)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < count; i++)
		error = nm_fields_append(list, fields, (const char *)rows + i * size);
	return nm_list_or_nothing(list, error);
}

/* *ret_rows is owned, and has room for one more. */
static int unpack_rows(const struct nm_field *fields, const json_t *list, size_t size, size_t most,
		       void **ret_rows, size_t *ret_count)
{
	size_t n_fields = nm_fields_count(fields), count = json_array_size(list) / n_fields, at = 0;

	if (!json_is_array(list) || json_array_size(list) % n_fields || count > most)
		return -EPROTO;
	char *rows = calloc(count + 1, size);
	int error = rows ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < count; i++)
		error = nm_fields_take(list, &at, fields, rows + i * size);
	if (error) {
		free(rows);
		return error;
	}
	*ret_rows = rows;
	*ret_count = count;
	return 0;
}

static bool is_of_plan(const struct nm_plan *plan, uint32_t group, uint32_t flow)
{
	return group < plan->n_groups && flow < plan->groups[group].n_flows;
}

json_t *nm_flows_pack(const struct nm_flow_rows *rows)
{
	const struct flows_body body = {
		.rows = *rows,
		.flows = pack_rows(flow_row_fields, rows->rows, sizeof *rows->rows, rows->count),
	};

	return nm_fields_pack(nm_flows_fields, &body);
}

int nm_flows_unpack(json_t *body, const struct nm_plan *plan, struct nm_flow_rows *ret,
		    struct nm_flow_row **ret_rows)
{
	struct flows_body flows = {.flows = NULL};
	void *room = NULL;

	*ret = (struct nm_flow_rows){.count = 0};
	*ret_rows = NULL;
	if (nm_fields_unpack(nm_flows_fields, body, &flows) || flows.rows.phase >= plan->n_phases)
		return -EPROTO;
	int error = unpack_rows(flow_row_fields, flows.flows, sizeof(struct nm_flow_row),
				NM_FLOW_ROWS_MAX, &room, &flows.rows.count);
	struct nm_flow_row *rows = room;

	for (size_t i = 0; !error && i < flows.rows.count; i++)
		error = is_of_plan(plan, rows[i].group, rows[i].flow) ? 0 : -EPROTO;
	if (error) {
		free(rows);
		return error;
	}
	*ret = flows.rows;
	ret->rows = *ret_rows = rows;
	return 0;
}

json_t *nm_tcp_pack(const struct nm_tcp_rows *rows)
{
	const struct tcp_body body = {
		.phase = rows->phase,
		.connections =
			pack_rows(tcp_row_fields, rows->rows, sizeof *rows->rows, rows->count),
	};

	return nm_fields_pack(nm_tcp_info_fields, &body);
}

int nm_tcp_unpack(json_t *body, const struct nm_plan *plan, struct nm_tcp_rows *ret,
		  struct nm_tcp_sample **ret_rows)
{
	struct tcp_body tcp = {.phase = 0};
	void *room = NULL;
	size_t count = 0;

	*ret = (struct nm_tcp_rows){.count = 0};
	*ret_rows = NULL;
	if (nm_fields_unpack(nm_tcp_info_fields, body, &tcp) || tcp.phase >= plan->n_phases)
		return -EPROTO;
	int error = unpack_rows(tcp_row_fields, tcp.connections, sizeof(struct nm_tcp_sample),
				SIZE_MAX, &room, &count);
	struct nm_tcp_sample *rows = room;

	for (size_t i = 0; !error && i < count; i++)
		error = is_of_plan(plan, rows[i].group, rows[i].flow) ? 0 : -EPROTO;
	if (error) {
		free(rows);
		return error;
	}
	*ret = (struct nm_tcp_rows){.phase = tcp.phase, .rows = rows, .count = count};
	*ret_rows = rows;
	return 0;
}
