/* SPDX-License-Identifier: Apache-2.0 */
#include "host/usage_priv.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"

static struct nm_usage before, after, delta;

static void start(void)
{
	memset(&before, 0, sizeof before);
	memset(&after, 0, sizeof after);
	memset(&delta, 0xff, sizeof delta);
}

static const char stat_text[] = "cpu  19911 1673 34924 900413 1813 7 15591 201 5 6\n"
				"cpu0 8193 474 18954 450660 90 0 9577 95 0 0\n"
				"cpu1 11717 1199 15969 449752 1722 0 6014 105 0 0\n"
				"intr 123 0 9 0\n"
				"ctxt 1\n";

START_TEST(stat_gives_the_time_of_all_cpus)
{
	struct nm_cpu_times cpu;

	ck_assert_int_eq(host__parse_stat(stat_text, 100, &cpu), 0);
	ck_assert_uint_eq(cpu.user_ns, UINT64_C(199110000000));
	ck_assert_uint_eq(cpu.nice_ns, UINT64_C(16730000000));
	ck_assert_uint_eq(cpu.system_ns, UINT64_C(349240000000));
	ck_assert_uint_eq(cpu.idle_ns, UINT64_C(9004130000000));
	ck_assert_uint_eq(cpu.iowait_ns, UINT64_C(18130000000));
	ck_assert_uint_eq(cpu.irq_ns, UINT64_C(70000000));
	ck_assert_uint_eq(cpu.softirq_ns, UINT64_C(155910000000));
	ck_assert_uint_eq(cpu.steal_ns, UINT64_C(2010000000));
	ck_assert_uint_eq(cpu.n_cpus, 2);
}
END_TEST

START_TEST(the_group_that_limits_the_cpu_is_found)
{
	static const struct {
		const char *text, *path;
		size_t root;
	} cases[] = {
		{"0::/system.slice/a b.service\n", "/sys/fs/cgroup/system.slice/a b.service", 14},
		{"0::/\n", "/sys/fs/cgroup", 14},
		{"0::/\n1:cpu:/", "/sys/fs/cgroup/cpu", 18},
		{"12:cpuset:/x\n4:cpu,cpuacct:/pod/1\n0::/else\n",
		 "/sys/fs/cgroup/cpu,cpuacct/pod/1", 26},
		{"4:cpu:/pod\n", "/sys/fs/cgroup/cpu/pod", 18},
		{"3:memory:/pod\n", NULL, 0},
		{"nothing\n4\n:", NULL, 0},
		{"", NULL, 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char path[64];

		ck_assert_uint_eq(host__parse_cgroup(cases[i].text, path, sizeof path),
				  cases[i].root);
		if (cases[i].root)
			ck_assert_str_eq(path, cases[i].path);
	}
}
END_TEST

START_TEST(periods_of_both_versions_are_added)
{
	struct nm_throttling sum = {.periods = 0};

	host__parse_cpu_stat("nr_periods 15\nnr_throttled 12\nthrottled_time 900\n", &sum);
	host__parse_cpu_stat("usage_usec 5\nnr_periods 1\nnr_throttled 1\nthrottled_usec 2\n",
			     &sum);
	host__parse_cpu_stat("usage_usec\n", &sum);
	host__parse_cpu_stat("", &sum);
	ck_assert_uint_eq(sum.periods, 16);
	ck_assert_uint_eq(sum.throttled, 13);
	ck_assert_uint_eq(sum.throttled_ns, 2900);
	start();
	before.throttling = (struct nm_throttling){10, 4, 100};
	after.throttling = sum;
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.throttling.periods, 6);
	ck_assert_uint_eq(delta.throttling.throttled, 9);
	ck_assert_uint_eq(delta.throttling.throttled_ns, 2800);
}
END_TEST

