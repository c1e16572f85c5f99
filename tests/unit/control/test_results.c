/* SPDX-License-Identifier: Apache-2.0 */
/* What a host tells of its part of a run: results, reports and counters are read back, and refused
 * where they do not fit. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../suite.h"
#include "control/wire/codec.h"
#include "control/wire/limits.h"
#include "flowop/flowop.h"
#include "json_text.h"

static struct nm_msg_result *new_result(void)
{
	struct nm_msg_result *result = calloc(1, sizeof *result);

	ck_assert_ptr_nonnull(result);
	result->groups = calloc(2, sizeof *result->groups);
	ck_assert_ptr_nonnull(result->groups);
	return result;
}

static void free_result(struct nm_msg_result *result)
{
	free(result->groups);
	free(result);
}

START_TEST(results_are_read_back)
{
	struct nm_msg_result *sent = new_result(), *got = new_result();

	sent->groups[1].bytes_received = 99;
	sent->connections.srtt_mean_s = 0.25;
	(void)snprintf(sent->connections.congestion_control,
		       sizeof sent->connections.congestion_control, "cubic");
	sent->connections.tls = (struct nm_tls_report){.connections = 4,
						       .resumed = 3,
						       .ktls_send = 2,
						       .ktls_receive = 1,
						       .version = "TLSv1.3",
						       .cipher = "TLS_AES_128_GCM_SHA256"};
	sent->has_usage = true;
	sent->usage.has_nics = true;
	sent->usage.cpu.softirq_ns = 5;
	sent->usage.cpu.n_cpus = 2;
	sent->usage.process.nivcsw = 6;
	sent->usage.tcp.listen_overflows = 7;
	sent->usage.n_nics = 1;
	(void)snprintf(sent->usage.nics[0].name, sizeof sent->usage.nics[0].name, "eth0");
	sent->usage.nics[0].tx_dropped = 8;
	sent->usage.has_psp = true;
	sent->usage.has_interrupts = true;
	sent->usage.interrupts = (struct nm_interrupts){.hardware = 16, .context_switches = 17};
	sent->usage.has_softirqs = true;
	sent->usage.softirqs = (struct nm_softirqs){
		.total = 18, .known = 1 << NM_SOFTIRQ_RCU, .kinds = {[NM_SOFTIRQ_RCU] = 19}};
	sent->usage.has_softnet = sent->usage.has_pressure = sent->usage.has_unhalted = true;
	sent->usage.softnet.squeezed = 20;
	sent->usage.pressure = (struct nm_pressure){.irq_full_ns = -1, .io_full_ns = 21};
	sent->usage.unhalted = (struct nm_unhalted){"cpuidle", 2, 22, 23, 24, 25, -1};
	sent->usage.has_cpufreq = true;
	sent->usage.cpufreq = (struct nm_cpufreq){2, 26, 27};
	sent->each.cpus.count = 1;
	sent->each.cpus.items[0] = (struct nm_cpu_load){.cpu = 3, .steal = 28};
	sent->usage.n_psp = 1;
	sent->usage.psp[0] = (struct nm_psp_usage){
		.name = "eth1", .id = 3, .stats = {.key_rotations = 2, .tx_error = 9}};
	sent->arrived = (struct nm_arrived){.bytes = 11, .ns = 12};
	sent->window = (struct nm_host_window){
		.from_ns = 13, .to_ns = 14, .ns = 1, .counts = {.bytes_mapped = 15}};
	json_t *body = nm_result_pack(sent, 2);

	ck_assert_int_eq(nm_result_unpack(body, 2, got), 0);
	ck_assert_uint_eq(got->groups[1].bytes_received, 99);
	ck_assert(got->connections.srtt_mean_s == 0.25);
	ck_assert_str_eq(got->connections.congestion_control, "cubic");
	ck_assert_uint_eq(got->connections.tls.connections, 4);
	ck_assert_uint_eq(got->connections.tls.resumed, 3);
	ck_assert_uint_eq(got->connections.tls.ktls_send, 2);
	ck_assert_uint_eq(got->connections.tls.ktls_receive, 1);
	ck_assert_str_eq(got->connections.tls.version, "TLSv1.3");
	ck_assert_str_eq(got->connections.tls.cipher, "TLS_AES_128_GCM_SHA256");
	ck_assert(got->has_usage);
	ck_assert(got->usage.has_nics);
	ck_assert(!got->usage.has_cpu);
	ck_assert_uint_eq(got->usage.cpu.softirq_ns, 5);
	ck_assert_uint_eq(got->usage.cpu.n_cpus, 2);
	ck_assert_uint_eq(got->usage.process.nivcsw, 6);
	ck_assert_uint_eq(got->usage.tcp.listen_overflows, 7);
	ck_assert_uint_eq(got->usage.n_nics, 1);
	ck_assert_str_eq(got->usage.nics[0].name, "eth0");
	ck_assert_uint_eq(got->usage.nics[0].tx_dropped, 8);
	ck_assert(got->usage.has_psp);
	ck_assert_uint_eq(got->usage.n_psp, 1);
	ck_assert_str_eq(got->usage.psp[0].name, "eth1");
	ck_assert_uint_eq(got->usage.psp[0].id, 3);
	ck_assert_uint_eq(got->usage.psp[0].stats.key_rotations, 2);
	ck_assert_uint_eq(got->usage.psp[0].stats.tx_error, 9);
	ck_assert(got->usage.has_interrupts && got->usage.has_softirqs);
	ck_assert_uint_eq(got->usage.interrupts.hardware, 16);
	ck_assert_uint_eq(got->usage.interrupts.context_switches, 17);
	ck_assert_uint_eq(got->usage.softirqs.total, 18);
	ck_assert_uint_eq(got->usage.softirqs.known, 1 << NM_SOFTIRQ_RCU);
	ck_assert_uint_eq(got->usage.softirqs.kinds[NM_SOFTIRQ_RCU], 19);
	ck_assert(got->usage.has_softnet && got->usage.has_pressure && got->usage.has_unhalted);
	ck_assert_uint_eq(got->usage.softnet.squeezed, 20);
	ck_assert_int_eq(got->usage.pressure.irq_full_ns, -1);
	ck_assert_int_eq(got->usage.pressure.io_full_ns, 21);
	ck_assert_str_eq(got->usage.unhalted.source, "cpuidle");
	ck_assert_uint_eq(got->usage.unhalted.cycles, 24);
	ck_assert_int_eq(got->usage.unhalted.kernel_ns, -1);
	ck_assert(got->usage.has_cpufreq);
	ck_assert_uint_eq(got->usage.cpufreq.end_khz, 27);
	ck_assert_uint_eq(got->each.cpus.count, 1);
	ck_assert_uint_eq(got->each.cpus.items[0].cpu, 3);
	ck_assert_uint_eq(got->each.cpus.items[0].steal, 28);
	ck_assert_uint_eq(got->arrived.bytes, 11);
	ck_assert_uint_eq(got->arrived.ns, 12);
	ck_assert_uint_eq(got->window.from_ns, 13);
	ck_assert_uint_eq(got->window.to_ns, 14);
	ck_assert_uint_eq(got->window.ns, 1);
	ck_assert_uint_eq(got->window.counts.bytes_mapped, 15);
	ck_assert_int_eq(nm_result_unpack(body, 1, got), -EPROTO);
	json_decref(body);
	free_result(sent);
	free_result(got);
}
END_TEST

/* With the longest numbers, and all else as long as it may be. */
START_TEST(a_result_has_room_for_each_cpu_and_vector)
{
	const struct nm_message_scale nothing = {.of = {0}};
	struct nm_msg_result *sent = new_result();
	char why[128];

	sent->has_usage = true;
	sent->usage.has_nics = true;
	sent->usage.n_nics = NM_USAGE_MAX_NICS;
	sent->each.cpus.count = NM_CPU_LOADS_MAX;
	for (uint32_t cpu = 0; cpu < NM_CPU_LOADS_MAX; cpu++) {
		struct nm_cpu_load *load = &sent->each.cpus.items[cpu];

		*load = (struct nm_cpu_load){.cpu = cpu};
#define LONGEST(member) load->member = UINT32_MAX;
		NM_CPU_CLASSES(LONGEST)
#undef LONGEST
	}
	sent->each.vectors.count = NM_VECTORS_MAX;
	for (uint32_t i = 0; i < NM_VECTORS_MAX; i++) {
		struct nm_vector *vector = &sent->each.vectors.items[i];

		*vector = (struct nm_vector){.irq = UINT32_MAX, .interrupts = UINT64_MAX};
		memset(vector->nic, 'n', sizeof vector->nic - 1);
		memset(vector->name, 'v', sizeof vector->name - 1);
	}
	json_t *message = json_pack("[so]", "result", nm_result_pack(sent, 2));
	char *text = json_dumps(message, JSON_COMPACT);
	size_t length = strlen(text);

	ck_assert_int_eq(nm_message_check_values(text, length, &nothing, why, sizeof why), 0);
	ck_assert_uint_le(length, nm_message_most_bytes(NM_MESSAGE_RESULT, &nothing));
	free(text);
	json_decref(message);
	free_result(sent);
}
END_TEST

