/* SPDX-License-Identifier: Apache-2.0 */
/* Each message of the control protocol, byte for byte: what a peer of this protocol number sends
 * and understands. A change of these texts that the other side would misunderstand raises
 * NM_PROTOCOL. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "control/wire/rows.h"
#include "control/wire/codec.h"
#include "control/wire/frame.h"
#include "control/wire/message.h"
#include "golden.h"

/* The version of the build is no part of the form. */
static json_t *of_version(json_t *body)
{
	(void)json_object_set_new(body, "version", json_string("1.2"));
	return body;
}

static json_t *hello(void)
{
	return of_version(nm_hello_pack());
}

static json_t *welcome(void)
{
	return of_version(nm_welcome_pack("ada", true));
}

static json_t *refuse(void)
{
	return nm_refuse_pack("busy", "too many masters");
}

static json_t *prepare(void)
{
	const struct nm_msg_prepare order = {.run_id = "00112233445566778899aabbccddeeff",
					     .host = "10.0.0.7",
					     .profile = "<profile/>",
					     .file = "web.xml",
					     .cpus = "0-3",
					     .details = 3,
					     .lenient = true,
					     .interval_ns = 1000000000,
					     .timeout_ns = 10000000000,
					     .seed = 77,
					     .secret = {0x00, 0x9a, 0xff}};

	return nm_prepare_pack(&order);
}

static const unsigned char nonce[NM_NONCE_BYTES] = {0x00, 0x11};

static json_t *ready(void)
{
	struct nm_host_facts facts = {
		.n_cpus = 4, .memory_bytes = 1u << 30, .cpu_latency_limit_us = -1};
	json_t *endpoints = json_loads("[[0,1,[\"20001\",\"20002\"]]]", 0, NULL);

	strcpy(facts.hostname, "ada");
	strcpy(facts.kernel, "6.19");
	strcpy(facts.cpufreq_governor, "performance");
	return nm_ready_pack(endpoints, nonce, &facts);
}

static json_t *connect_to(void)
{
	return nm_connect_pack(json_loads("[[0,0,[\"a\",\"b\"]]]", 0, NULL), nonce);
}

static json_t *wait_for(void)
{
	return nm_number_pack(NM_MESSAGE_DELAY, UINT64_C(60000000000));
}

static json_t *ping(void)
{
	return nm_number_pack(NM_MESSAGE_PING, 42);
}

static json_t *pong(void)
{
	return nm_pong_pack(42, UINT64_C(4611686018427387904));
}

static json_t *begin(void)
{
	const struct nm_phase_order order = {.phase = 2,
					     .measured = true,
					     .stall_ns = 9,
					     .stop_ns = 10,
					     .usage_from_ns = NM_USAGE_NEVER,
					     .usage_to_ns = NM_USAGE_AT_END};

	return nm_begin_pack(&order);
}

static json_t *began(void)
{
	return nm_began_pack(1, 12);
}

static json_t *stop(void)
{
	return nm_stop_pack(2, 1);
}

static json_t *cut(void)
{
	return nm_stop_pack(2, 1);
}

static json_t *follow(void)
{
	uint64_t totals[] = {7, 8};
	const struct nm_msg_totals sent = {.phase = 2, .totals = totals};

	return nm_follow_pack(&sent, 2);
}

static json_t *done(void)
{
	uint64_t totals[] = {3, UINT64_C(1) << 40};
	const struct nm_msg_totals sent = {
		.phase = 1,
		.totals = totals,
		.counts = {.iterations = 7, .bytes_received = UINT64_C(1) << 60, .unnumbered = 9},
		.span = {.from_ns = 5, .to_ns = 6}};

	return nm_done_pack(&sent, 2);
}

static json_t *renew(void)
{
	return nm_renew_pack(1);
}

static json_t *places(void)
{
	const struct nm_flow_places told = {
		.list = {{.group = 1, .site = 2, .wait = NM_FLOW_WAIT_INPUT, .flows = 40},
			 {.group = 1,
			  .site = 2,
			  .ports = {{4001}, {4002}},
			  .n_ports = 2,
			  .more_ports = true}},
		.count = 2,
		.more = 3,
		.silent = 1,
		.unacked = {.connections = 2, .bytes = 16384, .segment = 8948, .again_ms = 20000}};

	return nm_places_pack(&told);
}