START_TEST(ticks_are_of_the_length_that_is_said)
{
	struct nm_cpu_times cpu;

	ck_assert_int_eq(host__parse_stat(stat_text, 1000, &cpu), 0);
	ck_assert_uint_eq(cpu.user_ns, UINT64_C(19911000000));
}
END_TEST

static const char *const bad_stats[] = {
	"",
	"\n",
	"cpu \n",
	"cpu  a b c d\n",
	"cpu  1 2 3\n",
	"intr 1 2 3 4 5 6 7 8\n",
	"cpu0 1 2 3 4 5 6 7 8\n",
};

START_TEST(stat_without_cpu_time_is_refused)
{
	struct nm_cpu_times cpu = {.n_cpus = 77};

	ck_assert_int_eq(host__parse_stat(bad_stats[_i], 100, &cpu), -EINVAL);
	ck_assert_uint_eq(cpu.n_cpus, 77);
}
END_TEST

START_TEST(stat_without_ticks_is_refused)
{
	struct nm_cpu_times cpu = {.n_cpus = 77};

	ck_assert_int_eq(host__parse_stat(stat_text, 0, &cpu), -EINVAL);
	ck_assert_int_eq(host__parse_stat(stat_text, -1, &cpu), -EINVAL);
	ck_assert_uint_eq(cpu.n_cpus, 77);
}
END_TEST

START_TEST(stat_gives_interrupts_and_switches)
{
	struct nm_interrupts got;

	ck_assert_int_eq(host__parse_interrupts(stat_text, &got), 0);
	ck_assert_uint_eq(got.hardware, 123);
	ck_assert_uint_eq(got.context_switches, 1);
	ck_assert_int_eq(host__parse_interrupts("ctxt 5\nintr 18446744073709551615\n", &got), 0);
	ck_assert_uint_eq(got.hardware, UINT64_MAX);
	ck_assert_uint_eq(got.context_switches, 5);
}
END_TEST

static const struct {
	const char *text;
	int error;
} bad_interrupts[] = {
	{"", -EINVAL},
	{"intr 5\n", -EINVAL},
	{"ctxt 5\n", -EINVAL},
	{"intr \nctxt 5\n", -EINVAL},
	{"intr x\nctxt 5\n", -EINVAL},
	{"intr -5\nctxt 5\n", -EINVAL},
	{"intr 5 4 1\nctxt 5", -EINVAL}, /* perhaps the first digit of more */
	{"intr 5 4", -EINVAL},
	{"xintr 5\nctxt 5\n", -EINVAL},
	{"intr 0 0 0\nctxt 5\n", -ENODATA},
	{"intr 5\nctxt 0\n", -ENODATA},
};

START_TEST(stat_without_interrupts_is_refused)
{
	struct nm_interrupts got = {.hardware = 77};

	ck_assert_int_eq(host__parse_interrupts(bad_interrupts[_i].text, &got),
			 bad_interrupts[_i].error);
	ck_assert_uint_eq(got.hardware, 77);
}
END_TEST

#define CPUS "                    CPU0       CPU1       \n"

START_TEST(softirqs_are_summed_by_kind)
{
	struct nm_softirqs got;

	ck_assert_int_eq(host__parse_softirqs(CPUS "          HI:          0          0\n"
						   "      NET_TX:          3          4\n"
						   "      NET_RX: 4294967295 4294967295\n"
						   "BLOCK_IOPOLL:          1          2\n"
						   "     NEW_ONE:         10         20\n",
					      &got),
			 0);
	ck_assert_uint_eq(got.kinds[NM_SOFTIRQ_NET_TX], 7);
	ck_assert_uint_eq(got.kinds[NM_SOFTIRQ_NET_RX], UINT64_C(8589934590));
	ck_assert_uint_eq(got.kinds[NM_SOFTIRQ_IRQ_POLL], 3);
	ck_assert_uint_eq(got.total, UINT64_C(8589934590) + 7 + 3 + 30);
	/* None so far is another thing than none at all. */
	ck_assert(nm_softirq_known(&got, NM_SOFTIRQ_HI));
	ck_assert(!nm_softirq_known(&got, NM_SOFTIRQ_SCHED));
	ck_assert_int_eq(host__parse_softirqs("CPU0\nSCHED: 5\n", &got), 0);
	ck_assert_uint_eq(got.total, 5);
	ck_assert_str_eq(nm_softirq_name(NM_SOFTIRQ_SCHED), "sched");
}
END_TEST