START_TEST(interrupts_that_a_slave_does_not_tell_are_not_known)
{
	struct nm_msg_result *sent = new_result(), *got = new_result();

	sent->has_usage = true;
	strcpy(sent->usage.interrupts_why, "no stat");
	strcpy(sent->usage.softirqs_why, "no softirqs");
	json_t *body = nm_result_pack(sent, 2);
	json_t *usage = json_object_get(body, "usage");

	ck_assert_int_eq(nm_result_unpack(body, 2, got), 0);
	ck_assert(!got->usage.has_interrupts && !got->usage.has_softirqs);
	ck_assert_str_eq(got->usage.interrupts_why, "no stat");
	ck_assert_str_eq(got->usage.softirqs_why, "no softirqs");
	ck_assert_int_eq(json_object_del(usage, "softirqs"), 0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), -EPROTO);
	json_decref(body);
	free_result(sent);
	free_result(got);
}
END_TEST

static const struct {
	const char *member, *value;
} wrong_interrupts[] = {
	{"interrupts", "[1]"},
	{"interrupts", "[1,2,3]"},
	{"interrupts", "[1,-2]"},
	{"interrupts", "5"},
	{"interrupts", "null"},
	{"softirqs", "[1,1,1,1,1,1,1,1,1,1,1]"},
	{"softirqs", "[1,1,1,1,1,1,1,1,1,1,1,-1]"},
	{"softirqs", "[1,1024,1,1,1,1,1,1,1,1,1,1]"},
	{"softirqs", "{}"},
};

