/* SPDX-License-Identifier: Apache-2.0 */
/* What a slave tells of its results, a message a line: a body that is taken can be packed, and is
 * then taken again; of a report the times are in their order. */
#include <math.h>
#include <string.h>

#include "control/flows.h"
#include "control/wire/codec.h"
#include "engine/flowop_stats.h"
#include "fuzz.h"
#include "profile/tree.h"

#define PROFILE                                                                                    \
	"<profile name='t'><group nthreads='2'>"                                                   \
	"<transaction iterations='1'><flowop type='connect' options='remotehost=peer'/>"           \
	"</transaction><transaction duration='1ms'><flowop type='write' options='size=10'/>"       \
	"<flowop type='read' options='size=10'/></transaction></group></profile>"

static struct nm_plan *plan;

static void take_result(json_t *body)
{
	struct nm_counts counts[4], more[4];
	struct nm_msg_result result = {.groups = counts}, again = {.groups = more};
	const struct nm_percentiles percentiles = {.count = 3, .pct = {50, 99, 100}};
	struct nm_host_report *report = NULL;

	if (nm_result_unpack(body, plan->n_groups, &result) != 0)
		return;
	if (result.report && nm_report_unpack(result.report, plan, &percentiles, &report) == 0)
		demand(report != NULL);
	nm_host_report_free(report);
	json_incref(result.report);
	json_t *packed = nm_result_pack(&result, plan->n_groups);

	demand(packed != NULL && nm_result_unpack(packed, plan->n_groups, &again) == 0);
	demand(memcmp(counts, more, plan->n_groups * sizeof *counts) == 0);
	json_decref(packed);
}

static void take_interval(json_t *body)
{
	struct nm_host_interval row, again;

	if (nm_interval_unpack(body, plan->n_phases, &row) != 0)
		return;
	json_t *packed = nm_interval_pack(&row);

	demand(packed != NULL && nm_interval_unpack(packed, plan->n_phases, &again) == 0);
	json_decref(packed);
}

static void take_samples(enum nm_message_type type, json_t *body)
{
	struct nm_flow_rows flows;
	struct nm_flow_row *flow_rows = NULL;
	struct nm_tcp_rows tcp;
	struct nm_tcp_sample *tcp_rows = NULL;

	if (type == NM_MESSAGE_FLOWS && nm_flows_unpack(body, plan, &flows, &flow_rows) == 0)
		for (size_t i = 0; i < flows.count; i++)
			demand(flows.rows[i].group < plan->n_groups);
	if (type == NM_MESSAGE_TCP_INFO && nm_tcp_unpack(body, plan, &tcp, &tcp_rows) == 0)
		for (size_t i = 0; i < tcp.count; i++)
			demand(tcp.rows[i].group < plan->n_groups);
	free(flow_rows);
	free(tcp_rows);
}

static void take_totals(json_t *body)
{
	uint64_t totals[4];
	struct nm_msg_totals done = {.totals = totals, .room = 4};

	if (nm_done_unpack(body, plan, &done) == 0)
		demand(done.group < plan->n_groups && done.phase < plan->n_phases);
}

static void take(const char *line, size_t length)
{
	struct nm_message message;
	char why[128];

	if (nm_message_decode(line, length, NM_SIDE_SLAVE, NM_SESSION_RESULT, &message, why,
			      sizeof why) != 0)
		return;
	switch (message.type) {
	case NM_MESSAGE_RESULT:
		take_result(message.body);
		break;
	case NM_MESSAGE_INTERVAL:
		take_interval(message.body);
		break;
	case NM_MESSAGE_DONE:
		take_totals(message.body);
		break;
	default:
		take_samples(message.type, message.body);
	}
	nm_message_fini(&message);
}

static void make_plan(void)
{
	struct nm_diags diags = {0};
	struct nm_node *root = nm_profile_parse("t.xml", PROFILE, strlen(PROFILE), &diags);

	plan = root ? nm_plan_compile(root, "t.xml", &diags) : NULL;
	nm_node_free(root);
	nm_diags_fini(&diags);
	demand(plan != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;

	if (!plan)
		make_plan();
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		take(at, (size_t)((stop ? stop : end) - at));
		at = stop ? stop + 1 : end;
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return fuzz_messages(data, size, max_size, seed);
}