static const struct {
	const char *text;
	int error;
} bad_softirqs[] = {
	{"", -EINVAL},
	{"\n", -EINVAL},
	{CPUS, -EINVAL},
	{"      NET_RX: 1 2\n", -EINVAL},
	{CPUS "      NET_RX: 1 2", -EINVAL},
	{CPUS "      NET_RX: 1 2\n      NET_TX: 3 ", -EINVAL},
	{CPUS "      NET_RX: 1 2\n      NET_", -EINVAL},
	{CPUS "      NET_RX:\n", -EINVAL},
	{CPUS "      NET_RX 1 2\n", -EINVAL},
	{CPUS "      NET_RX: 1 x\n", -EINVAL},
	{CPUS "      NET_RX: 1 -2\n", -EINVAL},
	{CPUS "      : 1 2\n", -EINVAL},
	{CPUS "\n      NET_RX: 1 2\n", -EINVAL},
	{CPUS "     NEW_ONE: 1 2\n", -EINVAL},
	{CPUS "      NET_RX: 0 0\n       SCHED: 0 0\n", -ENODATA},
};

START_TEST(other_texts_are_no_softirqs)
{
	struct nm_softirqs got = {.total = 77};

	ck_assert_int_eq(host__parse_softirqs(bad_softirqs[_i].text, &got), bad_softirqs[_i].error);
	ck_assert_uint_eq(got.total, 77);
}
END_TEST

START_TEST(interrupts_are_counted_over_the_end_of_a_counter)
{
	before.has_interrupts = before.has_softirqs = true;
	before.interrupts = (struct nm_interrupts){.hardware = UINT32_MAX, .context_switches = 7};
	before.softirqs.kinds[NM_SOFTIRQ_NET_RX] = UINT64_C(0x1fffffff0);
	before.softirqs.kinds[NM_SOFTIRQ_TIMER] = 5;
	before.softirqs.known = 1 << NM_SOFTIRQ_NET_RX | 1 << NM_SOFTIRQ_TIMER;
	before.softirqs.total = UINT64_C(0x1fffffff5);
	after = before;
	after.interrupts = (struct nm_interrupts){.hardware = 9, .context_switches = 10};
	after.softirqs.kinds[NM_SOFTIRQ_NET_RX] = UINT64_C(0x100000020); /* of one of two CPUs */
	after.softirqs.kinds[NM_SOFTIRQ_TIMER] = UINT64_C(0x200000005);
	after.softirqs.known = 1 << NM_SOFTIRQ_NET_RX | 1 << NM_SOFTIRQ_SCHED;
	after.softirqs.total = UINT64_C(0x100000025);
	nm_usage_delta(&before, &after, &delta);
	ck_assert(delta.has_interrupts && delta.has_softirqs);
	ck_assert_uint_eq(delta.interrupts.hardware, 10);
	ck_assert_uint_eq(delta.interrupts.context_switches, 3);
	ck_assert_uint_eq(delta.softirqs.kinds[NM_SOFTIRQ_NET_RX], 0x30);
	ck_assert_uint_eq(delta.softirqs.kinds[NM_SOFTIRQ_TIMER], UINT64_C(0x200000000));
	ck_assert_uint_eq(delta.softirqs.total, 0x30);
	ck_assert_uint_eq(delta.softirqs.known, 1 << NM_SOFTIRQ_NET_RX);
}
END_TEST