START_TEST(interrupts_that_do_not_fit_are_refused)
{
	struct nm_msg_result *sent = new_result(), *got = new_result();

	sent->has_usage = true;
	json_t *body = nm_result_pack(sent, 2);
	json_t *usage = json_object_get(body, "usage");

	ck_assert_int_eq(
		json_object_set_new(usage, wrong_interrupts[_i].member,
				    json_loads(wrong_interrupts[_i].value, JSON_DECODE_ANY, NULL)),
		0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), -EPROTO);
	json_decref(body);
	free_result(sent);
	free_result(got);
}
END_TEST

START_TEST(results_that_do_not_fit_are_refused)
{
	struct nm_msg_result *sent = new_result(), *got = new_result();

	sent->has_usage = true;
	json_t *body = nm_result_pack(sent, 2);
	json_t *usage = json_object_get(body, "usage");
	json_t *nics = json_object_get(usage, "nics");
	json_t *nic = json_of("[\"eth0\",[1,2,3,4,5,6,7,8,9,10]]");

	for (unsigned i = 0; i < NM_USAGE_MAX_NICS; i++)
		ck_assert_int_eq(json_array_append(nics, nic), 0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), 0);
	ck_assert_int_eq(json_array_append(nics, nic), 0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), -EPROTO);
	ck_assert_int_eq(json_array_clear(nics), 0);
	json_decref(nic);
	nic = json_of("[\"a-name-of-an-interface-that-is-too-long\",[1,2,3,4,5,6,7,8,9,10]]");
	ck_assert_int_eq(json_array_append_new(nics, nic), 0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), -EPROTO);
	ck_assert_int_eq(json_array_clear(nics), 0);
	json_t *cc = json_string("a-name-far-too-long-for-it");
	ck_assert_int_eq(
		json_object_set_new(json_object_get(body, "connections"), "congestion_control", cc),
		0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), -EPROTO);
	json_decref(body);
	free_result(sent);
	free_result(got);
}
END_TEST

/* A group with a write and a read between two of the compiler's own, and one that the host has no
 * part in. */
static struct nm_plan *report_plan(void)
{
	static struct nm_instr instrs[5];
	static struct nm_phase phases[2];
	static struct nm_group report_groups[2];
	static struct nm_plan report;
	static const struct nm_flowop own = {.name = "(own)"};

	instrs[0] = (struct nm_instr){.op = &own};
	instrs[1] = (struct nm_instr){.op = nm_flowop_find("write"), .line = 7};
	instrs[2] = (struct nm_instr){.op = nm_flowop_find("read"), .line = 8};
	phases[0] = (struct nm_phase){.first = 0, .n_instrs = 3};
	phases[1] = (struct nm_phase){.first = 4};
	report_groups[0] = (struct nm_group){.n_flows = 2,
					     .n_phases = 2,
					     .phases = phases,
					     .instrs = instrs,
					     .n_instrs = 5,
					     .runs = true};
	report = (struct nm_plan){.groups = report_groups, .n_groups = 2};
	return &report;
}