static json_t *heartbeat(void)
{
	return nm_number_pack(NM_MESSAGE_HEARTBEAT, 5);
}

static json_t *failed(void)
{
	const struct nm_msg_failed sent = {.text = "flowop read: caf\xe9", .secondary = true};

	return nm_failed_pack(&sent);
}

static json_t *interval(void)
{
	const struct nm_host_interval row = {
		.phase = 1,
		.from_s = 0.5,
		.to_s = 1,
		.cpu = {1, 2, 3, 4, 5, 6, 7, 8, .n_cpus = 9},
		.usage = {.interrupts = 12,
			  .softirqs = 13,
			  .retransmitted_segments = 14,
			  .softnet_dropped = -1},
		.counts = {.iterations = 10, .jitter_ns = 11},
	};

	return nm_interval_pack(&row);
}

static json_t *flows(void)
{
	const struct nm_flow_row rows[] = {
		{.group = 0, .flow = 1, .total = {1, 2, 3, 4}, .delta = {5, 6, 7, 8}},
		{.group = 1, .flow = 0, .total = {9, 0, 0, 0}},
	};
	const struct nm_flow_rows sent = {.phase = 2,
					  .at_ns = 13,
					  .seconds = 0.25,
					  .usage = {1, 2, 3, 4, 5, 6, 7},
					  .rows = rows,
					  .count = 2};

	return nm_flows_pack(&sent);
}

static json_t *tcp_info(void)
{
	const struct nm_tcp_sample rows[] = {
		{.group = 0, .flow = 1, .slot = 2, .at_ns = 3, .values = {4, 5}},
	};
	const struct nm_tcp_rows sent = {.phase = 1, .rows = rows, .count = 1};

	return nm_tcp_pack(&sent);
}