#define SOFTNET_REST " 00000000 00000000 00000000 00000000 00000000 00000000"
#define SOFTNET_END  " 00000000 00000001 00000000 00000000\n"

START_TEST(softnet_is_summed_over_cpus)
{
	struct nm_softnet got;

	ck_assert_int_eq(host__parse_softnet("0c0fd0d3 00000063 00000004" SOFTNET_REST
					     " 0000000a 00000002" SOFTNET_END
					     "0000000f 00000001 00000000" SOFTNET_REST
					     " 00000001 00000000\n",
					     &got),
			 0);
	ck_assert_uint_eq(got.processed, 0x0c0fd0e2);
	ck_assert_uint_eq(got.dropped, 0x64);
	ck_assert_uint_eq(got.squeezed, 4);
	ck_assert_uint_eq(got.steered, 11);
	ck_assert_uint_eq(got.flow_limited, 2);
	ck_assert_int_eq(host__parse_softnet("", &got), -EINVAL);
	ck_assert_int_eq(host__parse_softnet("0000000f 00000001 00000000\n", &got), -EINVAL);
	ck_assert_int_eq(host__parse_softnet("0000000f 0000000x 00000000" SOFTNET_REST
					     " 00000001 00000000\n",
					     &got),
			 -EINVAL);
	ck_assert_uint_eq(got.dropped, 0x64);
	before.has_softnet = after.has_softnet = true;
	before.softnet = (struct nm_softnet){.processed = UINT32_MAX, .dropped = 5};
	after.softnet = (struct nm_softnet){.processed = 9, .dropped = 7};
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.softnet.processed, 10);
	ck_assert_uint_eq(delta.softnet.dropped, 2);
	ck_assert(delta.has_softnet);
	before.softnet.which = 1;
	nm_usage_delta(&before, &after, &delta);
	ck_assert(!delta.has_softnet);
	ck_assert_str_eq(delta.softnet_why, "CPUs came or went");
	/* The same counts, of other CPUs. */
	ck_assert_int_eq(host__parse_softnet("1 0 0" SOFTNET_REST " 0 0 0 0 0\n", &before.softnet),
			 0);
	ck_assert_int_eq(host__parse_softnet("1 0 0" SOFTNET_REST " 0 0 0 1 0\n", &after.softnet),
			 0);
	ck_assert_uint_ne(before.softnet.which, after.softnet.which);
	ck_assert_int_eq(host__parse_softnet("1 0 0" SOFTNET_REST " 0\n", &after.softnet), -EINVAL);
}
END_TEST

START_TEST(pressure_is_the_total_of_its_line)
{
	static const char text[] = "some avg10=59.05 avg60=14.99 avg300=6.32 total=6712867799\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=21\n";

	ck_assert_int_eq(host__parse_pressure(text, "some"), INT64_C(6712867799000));
	ck_assert_int_eq(host__parse_pressure(text, "full"), 21000);
	ck_assert_int_eq(host__parse_pressure("full avg10=0.00 total=21\n", "some"), -1);
	ck_assert_int_eq(host__parse_pressure("some avg10=0.00\n", "some"), -1);
	ck_assert_int_eq(host__parse_pressure("some total=18446744073709551615\n", "some"), -1);
	ck_assert_int_eq(host__parse_pressure("", "some"), -1);
	before.pressure = (struct nm_pressure){.cpu_some_ns = 4000, .irq_full_ns = -1};
	after.pressure = (struct nm_pressure){.cpu_some_ns = 9000, .irq_full_ns = 7};
	nm_usage_delta(&before, &after, &delta);
	ck_assert_int_eq(delta.pressure.cpu_some_ns, 5000);
	ck_assert_int_eq(delta.pressure.irq_full_ns, -1);
}
END_TEST

