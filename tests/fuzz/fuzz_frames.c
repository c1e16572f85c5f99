/* SPDX-License-Identifier: Apache-2.0 */
/* The control connection: any bytes in any state are taken or refused. The first byte says who
 * sends, the second in which state of the session; the others are frames. */
#include <string.h>

#include "control/flows.h"
#include "control/wire/codec.h"
#include "control/wire/frame.h"
#include "control/wire/message.h"
#include "fuzz.h"

#define N_WORKERS 3
#define N_PHASES  4

static struct nm_phase phases[N_PHASES];
static struct nm_group groups[] = {
	{.n_workers = N_WORKERS,
	 .n_flows = 2,
	 .n_phases = N_PHASES,
	 .phases = phases,
	 .runs = true},
	{.n_workers = 1, .n_phases = 1, .phases = phases},
};
static const struct nm_plan plan = {.groups = groups, .n_groups = 2, .n_phases = N_PHASES};

static void unpack_setup(enum nm_message_type type, json_t *body)
{
	struct nm_msg_prepare prepare;
	struct nm_msg_hello hello;
	struct nm_host_facts facts;
	const char *code, *text;
	unsigned char nonce[NM_NONCE_BYTES];
	json_t *endpoints;

	switch (type) {
	case NM_MESSAGE_HELLO:
		nm_hello_unpack(body, &hello);
		break;
	case NM_MESSAGE_WELCOME:
		nm_welcome_unpack(body, &hello);
		break;
	case NM_MESSAGE_REFUSE:
	case NM_MESSAGE_ABORT:
		nm_refuse_unpack(body, &code, &text);
		break;
	case NM_MESSAGE_PREPARE:
		nm_prepare_unpack(body, &prepare);
		break;
	case NM_MESSAGE_READY:
		nm_ready_unpack(body, &endpoints, nonce, &facts);
		break;
	case NM_MESSAGE_CONNECT:
		nm_connect_unpack(body, &endpoints, nonce);
		break;
	default:
		break;
	}
}

static void unpack_phase(enum nm_message_type type, json_t *body)
{
	uint64_t totals[N_WORKERS];
	struct nm_msg_totals reached = {.totals = totals, .room = N_WORKERS};
	struct nm_phase_order order;
	uint32_t phase, group;
	uint64_t first, second;

	switch (type) {
	case NM_MESSAGE_DELAY:
		nm_number_unpack(NM_MESSAGE_DELAY, body, &first);
		break;
	case NM_MESSAGE_PING:
		nm_number_unpack(NM_MESSAGE_PING, body, &first);
		break;
	case NM_MESSAGE_PONG:
		nm_pong_unpack(body, &first, &second);
		break;
	case NM_MESSAGE_BEGIN:
		nm_begin_unpack(body, plan.n_phases, &order);
		break;
	case NM_MESSAGE_BEGAN:
		nm_began_unpack(body, &phase, &first);
		break;
	case NM_MESSAGE_STOP:
	case NM_MESSAGE_CUT:
		nm_stop_unpack(body, &plan, &phase, &group);
		break;
	case NM_MESSAGE_FOLLOW:
		nm_follow_unpack(body, &plan, &reached);
		break;
	case NM_MESSAGE_DONE:
		nm_done_unpack(body, &plan, &reached);
		break;
	default:
		break;
	}
}

static void unpack_result(enum nm_message_type type, json_t *body)
{
	struct nm_counts counts[sizeof groups / sizeof groups[0]];
	struct nm_msg_result result = {.groups = counts};
	struct nm_percentiles percentiles = {.count = 0};
	struct nm_host_report *report = NULL;
	struct nm_host_interval interval;
	struct nm_msg_failed failed;
	struct nm_flow_rows flows;
	struct nm_flow_row *flow_rows;
	struct nm_tcp_rows tcp;
	struct nm_tcp_sample *tcp_rows;
	uint64_t progress;

	switch (type) {
	case NM_MESSAGE_HEARTBEAT:
		nm_number_unpack(NM_MESSAGE_HEARTBEAT, body, &progress);
		break;
	case NM_MESSAGE_FAILED:
		nm_failed_unpack(body, &failed);
		break;
	case NM_MESSAGE_INTERVAL:
		nm_interval_unpack(body, plan.n_phases, &interval);
		break;
	case NM_MESSAGE_FLOWS:
		if (nm_flows_unpack(body, &plan, &flows, &flow_rows) == 0)
			free(flow_rows);
		break;
	case NM_MESSAGE_TCP_INFO:
		if (nm_tcp_unpack(body, &plan, &tcp, &tcp_rows) == 0)
			free(tcp_rows);
		break;
	case NM_MESSAGE_RESULT:
		if (nm_result_unpack(body, plan.n_groups, &result) == 0 && result.report)
			nm_report_unpack(result.report, &plan, &percentiles, &report);
		nm_host_report_free(report);
		break;
	default:
		break;
	}
}

static void take(const char *payload, size_t size, enum nm_side from, enum nm_session_state state)
{
	struct nm_message message;
	char why[128];

	if (nm_message_decode(payload, size, from, state, &message, why, sizeof why) != 0)
		return;
	unpack_setup(message.type, message.body);
	unpack_phase(message.type, message.body);
	unpack_result(message.type, message.body);
	nm_message_fini(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nm_frame_reader reader;
	const char *payload;
	size_t length;

	if (size < 2)
		return 0;
	enum nm_side from = data[0] & 1 ? NM_SIDE_MASTER : NM_SIDE_SLAVE;
	enum nm_session_state state = data[1] % (NM_SESSION_END + 1);
	nm_frame_reader_init(&reader, NM_FRAME_MAX);
	for (size_t at = 2; at < size;) {
		void *space;
		size_t room;

		if (nm_frame_reader_space(&reader, &space, &room) != 0)
			break;
		if (room > size - at)
			room = size - at;
		memcpy(space, data + at, room);
		nm_frame_reader_added(&reader, room);
		at += room;
		int answer;
		while ((answer = nm_frame_reader_next(&reader, &payload, &length)) == 1)
			take(payload, length, from, state);
		if (answer < 0)
			break;
	}
	nm_frame_reader_fini(&reader);
	/* Short frames are seldom found by chance: the same bytes as one. */
	take((const char *)data + 2, size - 2, from, state);
	return 0;
}

/* Behind the first two bytes: a message as its only line. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	if (size < 2 || pick(&seed, 4) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	return 2 + fuzz_messages(data + 2, size - 2, max_size - 2, seed);
}