static void fill_usage(struct nm_usage *usage)
{
	usage->at_ns = 21;
	usage->has_cpu = true;
	usage->cpu = (struct nm_cpu_times){1, 2, 3, 4, 5, 6, 7, 8, .n_cpus = 9};
	usage->process = (struct nm_rusage){11, 12, 13, 14, 15, 16, 17};
	usage->throttling = (struct nm_throttling){18, 19, 20};
	usage->tcp = (struct nm_tcp_counters){21, 22, 23, 24, 25, 26, 27, 28, 29};
	strcpy(usage->tcp_why, "no /proc");
	usage->has_nics = true;
	usage->n_nics = 1;
	usage->nics[0] = (struct nm_nic){"eth0", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, {.index = 0}};
	usage->has_psp = true;
	usage->n_psp = 1;
	usage->psp[0] = (struct nm_psp_usage){"eth1", 3, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
	usage->has_interrupts = true;
	usage->interrupts = (struct nm_interrupts){.hardware = 31, .context_switches = 32};
	strcpy(usage->softirqs_why, "the kernel does not count them");
	usage->has_softnet = true;
	usage->softnet = (struct nm_softnet){33, 34, 35, 36, 37, 0};
	usage->has_pressure = true;
	usage->pressure = (struct nm_pressure){38, -1, 39, 40, 41, 42};
	strcpy(usage->cpufreq_why, "there is no cpufreq driver");
	usage->has_unhalted = true;
	usage->unhalted = (struct nm_unhalted){"msr", 2, 43, 44, 45, 46, 47};
}

static struct nm_msg_result *new_result(void)
{
	struct nm_msg_result *sent = calloc(1, sizeof *sent);

	if (!sent || !(sent->groups = calloc(2, sizeof *sent->groups)))
		abort();
	return sent;
}

static json_t *bye(void)
{
	const struct nm_host_window window = {.from_ns = 1000000000,
					      .to_ns = 3000000000,
					      .ns = 2000000000,
					      .counts = {.iterations = 5, .bytes_sent = 7}};

	return nm_bye_pack(&window);
}

static json_t *result(void)
{
	struct nm_msg_result *sent = new_result();

	sent->groups[1].bytes_received = 99;
	sent->connections = (struct nm_conn_report){.connections = 4,
						    .retransmits = 1,
						    .min_rtt_s = 0.0625,
						    .srtt_min_s = 0.125,
						    .srtt_mean_s = 0.25,
						    .srtt_max_s = 0.5,
						    .cwnd_mean = 10,
						    .mss_min = 536,
						    .mss_max = 1448,
						    .congestion_control = "cubic",
						    .tls = {4, 3, 2, 1, "TLSv1.3", "AES", ""}};
	sent->has_usage = true;
	fill_usage(&sent->usage);
	sent->each.cpus.count = 1;
	sent->each.cpus.items[0] = (struct nm_cpu_load){5, 1, 2, 3, 4, 5, 6, 7, 8};
	sent->each.vectors.count = 1;
	sent->each.vectors.items[0] =
		(struct nm_vector){.nic = "eth0", .irq = 24, .name = "eth0-rx-0", .interrupts = 9};
	sent->counters.count = 2;
	sent->counters.items[0] = (struct nm_perf_value){
		.name = "cycles", .has_user = true, .user = 12, .why = "no kernel", .share = 0.5};
	sent->counters.items[1] = (struct nm_perf_value){.name = "x",
							 .has_kernel = true,
							 .kernel = 3,
							 .has_total = true,
							 .total = 4,
							 .share = 1};
	sent->arrived = (struct nm_arrived){.bytes = 11, .ns = 12};
	sent->window = (struct nm_host_window){.from_ns = 13,
					       .to_ns = 14,
					       .ns = 1,
					       .counts = {.bytes_mapped = 15, .bytes_received = 17},
					       .after_bytes = 16,
					       .after_ns = 1};
	sent->others = (struct nm_msg_others){.runs = 2, .ns = 7, .of_ns = 9};
	sent->cut = (struct nm_buffers){.send_asked = 8, .send_given = 4};
	json_t *body = nm_result_pack(sent, 2);

	free(sent->groups);
	free(sent);
	return body;
}

/* Of a host whose usage is not known and whose softirqs would be. */
static json_t *short_result(void)
{
	struct nm_msg_result *sent = new_result();

	strcpy(sent->connections.why, "none was open");
	sent->report = json_loads("{\"elapsed_ns\":0,\"groups\":[]}", 0, NULL);
	json_t *body = nm_result_pack(sent, 2);

	free(sent->groups);
	free(sent);
	return body;
}

static const struct {
	enum nm_message_type type;
	json_t *(*make)(void);
	const char *text;
} messages[] = {
	{NM_MESSAGE_HELLO, hello, GOLDEN_HELLO},
	{NM_MESSAGE_WELCOME, welcome, GOLDEN_WELCOME},
	{NM_MESSAGE_REFUSE, refuse, GOLDEN_REFUSE},
	{NM_MESSAGE_PREPARE, prepare, GOLDEN_PREPARE},
	{NM_MESSAGE_READY, ready, GOLDEN_READY},
	{NM_MESSAGE_CONNECT, connect_to, GOLDEN_CONNECT},
	{NM_MESSAGE_ARMED, json_object, GOLDEN_ARMED},
	{NM_MESSAGE_DELAY, wait_for, GOLDEN_DELAY},
	{NM_MESSAGE_PING, ping, GOLDEN_PING},
	{NM_MESSAGE_PONG, pong, GOLDEN_PONG},
	{NM_MESSAGE_BEGIN, begin, GOLDEN_BEGIN},
	{NM_MESSAGE_BEGAN, began, GOLDEN_BEGAN},
	{NM_MESSAGE_STOP, stop, GOLDEN_STOP},
	{NM_MESSAGE_CUT, cut, GOLDEN_CUT},
	{NM_MESSAGE_FOLLOW, follow, GOLDEN_FOLLOW},
	{NM_MESSAGE_DONE, done, GOLDEN_DONE},
	{NM_MESSAGE_RENEW, renew, GOLDEN_RENEW},
	{NM_MESSAGE_WHERE, json_object, GOLDEN_WHERE},
	{NM_MESSAGE_PLACES, places, GOLDEN_PLACES},
	{NM_MESSAGE_HEARTBEAT, heartbeat, GOLDEN_HEARTBEAT},
	{NM_MESSAGE_FAILED, failed, GOLDEN_FAILED},
	{NM_MESSAGE_INTERVAL, interval, GOLDEN_INTERVAL},
	{NM_MESSAGE_FLOWS, flows, GOLDEN_FLOWS},
	{NM_MESSAGE_TCP_INFO, tcp_info, GOLDEN_TCP_INFO},
	{NM_MESSAGE_FINISH, json_object, GOLDEN_FINISH},
	{NM_MESSAGE_RESULT, result, GOLDEN_RESULT},
	{NM_MESSAGE_RESULT, short_result, GOLDEN_SHORT_RESULT},
	{NM_MESSAGE_BYE, bye, GOLDEN_BYE},
	{NM_MESSAGE_ABORT, refuse, GOLDEN_ABORT},
};
#define N_MESSAGES (int)(sizeof messages / sizeof *messages)

START_TEST(a_message_has_these_bytes)
{
	size_t size = 0;
	char *text = nm_message_encode(messages[_i].type, messages[_i].make(), &size);

	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, messages[_i].text);
	ck_assert_uint_eq(size, strlen(messages[_i].text));
	free(text);
}
END_TEST