static const char snmp_text[] =
	"Ip: Forwarding DefaultTTL InReceives\n"
	"Ip: 1 64 123\n"
	"Tcp: RtoAlgorithm MaxConn InSegs OutSegs RetransSegs InErrs OutRsts\n"
	"Tcp: 1 -1 37730295 18446744073709551615 27866 0 1032076\n"
	"Udp: InDatagrams\n"
	"Udp: 5\n";

static uint64_t found(const char *text, const char *group, const char *name)
{
	uint64_t value = 77;

	ck_assert_int_eq(host__parse_snmp(text, group, name, &value), 0);
	return value;
}

START_TEST(snmp_values_stand_below_their_names)
{
	ck_assert_uint_eq(found(snmp_text, "Ip", "Forwarding"), 1);
	ck_assert_uint_eq(found(snmp_text, "Ip", "InReceives"), 123);
	ck_assert_uint_eq(found(snmp_text, "Tcp", "InSegs"), 37730295);
	ck_assert_uint_eq(found(snmp_text, "Tcp", "OutSegs"), UINT64_MAX);
	ck_assert_uint_eq(found(snmp_text, "Tcp", "RetransSegs"), 27866);
	ck_assert_uint_eq(found(snmp_text, "Tcp", "OutRsts"), 1032076);
	ck_assert_uint_eq(found(snmp_text, "Udp", "InDatagrams"), 5);
}
END_TEST

START_TEST(counters_that_a_kernel_lacks_are_not_known)
{
	const char *text = "TcpExt: ListenOverflows DelayedACKs\nTcpExt: 2 30\n";
	struct nm_tcp_counters tcp = {.segs_in = 5};

	ck_assert_int_eq(host__parse_tcp(text, "TcpExt", &tcp), 0);
	ck_assert_uint_eq(tcp.segs_in, 5);
	ck_assert_uint_eq(tcp.listen_overflows, 2);
	ck_assert_int_eq(tcp.delayed_acks, 30);
	ck_assert_int_eq(tcp.auto_corks, -1);
	ck_assert_int_eq(host__parse_tcp("TcpExt: DelayedACKs\nTcpExt: 30\n", "TcpExt", &tcp),
			 -EINVAL);
	before.tcp = after.tcp = tcp;
	after.tcp.delayed_acks = 35;
	after.tcp.quick_acks = 4;
	nm_usage_delta(&before, &after, &delta);
	ck_assert_int_eq(delta.tcp.delayed_acks, 5);
	ck_assert_int_eq(delta.tcp.quick_acks, -1);
	ck_assert_int_eq(delta.tcp.auto_corks, -1);
}
END_TEST

START_TEST(a_group_is_not_taken_for_one_that_begins_alike)
{
	const char *text = "TcpExt: InSegs ListenOverflows\nTcpExt: 1 2\nTcp: InSegs\nTcp: 9\n";

	ck_assert_uint_eq(found(text, "Tcp", "InSegs"), 9);
	ck_assert_uint_eq(found(text, "TcpExt", "InSegs"), 1);
	ck_assert_uint_eq(found(text, "TcpExt", "ListenOverflows"), 2);
}
END_TEST

static const struct {
	const char *text, *group, *name;
} missing[] = {
	{"", "Tcp", "InSegs"},
	{snmp_text, "Tcp", "InSeg"},
	{snmp_text, "Tcp", "InSegsX"},
	{snmp_text, "Tcp", "InDatagrams"},
	{snmp_text, "Tc", "InSegs"},
	{snmp_text, "Sctp", "InSegs"},
	{"Tcp: InSegs OutSegs\nTcp: 1\n", "Tcp", "OutSegs"},
	{"Tcp: InSegs\n", "Tcp", "InSegs"},
	{"Tcp: InSegs", "Tcp", "InSegs"},
	{"Tcp: InSegs\nUdp: 1\n", "Tcp", "InSegs"},
};

START_TEST(what_snmp_does_not_have_is_not_found)
{
	uint64_t value = 77;

	ck_assert_int_eq(
		host__parse_snmp(missing[_i].text, missing[_i].group, missing[_i].name, &value),
		-EINVAL);
	ck_assert_uint_eq(value, 77);
}
END_TEST

