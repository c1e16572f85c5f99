/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct nm_latency latency(double scale)
{
	return (struct nm_latency){
		.count = 1000,
		.min_s = 10e-6 * scale,
		.mean_s = 20e-6 * scale,
		.max_s = 500e-6 * scale,
		.stddev_s = 5e-6 * scale,
		.pct_s = {19e-6 * scale, 99e-6 * scale},
	};
}

static struct nm_window window(double seconds, uint64_t transactions)
{
	return (struct nm_window){
		.seconds = seconds,
		.counts = {.iterations = transactions,
			   .bytes_sent = transactions * 100,
			   .bytes_received = transactions * 1000},
		.latency = latency(1),
	};
}

void sample_add_flows(struct nm_window *window)
{
	window->sized = calloc(NM_SIZED__COUNT, sizeof(*window->sized));
	ck_assert_ptr_nonnull(window->sized);
	for (unsigned i = 0; i < NM_SIZED__COUNT; i++)
		window->sized[i] = (struct nm_latency){.count = i ? 10 : 40,
						       .min_s = 1,
						       .mean_s = 2.5 + i,
						       .max_s = 200,
						       .stddev_s = 4,
						       .pct_s = {1.25, 123.4}};
}

static void add_groups(struct nm_result *result)
{
	static const char *const names[] = {"small", "large"};

	result->groups = calloc(2, sizeof(*result->groups));
	ck_assert_ptr_nonnull(result->groups);
	result->n_groups = 2;
	for (size_t i = 0; i < 2; i++) {
		struct nm_result_group *group = &result->groups[i];
		group->name = strdup(names[i]);
		group->n_flows = 8;
		group->n_workers = 2;
		group->totals = window(2, 10000);
		group->n_phases = 2;
		group->phases = calloc(2, sizeof(*group->phases));
		ck_assert_ptr_nonnull(group->phases);
		group->phases[0] = (struct nm_result_phase){
			.name = strdup(""), .line = 5, .seconds = 0.1, .whole = {.seconds = 0.1}};
		group->phases[0].whole.counts.connects = 8;
		group->phases[1] = (struct nm_result_phase){.name = strdup("work"),
							    .line = 9,
							    .measured = true,
							    .begin_s = 0.1,
							    .seconds = 3,
							    .whole = window(3, 15000)};
	}
}

static void fill_usage(struct nm_usage *usage)
{
	usage->has_cpu = true;
	usage->cpu = (struct nm_cpu_times){.user_ns = 100000000,
					   .system_ns = 300000000,
					   .softirq_ns = 100000000,
					   .idle_ns = 500000000,
					   .n_cpus = 2};
	usage->process = (struct nm_rusage){
		.utime_ns = 250000000, .stime_ns = 750000000, .maxrss_kb = 4096, .nvcsw = 12};
	usage->at_ns = 2000000000;
	usage->has_interrupts = true;
	usage->interrupts = (struct nm_interrupts){.hardware = 24000, .context_switches = 700};
	usage->has_softirqs = true;
	usage->softirqs = (struct nm_softirqs){
		.total = 5000000,
		.known = 1 << NM_SOFTIRQ_NET_RX | 1 << NM_SOFTIRQ_NET_TX | 1 << NM_SOFTIRQ_SCHED,
		.kinds = {[NM_SOFTIRQ_NET_RX] = 4000000, [NM_SOFTIRQ_SCHED] = 246}};
	usage->has_softnet = true;
	usage->softnet = (struct nm_softnet){.processed = 8000, .dropped = 6, .squeezed = 4};
	usage->has_pressure = true;
	usage->pressure = (struct nm_pressure){.cpu_some_ns = 300000000, .irq_full_ns = -1};
	usage->has_unhalted = true;
	usage->unhalted = (struct nm_unhalted){"msr",
					       2,
					       .awake = 7250000000,
					       .all = 11600000000,
					       .cycles = 8700000000,
					       .ns = 4000000000,
					       .kernel_ns = 2000000000};
	usage->has_cpufreq = true;
	usage->cpufreq = (struct nm_cpufreq){2, 4000000, 6000000};
	usage->has_tcp = true;
	usage->tcp = (struct nm_tcp_counters){.segs_in = 7, .segs_out = 8, .retrans_segs = 1};
	strcpy(usage->nics_why, "no netlink here");
}