START_TEST(each_message_stands_here)
{
	for (int type = 0; type < NM_MESSAGE__COUNT; type++) {
		bool found = false;

		for (int i = 0; i < N_MESSAGES; i++)
			found = found || (int)messages[i].type == type;
		ck_assert_msg(found, "no bytes of \"%s\"",
			      nm_message_word((enum nm_message_type)type));
	}
}
END_TEST

/* --- hostile bodies --- */

static struct nm_phase phases[3];
static struct nm_group groups[] = {
	{.n_workers = 2, .n_flows = 2, .n_phases = 3, .phases = phases, .runs = true},
	{.n_workers = 2, .n_flows = 1, .n_phases = 3, .phases = phases, .n_instrs = 3},
};
static const struct nm_plan plan = {.groups = groups, .n_groups = 2, .n_phases = 3};

static int unpack_setup(enum nm_message_type type, json_t *body)
{
	struct nm_msg_prepare order;
	struct nm_msg_hello greeting;
	struct nm_host_facts facts;
	const char *code, *text;
	unsigned char told_nonce[NM_NONCE_BYTES];
	json_t *endpoints;

	switch (type) {
	case NM_MESSAGE_HELLO:
		return nm_hello_unpack(body, &greeting);
	case NM_MESSAGE_WELCOME:
		return nm_welcome_unpack(body, &greeting);
	case NM_MESSAGE_REFUSE:
	case NM_MESSAGE_ABORT:
		return nm_refuse_unpack(body, &code, &text);
	case NM_MESSAGE_PREPARE:
		return nm_prepare_unpack(body, &order);
	case NM_MESSAGE_READY:
		return nm_ready_unpack(body, &endpoints, told_nonce, &facts);
	default:
		return nm_connect_unpack(body, &endpoints, told_nonce);
	}
}

static int unpack_phase(enum nm_message_type type, json_t *body)
{
	uint64_t totals[2], first, second;
	struct nm_msg_totals reached = {.totals = totals, .room = 2};
	struct nm_phase_order order;
	struct nm_msg_failed failure;
	struct nm_flow_places waiting;
	uint32_t phase, group;

	switch (type) {
	case NM_MESSAGE_DELAY:
		return nm_number_unpack(NM_MESSAGE_DELAY, body, &first);
	case NM_MESSAGE_PING:
		return nm_number_unpack(NM_MESSAGE_PING, body, &first);
	case NM_MESSAGE_PONG:
		return nm_pong_unpack(body, &first, &second);
	case NM_MESSAGE_BEGIN:
		return nm_begin_unpack(body, plan.n_phases, &order);
	case NM_MESSAGE_BEGAN:
		return nm_began_unpack(body, &phase, &first);
	case NM_MESSAGE_STOP:
	case NM_MESSAGE_CUT:
		return nm_stop_unpack(body, &plan, &phase, &group);
	case NM_MESSAGE_FOLLOW:
		return nm_follow_unpack(body, &plan, &reached);
	case NM_MESSAGE_DONE:
		return nm_done_unpack(body, &plan, &reached);
	case NM_MESSAGE_RENEW:
		return nm_renew_unpack(body, &plan, &group);
	case NM_MESSAGE_PLACES:
		return nm_places_unpack(body, &plan, &waiting);
	case NM_MESSAGE_HEARTBEAT:
		return nm_number_unpack(NM_MESSAGE_HEARTBEAT, body, &first);
	default:
		return nm_failed_unpack(body, &failure);
	}
}