#define TICK UINT64_C(10000000)

/* With so many ticks all CPUs together have been idle. */
static void idle_for(uint64_t ticks)
{
	before = (struct nm_usage){.has_cpu = true, .cpu = {.user_ns = 3 * TICK, .n_cpus = 2}};
	after = before;
	after.cpu.idle_ns = ticks * TICK;
	nm_usage_delta(&before, &after, &delta);
}

START_TEST(a_few_ticks_say_nothing_of_cpus)
{
	if (sysconf(_SC_CLK_TCK) != 100)
		return;
	idle_for(NM_CPU_TICKS_MIN);
	ck_assert(delta.has_cpu);
	idle_for(NM_CPU_TICKS_MIN - 1);
	ck_assert(!delta.has_cpu);
	ck_assert_ptr_nonnull(strstr(delta.cpu_why, "10 ticks"));
	ck_assert_uint_eq(delta.cpu.idle_ns, (NM_CPU_TICKS_MIN - 1) * TICK);
	idle_for(0);
	ck_assert(!delta.has_cpu);
}
END_TEST

START_TEST(a_delta_is_what_was_used_between)
{
	before = (struct nm_usage){
		.at_ns = 1000,
		.has_cpu = true,
		.has_nics = true,
		.has_tcp = true,
		.cpu = {.user_ns = 10, .idle_ns = TICK, .softirq_ns = 1, .n_cpus = 2},
		.process = {.utime_ns = 5, .stime_ns = 6, .maxrss_kb = 400, .nvcsw = 7},
		.tcp = {.segs_in = 1, .segs_out = 2, .retrans_segs = 3, .listen_overflows = 4},
		.n_nics = 1,
		.nics = {{.name = "eth0", .rx_bytes = 1000, .tx_dropped = 5}},
	};
	after = before;
	after.at_ns = 3000;
	after.cpu = (struct nm_cpu_times){
		.user_ns = 30, .idle_ns = 301 * TICK, .softirq_ns = 5, .n_cpus = 2};
	after.process =
		(struct nm_rusage){.utime_ns = 15, .stime_ns = 26, .maxrss_kb = 500, .nvcsw = 37};
	after.tcp = (struct nm_tcp_counters){
		.segs_in = 11, .segs_out = 22, .retrans_segs = 33, .listen_overflows = 44};
	after.nics[0].rx_bytes = 1500;
	after.nics[0].tx_dropped = 6;
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.at_ns, 2000);
	ck_assert(delta.has_cpu && delta.has_nics && delta.has_tcp);
	ck_assert_uint_eq(delta.cpu.user_ns, 20);
	ck_assert_uint_eq(delta.cpu.idle_ns, 300 * TICK);
	ck_assert_uint_eq(delta.cpu.softirq_ns, 4);
	ck_assert_uint_eq(delta.cpu.n_cpus, 2);
	ck_assert_uint_eq(delta.process.utime_ns, 10);
	ck_assert_uint_eq(delta.process.stime_ns, 20);
	ck_assert_uint_eq(delta.process.nvcsw, 30);
	/* A peak is not subtracted. */
	ck_assert_uint_eq(delta.process.maxrss_kb, 500);
	ck_assert_uint_eq(delta.tcp.segs_in, 10);
	ck_assert_uint_eq(delta.tcp.segs_out, 20);
	ck_assert_uint_eq(delta.tcp.retrans_segs, 30);
	ck_assert_uint_eq(delta.tcp.listen_overflows, 40);
	ck_assert_uint_eq(delta.n_nics, 1);
	ck_assert_str_eq(delta.nics[0].name, "eth0");
	ck_assert_uint_eq(delta.nics[0].rx_bytes, 500);
	ck_assert_uint_eq(delta.nics[0].tx_dropped, 1);
}
END_TEST