/* Bucket 5 is 5 ns, bucket 200 is 200 ns. */
#define SUMS	    "[3,100,0,1,50,210]"
#define OUTCOMES    "[3,1,0,0,0,0,0,2,0,0]"
#define NO_OUTCOMES "[0,0,0,0,0,0,0,0,0,0]"
#define FLOWOPS                                                                                    \
	"[[" SUMS "," OUTCOMES ",[210,5,200,5,2,200,1]],[[4,0,9,0,0,0]," NO_OUTCOMES ",null]]"
#define COUNTS                                                                                     \
	"[2,100,9,0,0,1,0,0,0,0,0,0,0,0,0,0,0,"                                                    \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"
#define IDLE                                                                                       \
	"[0,[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"                                                       \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"  \
	"[null,null,null,null],[]]"
#define STRANDS "[" SUMS ",[4,0,9,0,0,0]]"
#define REPORT	"{\"elapsed_ns\":2000,\"groups\":[[[%s," IDLE "],%s],null]}"
/* One pass of 200 ns, of which the host has thought all but 5. */
#define TIMES	 "[[5,5,5,5,1],[200,200,200,200,1],null,null],"
#define NONE	 "[null,null,null,null],"
#define THE_WORK "[1000," COUNTS "," TIMES FLOWOPS "]"

START_TEST(a_report_is_read_by_its_plan)
{
	const struct nm_percentiles percentiles = {.pct = {50, 99}, .count = 2};
	struct nm_host_report *report;
	char text[1024];

	(void)snprintf(text, sizeof text, REPORT, THE_WORK, STRANDS);
	json_t *body = json_of(text);

	ck_assert_int_eq(nm_report_unpack(body, report_plan(), &percentiles, &report), 0);
	ck_assert_uint_eq(report->n_groups, 2);
	ck_assert_uint_eq(report->operations, 7);
	ck_assert(report->elapsed_s == 2e-6);
	const struct nm_group_report *group = &report->groups[0];

	ck_assert_uint_eq(group->n_transactions, 2);
	ck_assert_uint_eq(group->transactions[0].window.counts.iterations, 2);
	ck_assert_uint_eq(group->transactions[0].n_flowops, 2);
	ck_assert_uint_eq(group->transactions[1].n_flowops, 0);
	ck_assert(fabs(group->transactions[0].window.latency.mean_s - 5e-9) < 1e-15);
	ck_assert(fabs(group->transactions[0].window.pass.mean_s - 200e-9) < 1e-15);
	ck_assert_uint_eq(group->transactions[1].window.pass.count, 0);
	const struct nm_flowop_report *write = &group->transactions[0].flowops[0];

	ck_assert_uint_eq(write->outcomes.requests, 3);
	ck_assert_uint_eq(write->outcomes.hits, 1);
	ck_assert_uint_eq(write->outcomes.lost, 2);

	ck_assert_str_eq(write->name, "write");
	ck_assert_uint_eq(write->line, 7);
	ck_assert_uint_eq(write->operations, 3);
	ck_assert_uint_eq(write->bytes_sent, 100);
	ck_assert_uint_eq(write->errors, 1);
	ck_assert(write->cpu_s == 50e-9);
	ck_assert_uint_eq(write->time.count, 3);
	ck_assert(fabs(write->time.mean_s - 70e-9) < 1e-15);
	ck_assert(fabs(write->time.pct_s[0] - 5e-9) < 1e-15);
	ck_assert(fabs(write->time.pct_s[1] - 200e-9) < 1e-15);
	ck_assert_uint_eq(group->transactions[0].flowops[1].time.count, 0);
	ck_assert_uint_eq(group->n_strands, 2);
	ck_assert(group->strands[0].seconds == 210e-9);
	ck_assert_uint_eq(report->groups[1].n_transactions, 0);
	ck_assert_ptr_null(nm_host_report_free(report));
	json_decref(body);
}
END_TEST