static int unpack_found(enum nm_message_type type, json_t *body)
{
	struct nm_host_interval row;
	struct nm_flow_rows rows;
	struct nm_flow_row *flow_rows = NULL;
	struct nm_tcp_rows tcp;
	struct nm_tcp_sample *tcp_rows = NULL;
	struct nm_msg_result *got;
	struct nm_host_window window;
	int error;

	switch (type) {
	case NM_MESSAGE_BYE:
		return nm_bye_unpack(body, &window);
	case NM_MESSAGE_INTERVAL:
		return nm_interval_unpack(body, plan.n_phases, &row);
	case NM_MESSAGE_FLOWS:
		error = nm_flows_unpack(body, &plan, &rows, &flow_rows);
		free(flow_rows);
		return error;
	case NM_MESSAGE_TCP_INFO:
		error = nm_tcp_unpack(body, &plan, &tcp, &tcp_rows);
		free(tcp_rows);
		return error;
	default:
		got = new_result();
		error = nm_result_unpack(body, 2, got);
		free(got->groups);
		free(got);
		return error;
	}
}

static int unpack(enum nm_message_type type, json_t *body)
{
	switch (type) {
	case NM_MESSAGE_INTERVAL:
	case NM_MESSAGE_FLOWS:
	case NM_MESSAGE_TCP_INFO:
	case NM_MESSAGE_RESULT:
	case NM_MESSAGE_BYE:
		return unpack_found(type, body);
	case NM_MESSAGE_HELLO:
	case NM_MESSAGE_WELCOME:
	case NM_MESSAGE_REFUSE:
	case NM_MESSAGE_ABORT:
	case NM_MESSAGE_PREPARE:
	case NM_MESSAGE_READY:
	case NM_MESSAGE_CONNECT:
		return unpack_setup(type, body);
	case NM_MESSAGE_ARMED:
	case NM_MESSAGE_WHERE:
	case NM_MESSAGE_FINISH:
		return nm_fields_unpack(nm_message_fields(type), body, NULL);
	default:
		return unpack_phase(type, body);
	}
}

/* One of another version must be understood so far. */
static bool takes_more(enum nm_message_type type)
{
	return type == NM_MESSAGE_HELLO || type == NM_MESSAGE_WELCOME ||
	       type == NM_MESSAGE_REFUSE || type == NM_MESSAGE_ABORT;
}