START_TEST(interfaces_are_matched_by_name)
{
	before = (struct nm_usage){
		.has_nics = true,
		.n_nics = 2,
		.nics = {{.name = "gone", .rx_bytes = 9}, {.name = "eth0", .rx_bytes = 100}},
	};
	after = (struct nm_usage){
		.has_nics = true,
		.n_nics = 2,
		.nics = {{.name = "eth0", .rx_bytes = 150}, {.name = "new", .rx_bytes = 70}},
	};
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.n_nics, 2);
	ck_assert_str_eq(delta.nics[0].name, "eth0");
	ck_assert_uint_eq(delta.nics[0].rx_bytes, 50);
	ck_assert_str_eq(delta.nics[1].name, "new");
	ck_assert_uint_eq(delta.nics[1].rx_bytes, 70);
}
END_TEST

START_TEST(cpu_time_that_stepped_back_is_nothing)
{
	before = (struct nm_usage){.has_cpu = true, .cpu = {.iowait_ns = 100, .n_cpus = 1}};
	after = (struct nm_usage){.has_cpu = true, .cpu = {.iowait_ns = 90, .n_cpus = 1}};
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.cpu.iowait_ns, 0);
}
END_TEST

START_TEST(what_is_missing_afterwards_is_missing_with_its_reason)
{
	before.has_interrupts = before.has_softirqs = true;
	before.has_cpu = before.has_nics = before.has_tcp = true;
	strcpy(after.cpu_why, "no cpu");
	strcpy(after.nics_why, "no nics");
	strcpy(after.tcp_why, "no tcp");
	strcpy(after.interrupts_why, "no stat");
	strcpy(after.softirqs_why, "no softirqs");
	nm_usage_delta(&before, &after, &delta);
	ck_assert(!delta.has_cpu && !delta.has_nics && !delta.has_tcp);
	ck_assert_str_eq(delta.cpu_why, "no cpu");
	ck_assert_str_eq(delta.nics_why, "no nics");
	ck_assert_str_eq(delta.tcp_why, "no tcp");
	ck_assert(!delta.has_interrupts && !delta.has_softirqs);
	ck_assert_str_eq(delta.interrupts_why, "no stat");
	ck_assert_str_eq(delta.softirqs_why, "no softirqs");
}
END_TEST

START_TEST(what_was_missing_before_is_missing_with_its_reason)
{
	after.has_interrupts = after.has_softirqs = true;
	after.has_cpu = after.has_nics = after.has_tcp = true;
	strcpy(before.cpu_why, "no cpu");
	strcpy(before.nics_why, "no nics");
	strcpy(before.tcp_why, "no tcp");
	strcpy(before.interrupts_why, "no stat");
	strcpy(before.softirqs_why, "no softirqs");
	nm_usage_delta(&before, &after, &delta);
	ck_assert(!delta.has_cpu && !delta.has_nics && !delta.has_tcp);
	ck_assert_str_eq(delta.cpu_why, "no cpu");
	ck_assert_str_eq(delta.nics_why, "no nics");
	ck_assert_str_eq(delta.tcp_why, "no tcp");
	ck_assert(!delta.has_interrupts && !delta.has_softirqs);
	ck_assert_str_eq(delta.interrupts_why, "no stat");
	ck_assert_str_eq(delta.softirqs_why, "no softirqs");
}
END_TEST