static const struct {
	const char *work, *strands;
} wrong_reports[] = {
	{"null", STRANDS},
	{"[]", STRANDS},
	{"[-1," COUNTS "," NONE FLOWOPS "]", STRANDS},
	{"[1000,[1,2]," NONE FLOWOPS "]", STRANDS},
	{"[1000," COUNTS "," NONE "[]]", STRANDS},
	{"[1000," COUNTS "," NONE "[[" SUMS "," OUTCOMES ",null],[" SUMS "," OUTCOMES
	 ",null],[" SUMS "," OUTCOMES ",null]]]",
	 STRANDS},
	{"[1000," COUNTS "," NONE "[[[1,2,3]," OUTCOMES ",null],[" SUMS "," OUTCOMES ",null]]]",
	 STRANDS},
	{"[1000," COUNTS "," NONE "[[" SUMS ",[1,1],null],[" SUMS "," OUTCOMES ",null]]]", STRANDS},
	{"[1000," COUNTS ",[null,null,null]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[[1,2],null,null,null]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[null,null,null,[1,2]]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[[1,2,3,4],null,null,null]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[[1,3,2,4,1],null,null,null]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[[1,1,2,4,0],null,null,null]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[[1,1,2,4,1,4,1],null,null,null]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[[1,1,2,7424,1],null,null,null]," FLOWOPS "]", STRANDS},
	{"[1000," COUNTS ",[[1,1,2,4,9007199254740993],null,null,null]," FLOWOPS "]", STRANDS},
	{THE_WORK, "null"},
	{THE_WORK, "[" SUMS "]"},
	{THE_WORK, "[" SUMS ",[1]]"},
};

START_TEST(a_report_that_is_not_of_the_plan_is_refused)
{
	const struct nm_percentiles percentiles = {.count = 0};
	struct nm_host_report *report;
	char text[1024];

	(void)snprintf(text, sizeof text, REPORT, wrong_reports[_i].work,
		       wrong_reports[_i].strands);
	json_t *body = json_of(text);

	ck_assert_int_eq(nm_report_unpack(body, report_plan(), &percentiles, &report), -EPROTO);
	ck_assert_ptr_null(report);
	json_decref(body);
}
END_TEST

START_TEST(counters_are_read_back)
{
	struct nm_msg_result *sent = new_result(), *got = new_result();
	struct nm_perf_value *items = got->counters.items;

	sent->counters.count = 2;
	sent->counters.items[0] = (struct nm_perf_value){
		.name = "cycles", .has_user = true, .user = 12, .why = "no kernel", .share = 0.5};
	sent->counters.items[1] = (struct nm_perf_value){.name = "x",
							 .has_user = true,
							 .has_kernel = true,
							 .kernel = 3,
							 .has_total = true,
							 .total = 4,
							 .share = 1};
	json_t *body = nm_result_pack(sent, 2);
	json_t *list = json_object_get(body, "counters");

	ck_assert_int_eq(nm_result_unpack(body, 2, got), 0);
	ck_assert_uint_eq(got->counters.count, 2);
	ck_assert_str_eq(items[0].name, "cycles");
	ck_assert(items[0].has_user && !items[0].has_kernel);
	ck_assert_uint_eq(items[0].user, 12);
	ck_assert_str_eq(items[0].why, "no kernel");
	ck_assert(items[0].share == 0.5);
	ck_assert_uint_eq(items[1].kernel, 3);
	ck_assert(items[1].has_total && !items[0].has_total);
	ck_assert_uint_eq(items[1].total, 4);
	ck_assert_int_eq(json_array_set_new(json_array_get(list, 1), 5, json_real(1.5)), 0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), -EPROTO);
	ck_assert_int_eq(json_array_set_new(json_array_get(list, 1), 5, json_real(1)), 0);
	for (int i = 0; i < NM_PERF_MAX; i++)
		ck_assert_int_eq(json_array_append(list, json_array_get(list, 1)), 0);
	ck_assert_int_eq(nm_result_unpack(body, 2, got), -EPROTO);
	json_decref(body);
	free_result(sent);
	free_result(got);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("results");
	TCase *tc = tcase_create("results");

	tcase_add_test(tc, results_are_read_back);
	tcase_add_test(tc, a_result_has_room_for_each_cpu_and_vector);
	tcase_add_test(tc, interrupts_that_a_slave_does_not_tell_are_not_known);
	tcase_add_loop_test(tc, interrupts_that_do_not_fit_are_refused, 0,
			    sizeof wrong_interrupts / sizeof *wrong_interrupts);
	tcase_add_test(tc, results_that_do_not_fit_are_refused);
	tcase_add_test(tc, a_report_is_read_by_its_plan);
	tcase_add_loop_test(tc, a_report_that_is_not_of_the_plan_is_refused, 0,
			    sizeof wrong_reports / sizeof *wrong_reports);
	tcase_add_test(tc, counters_are_read_back);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