/* A value that the field must not take; NULL: there is no further one. */
static json_t *wrong_value(const struct nm_field *field, unsigned number)
{
	static const char *const of_numbers[] = {"-2", "1.5", "\"1\"", "true", "[]"};
	static const char *const of_others[] = {"5", "{\"x\":1}", "[[],{}]", "true"};
	const char *text = NULL;

	switch (field->type) {
	case NM_FIELD_U64:
	case NM_FIELD_U32:
		if (number == 5 && field->max && field->max < INT64_MAX)
			return json_integer((json_int_t)field->max + 1);
		if (number == 5 && field->type == NM_FIELD_U32)
			return json_integer((json_int_t)UINT32_MAX + 1);
		if (number == 6 && field->min)
			return json_integer((json_int_t)field->min - 1);
		/* fall through */
	case NM_FIELD_I64:
		text = number < 5 ? of_numbers[number] : NULL;
		break;
	case NM_FIELD_REAL:
	case NM_FIELD_SHARE:
		text = number < 3 ? of_numbers[number + 2] : NULL;
		break;
	case NM_FIELD_BOOL:
		text = number < 3 ? of_others[number] : NULL;
		break;
	case NM_FIELD_VALUE:
		break;
	default:
		text = number < 4 ? of_others[number] : NULL;
		break;
	}
	return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

/* Each member of `object`, which is somewhere in body, is left out and has wrong values. */
static void break_object(enum nm_message_type type, json_t *body, json_t *object,
			 const struct nm_field *fields)
{
	for (const struct nm_field *field = fields; field->name; field++) {
		json_t *right = json_incref(json_object_get(object, field->name)), *wrong;

		ck_assert_ptr_nonnull(right);
		if (field->type == NM_FIELD_OBJECT)
			break_object(type, body, right, field->fields);
		(void)json_object_del(object, field->name);
		ck_assert_msg(unpack(type, body) == -EPROTO, "%s without %s", nm_message_word(type),
			      field->name);
		for (unsigned i = 0; (wrong = wrong_value(field, i)); i++) {
			(void)json_object_set_new(object, field->name, wrong);
			ck_assert_msg(unpack(type, body) == -EPROTO, "%s with wrong %s %u",
				      nm_message_word(type), field->name, i);
		}
		(void)json_object_set_new(object, field->name, right);
		ck_assert_int_eq(unpack(type, body), 0);
	}
}

START_TEST(a_body_is_held_against_its_table)
{
	enum nm_message_type type = messages[_i].type;
	json_t *root = json_loads(messages[_i].text, 0, NULL), *body = json_array_get(root, 1);

	ck_assert_ptr_nonnull(body);
	ck_assert_int_eq(unpack(type, body), 0);
	break_object(type, body, body, nm_message_fields(type));
	(void)json_object_set_new(body, "more", json_true());
	ck_assert_int_eq(unpack(type, body), takes_more(type) ? 0 : -EPROTO);
	json_decref(root);
}
END_TEST

START_TEST(a_message_cut_anywhere_is_none)
{
	const char *text = messages[_i].text;

	for (size_t cut = 0; cut < strlen(text); cut++) {
		char *piece = malloc(cut + 1), why[128];
		struct nm_message message;

		ck_assert_ptr_nonnull(piece);
		memcpy(piece, text, cut);
		for (int state = 0; state <= NM_SESSION_END; state++)
			ck_assert_int_eq(nm_message_decode(piece, cut, NM_SIDE_BOTH,
							   (enum nm_session_state)state, &message,
							   why, sizeof why),
					 -EPROTO);
		free(piece);
	}
}
END_TEST

START_TEST(rows_have_exactly_their_values)
{
	static const char *const wrong[] = {"[1,2,3,4,5]",	"[1,2,3,4,5,6,7,8]", "{}", "null",
					    "[1,2,3,4,5,6,-1]", "[1,2,3,4,5,6,1.5]"};
	struct nm_rusage got = {0};
	json_t *list = json_loads("[1,2,3,4,5,6,7]", 0, NULL);

	ck_assert_int_eq(nm_row_unpack(nm_rusage_fields, list, &got), 0);
	ck_assert_uint_eq(got.utime_ns, 1);
	ck_assert_uint_eq(got.nivcsw, 7);
	json_decref(list);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		list = json_loads(wrong[i], JSON_DECODE_ANY, NULL);
		ck_assert_int_eq(nm_row_unpack(nm_rusage_fields, list, &got), -EPROTO);
		json_decref(list);
	}
}
END_TEST

START_TEST(numbers_too_great_for_json_are_the_greatest)
{
	const struct nm_rusage sent = {.utime_ns = UINT64_MAX};
	json_t *list = nm_row_pack(nm_rusage_fields, &sent);

	ck_assert_int_eq(json_integer_value(json_array_get(list, 0)), NM_FIELD_MOST);
	json_decref(list);
}
END_TEST

START_TEST(a_value_that_is_missing_fails_and_loses_nothing)
{
	/* The address sanitizer would find the list that was taken. */
	ck_assert_ptr_null(nm_connect_pack(NULL, nonce));
	struct nm_host_facts facts = {.n_cpus = 1};

	ck_assert_ptr_null(nm_ready_pack(NULL, nonce, &facts));
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("golden");
	TCase *tc = tcase_create("golden");

	/* For golden.h. */
	for (int i = 0; argc > 1 && i < N_MESSAGES; i++) {
		size_t size;

		puts(nm_message_encode(messages[i].type, messages[i].make(), &size));
	}
	if (argc > 1)
		return argv[1] == NULL;
	tcase_add_loop_test(tc, a_message_has_these_bytes, 0, N_MESSAGES);
	tcase_add_test(tc, each_message_stands_here);
	tcase_add_loop_test(tc, a_body_is_held_against_its_table, 0, N_MESSAGES);
	tcase_add_loop_test(tc, a_message_cut_anywhere_is_none, 0, N_MESSAGES);
	tcase_add_test(tc, rows_have_exactly_their_values);
	tcase_add_test(tc, numbers_too_great_for_json_are_the_greatest);
	tcase_add_test(tc, a_value_that_is_missing_fails_and_loses_nothing);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