/* On any Linux: either there, or with a reason. */
START_TEST(this_host_is_read)
{
	nm_usage_read(&before);
	ck_assert_uint_gt(before.at_ns, 0);
	ck_assert_uint_gt(before.process.maxrss_kb, 0);
	ck_assert(before.has_cpu == (before.cpu_why[0] == '\0'));
	ck_assert(before.has_interrupts == (before.interrupts_why[0] == '\0'));
	ck_assert(before.has_softirqs == (before.softirqs_why[0] == '\0'));
	ck_assert(before.has_softnet == (before.softnet_why[0] == '\0'));
	ck_assert(before.has_pressure == (before.pressure_why[0] == '\0'));
	ck_assert(before.has_nics == (before.nics_why[0] == '\0'));
	ck_assert(before.has_tcp == (before.tcp_why[0] == '\0'));
	if (before.has_cpu) {
		ck_assert_uint_gt(before.cpu.n_cpus, 0);
		ck_assert_uint_gt(before.cpu.user_ns + before.cpu.idle_ns, 0);
	}
	if (before.has_nics)
		ck_assert_uint_gt(before.n_nics, 0); /* a loopback is always there */
	for (size_t i = 0; i < before.n_nics; i++) {
		ck_assert(before.nics[i].name[0] != '\0');
		ck_assert_uint_eq(before.nics[i].vectors, 0); /* until these are read */
		ck_assert_uint_gt(before.nics[i].id.index, 0);
	}
}
END_TEST

START_TEST(two_readings_do_not_go_backwards)
{
	nm_usage_read(&before);
	nm_usage_read(&after);
	ck_assert_uint_ge(after.at_ns, before.at_ns);
	ck_assert_uint_ge(after.process.utime_ns + after.process.stime_ns,
			  before.process.utime_ns + before.process.stime_ns);
	nm_usage_delta(&before, &after, &delta);
	ck_assert_uint_eq(delta.at_ns, after.at_ns - before.at_ns);
	/* One second of work cannot have passed between two readings of an idle test. */
	ck_assert_uint_lt(delta.process.utime_ns, UINT64_C(1000000000));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage");
	TCase *tc = tcase_create("usage");

	tcase_add_checked_fixture(tc, start, NULL);
	tcase_add_test(tc, stat_gives_the_time_of_all_cpus);
	tcase_add_test(tc, the_group_that_limits_the_cpu_is_found);
	tcase_add_test(tc, periods_of_both_versions_are_added);
	tcase_add_test(tc, ticks_are_of_the_length_that_is_said);
	tcase_add_loop_test(tc, stat_without_cpu_time_is_refused, 0,
			    sizeof bad_stats / sizeof *bad_stats);
	tcase_add_test(tc, stat_without_ticks_is_refused);
	tcase_add_test(tc, stat_gives_interrupts_and_switches);
	tcase_add_loop_test(tc, stat_without_interrupts_is_refused, 0,
			    sizeof bad_interrupts / sizeof *bad_interrupts);
	tcase_add_test(tc, softirqs_are_summed_by_kind);
	tcase_add_loop_test(tc, other_texts_are_no_softirqs, 0,
			    sizeof bad_softirqs / sizeof *bad_softirqs);
	tcase_add_test(tc, interrupts_are_counted_over_the_end_of_a_counter);
	tcase_add_test(tc, softnet_is_summed_over_cpus);
	tcase_add_test(tc, pressure_is_the_total_of_its_line);
	tcase_add_test(tc, snmp_values_stand_below_their_names);
	tcase_add_test(tc, counters_that_a_kernel_lacks_are_not_known);
	tcase_add_test(tc, a_group_is_not_taken_for_one_that_begins_alike);
	tcase_add_loop_test(tc, what_snmp_does_not_have_is_not_found, 0,
			    sizeof missing / sizeof *missing);
	tcase_add_test(tc, a_few_ticks_say_nothing_of_cpus);
	tcase_add_test(tc, a_delta_is_what_was_used_between);
	tcase_add_test(tc, interfaces_are_matched_by_name);
	tcase_add_test(tc, cpu_time_that_stepped_back_is_nothing);
	tcase_add_test(tc, what_is_missing_afterwards_is_missing_with_its_reason);
	tcase_add_test(tc, what_was_missing_before_is_missing_with_its_reason);
	tcase_add_test(tc, this_host_is_read);
	tcase_add_test(tc, two_readings_do_not_go_backwards);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