static void add_hosts(struct nm_result *result)
{
	static const char *const names[] = {"master", "10.0.0.7", "fd00::8"};

	result->hosts = calloc(3, sizeof(*result->hosts));
	ck_assert_ptr_nonnull(result->hosts);
	result->n_hosts = 3;
	for (size_t i = 0; i < 3; i++) {
		struct nm_result_host *host = &result->hosts[i];
		host->name = strdup(names[i]);
		host->address = i ? strdup(names[i]) : NULL;
		host->is_master = i == 0;
		host->complete = true;
		strcpy(host->facts.kernel, "6.1.0");
		host->facts.n_cpus = 2;
		host->rtt_s = 0.0001;
		host->start_skew_s = i == 2 ? -0.0003 : 0.0002;
		host->groups = calloc(2, sizeof(*host->groups));
		ck_assert_ptr_nonnull(host->groups);
		host->n_groups = 2;
		host->groups[0] = host->groups[1] = (struct nm_counts){.iterations = 15000};
		host->counts = (struct nm_counts){
			.iterations = 30000, .bytes_sent = 3000000, .bytes_received = 30000000};
		host->has_usage = i < 2;
		fill_usage(&host->usage);
		host->each.cpus.count = 1;
		host->each.cpus.items[0] = (struct nm_cpu_load){
			.cpu = 4, .user = 10, .idle = 4, .iowait = 1, .softirq = 5};
		strcpy(host->connections.why, "the connections were closed");
	}
	result->hosts[0].connections = (struct nm_conn_report){.connections = 16,
							       .retransmits = 3,
							       .min_rtt_s = 5e-6,
							       .srtt_min_s = 1e-5,
							       .srtt_mean_s = 2e-5,
							       .srtt_max_s = 3e-5,
							       .congestion_control = "cubic",
							       .tls = {.connections = 16,
								       .resumed = 15,
								       .ktls_send = 14,
								       .ktls_receive = 13,
								       .version = "TLSv1.3",
								       .cipher = "A-CIPHER"}};
	struct nm_host_interval *row = calloc(1, sizeof(*row));
	ck_assert_ptr_nonnull(row);
	*row = (struct nm_host_interval){.from_s = 1,
					 .to_s = 2.0001,
					 .phase = 1,
					 .counts = {.iterations = 1000},
					 .cpu = result->hosts[1].usage.cpu};
	result->hosts[1].intervals = row;
	result->hosts[1].n_intervals = 1;
	result->hosts[0].usage.process_start.maxrss_kb = 2048;
	result->hosts[1].window = (struct nm_host_window){
		.from_ns = 999999999,
		.to_ns = 2999999999,
		.ns = 2000000000,
		.counts = {.iterations = 16000, .bytes_sent = 100, .bytes_received = 400000}};
	result->hosts[2].window = result->hosts[1].window;
	result->hosts[2].window.counts =
		(struct nm_counts){.iterations = 24000, .bytes_received = 600000};
}

static void add_params(struct nm_result *result)
{
	result->params.items = calloc(2, sizeof(*result->params.items));
	ck_assert_ptr_nonnull(result->params.items);
	result->params.count = 2;
	result->params.items[0] = (struct nm_param){.name = strdup("num_flows"),
						    .type = NM_TYPE_COUNT,
						    .def = strdup("1"),
						    .value = strdup("8"),
						    .source = NM_PARAM_DEFINED};
	result->params.items[1] = (struct nm_param){.name = strdup("request_size"),
						    .type = NM_TYPE_SIZE,
						    .def = strdup("100"),
						    .value = strdup("100")};
}

struct nm_result *sample_result(void)
{
	struct nm_result *result = nm_result_new();

	ck_assert_ptr_nonnull(result);
	result->profile.name = strdup("mix");
	memset(result->profile.sha256, 'a', 64);
	result->id.run_id = strdup("0123456789abcdef0123456789abcdef");
	result->id.version = strdup("1.2.3");
	result->wall.start_ns = 1700000000123456789u; /* 2023-11-14T22:13:20 */
	result->elapsed_s = 3.25;
	result->wall.offset_ns = 1700000000123456789u;
	result->from_ns = 1000000000;
	result->to_ns = 3000000000;
	result->id.seed = 42;
	result->complete = true;
	result->grid.warmup_s = 1;
	result->grid.interval_s = 1;
	ck_assert_int_eq(nm_percentiles_parse("50,99.99", &result->percentiles), 0);
	result->totals = window(2, 20000);
	result->verdict.reconciled = NM_RECONCILED_YES;
	result->has_start_skew = true;
	result->start_skew_s = 0.0005;
	add_params(result);
	add_groups(result);
	add_hosts(result);
	result->intervals = calloc(3, sizeof(*result->intervals));
	ck_assert_ptr_nonnull(result->intervals);
	result->n_intervals = 3;
	for (size_t i = 0; i < 3; i++) {
		struct nm_result_interval *interval = &result->intervals[i];

		*interval = (struct nm_result_interval){
			.from_s = (double)i,
			.to_s = (double)i + 1,
			.phase = 1,
			.part = i ? NM_PART_MEASURED : NM_PART_WARMUP,
			.window = window(1, 10000),
			.groups = calloc(2, sizeof(*interval->groups)),
			.n_groups = 2,
		};
		ck_assert_ptr_nonnull(interval->groups);
		interval->groups[0] = window(1, 9000);
		interval->groups[1] = window(1, 1000);
	}
	result->intervals[2].window.latency.count = 0;
	return result;
}

struct nm_runs sample_series(struct nm_result **run)
{
	return (struct nm_runs){.runs = run, .n_runs = 1};
}

char *sample_write(const char *format, const struct nm_runs *series)
{
	const struct nm_report *report = nm_report_find(format);
	char *text = NULL;
	size_t length;

	ck_assert_ptr_nonnull(report);
	FILE *stream = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stream);
	ck_assert_int_eq(report->write(series, stream), 0);
	ck_assert_int_eq(fclose(stream), 0);
	return text;
}
