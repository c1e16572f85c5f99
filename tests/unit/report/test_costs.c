/* SPDX-License-Identifier: Apache-2.0 */
#include "report/costs.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "../suite.h"

#define NS_OF_S UINT64_C(1000000000)

static struct nm_result_host hosts[2];
static struct nm_result result;

static void add_vector(struct nm_result_host *host, const char *nic, const char *name,
		       uint64_t interrupts)
{
	struct nm_vectors *vectors = &host->each.vectors;
	struct nm_vector *vector = &vectors->items[vectors->count++];

	*vector = (struct nm_vector){.interrupts = interrupts};
	strcpy(vector->nic, nic);
	strcpy(vector->name, name);
}

/* 4 CPUs, of whose time 3/8 were busy, over 2 s; 12 * 10^9 cycles in 4 s, counted apart. */
static void fill(struct nm_result_host *host)
{
	*host = (struct nm_result_host){.has_usage = true};
	host->usage = (struct nm_usage){
		.at_ns = 2 * NS_OF_S,
		.has_cpu = true,
		.cpu = {.system_ns = 3 * NS_OF_S, .idle_ns = 5 * NS_OF_S, .n_cpus = 4},
		.has_unhalted = true,
		.unhalted = {.ns = 4 * NS_OF_S, .cycles = 12 * NS_OF_S},
		.has_nics = true,
		.n_nics = 2,
		.nics = {{.name = "lo", .rx_packets = 1, .tx_packets = 1},
			 {.name = "eth0",
			  .rx_packets = 3000,
			  .tx_packets = 1000,
			  .vectors = 2,
			  .interrupts = 500}}};
}

static void setup(void)
{
	fill(&hosts[0]);
	fill(&hosts[1]);
	hosts[0].is_master = true;
	/* What the slave has counted itself, in a window that is longer than the master's. */
	hosts[1].window = (struct nm_host_window){
		.ns = 4 * NS_OF_S,
		.counts = {.iterations = 100, .bytes_sent = NS_OF_S, .bytes_received = NS_OF_S}};
	result = (struct nm_result){
		.totals = {.seconds = 2,
			   .counts = {.iterations = 1000, .bytes_received = 6 * NS_OF_S}},
		.hosts = hosts,
		.n_hosts = 2,
		.complete = true};
}

static double cost(size_t host, enum nm_cost which)
{
	struct nm_costs costs;

	nm_costs_of(&result, &hosts[host], &costs);
	return costs.value[which];
}

#define IS(host, word, expected) ck_assert_double_eq_tol(cost(host, NM_COST_##word), expected, 1e-9)
#define IS_UNKNOWN(word)	 ck_assert_double_nan(cost(0, NM_COST_##word))

START_TEST(each_end_by_what_it_has_counted)
{
	struct nm_costs costs;

	IS(0, CPU_PER_GB, 1.5 * 2 / 6);
	IS(0, CPU_PER_TRANSACTION, 1.5 * 2 / 1000);
	IS(0, CYCLES_PER_GB, 1e9);
	IS(0, CYCLES_PER_TRANSACTION, 6e6);
	IS(1, CPU_PER_GB, 1.5 * 4 / 2);
	IS(1, CPU_PER_TRANSACTION, 1.5 * 4 / 100);
	IS(1, CYCLES_PER_GB, 6e9);
	IS(1, CYCLES_PER_TRANSACTION, 12e7);
	for (size_t i = 0; i < 2; i++) {
		IS(i, CPU_PER_PACKET, 1.5 * 2 / 4000);
		IS(i, CYCLES_PER_PACKET, 1.5e6);
		IS(i, PACKETS_PER_INTERRUPT, 8);
	}
	nm_costs_of(&result, &hosts[0], &costs);
	ck_assert_str_eq(costs.nic, "eth0");
}
END_TEST

/* Of the 2 s of the CPUs the window of the messages has 1.5; what came in the rest was late. */
START_TEST(cpus_that_were_looked_at_for_longer)
{
	struct nm_host_window *window = &hosts[1].window;

	window->ns = 3 * NS_OF_S / 2;
	ck_assert_double_nan(cost(1, NM_COST_CPU_PER_GB));
	ck_assert_double_nan(cost(1, NM_COST_CYCLES_PER_GB));
	window->late_ns = NS_OF_S / 2;
	window->late_bytes = NS_OF_S;
	/* What it has sent since then nobody has counted. */
	ck_assert_double_nan(cost(1, NM_COST_CPU_PER_GB));
	ck_assert_double_nan(cost(1, NM_COST_CYCLES_PER_GB));
	window->counts = (struct nm_counts){.iterations = 100, .bytes_received = 2 * NS_OF_S};
	IS(1, CPU_PER_GB, 1.5 * 2 / 3);
	IS(1, CYCLES_PER_GB, 2e9);
	/* Nobody has counted which transactions were late. */
	ck_assert_double_nan(cost(1, NM_COST_CPU_PER_TRANSACTION));
	IS(1, CPU_PER_PACKET, 1.5 * 2 / 4000);
	/* A few per cent are those of the last flows. */
	window->late_ns = window->late_bytes = 0;
	window->ns = 2 * NS_OF_S / 100 * 97;
	IS(1, CPU_PER_GB, 1.5 * 1.94 / 2);
	result.totals.seconds = 1.5;
	IS_UNKNOWN(CPU_PER_GB);
}
END_TEST

START_TEST(what_is_not_known_is_no_cost)
{
	struct nm_usage *usage = &hosts[0].usage;

	usage->has_cpu = false;
	IS_UNKNOWN(CPU_PER_GB);
	IS_UNKNOWN(CPU_PER_PACKET);
	IS_UNKNOWN(CPU_PER_TRANSACTION);
	IS(0, CYCLES_PER_GB, 1e9);
	usage->unhalted.cycles = 0; /* idle states tell none */
	IS_UNKNOWN(CYCLES_PER_GB);
	IS_UNKNOWN(CYCLES_PER_PACKET);
	IS_UNKNOWN(CYCLES_PER_TRANSACTION);
	usage->nics[1].vectors = 0;
	IS_UNKNOWN(PACKETS_PER_INTERRUPT);
	setup();
	usage->nics[1].interrupts = 0;
	IS_UNKNOWN(PACKETS_PER_INTERRUPT);
	usage->has_nics = false;
	IS_UNKNOWN(CPU_PER_PACKET);
	result.totals.counts = (struct nm_counts){.iterations = 0};
	IS_UNKNOWN(CPU_PER_GB);
	IS_UNKNOWN(CPU_PER_TRANSACTION);
	setup();
	usage->cpu.system_ns = 0; /* less than a tick */
	IS_UNKNOWN(CPU_PER_GB);
	setup();
	hosts[0].has_usage = false;
	for (size_t i = 0; i < NM_COST__COUNT; i++)
		ck_assert_double_nan(cost(0, (enum nm_cost)i));
}
END_TEST

START_TEST(interrupts_spread_over_queues)
{
	struct nm_result_host *host = &hosts[0];

	IS_UNKNOWN(QUEUES_DEVIATION);
	add_vector(host, "eth0", "eth0-rx-0", 100);
	add_vector(host, "eth0", "eth0-tx-0", 100);
	IS_UNKNOWN(QUEUES_DEVIATION); /* of one queue there is none */
	IS_UNKNOWN(QUEUES_MAX);
	add_vector(host, "eth0", "mlx5_comp1@pci:0000:3b:00.0", 300);
	/* Of no queue, and of another interface. */
	static const char *const others[] = {"virtio2-config",
					     "mlx5_async0@pci:0000:3b:00.0",
					     "",
					     "eth0",
					     "eth0-event-9",
					     "0",
					     "-0",
					     "hclge-misc-0000:7d:00.0",
					     "idpf-eth0-Mailbox-0"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		add_vector(host, "eth0", others[i], 90);
	add_vector(host, "eth1", "eth1-rx-2", 90);
	IS(0, QUEUES_DEVIATION, 0.2);
	IS(0, QUEUES_MAX, 1.2);
	for (size_t i = 0; i < host->each.vectors.count; i++)
		host->each.vectors.items[i].interrupts = 7;
	host->each.vectors.items[0].interrupts = 0;
	IS(0, QUEUES_DEVIATION, 0); /* which is known */
	for (size_t i = 0; i < host->each.vectors.count; i++)
		host->each.vectors.items[i].interrupts = 0;
	IS_UNKNOWN(QUEUES_DEVIATION);
	IS_UNKNOWN(QUEUES_MAX);
}
END_TEST

START_TEST(vectors_of_queues)
{
	static const char *const names[] = {"eth0-TxRx-3",
					    "ice-eth0-TxRx-3",
					    "eth0-rxtx-3",
					    "eth0-Tx-Rx-3",
					    "eth0-fp-3",
					    "eth0-3",
					    "eth0-rx3",
					    "virtio2-input.3",
					    "virtio2-output.3",
					    "mlx5_comp3@pci:0000:3b:00.0",
					    "mlx4-3@0000:03:00.0",
					    "eth0-q3",
					    "mana_q3@pci:7870:00:00.0",
					    "gve-ntfy-blk3@pci:0000:00:04.0",
					    "hns3-0000:7d:00.0-TxRx-3"};
	struct nm_vectors *vectors = &hosts[0].each.vectors;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		vectors->count = 0;
		add_vector(&hosts[0], "eth0", "eth0-rx-0", 100);
		add_vector(&hosts[0], "eth0", names[i], 300);
		ck_assert_msg(cost(0, NM_COST_QUEUES_MAX) > 1.4, "%s", names[i]);
	}
}
END_TEST

START_TEST(over_runs)
{
	struct nm_result other = result, failed = result;
	struct nm_result *runs[] = {&result, &other, &failed};
	struct nm_runs series = {.runs = runs, .n_runs = 3};
	struct nm_costs_summary summary;

	other.totals.seconds = 4; /* twice as much for each */
	failed.complete = false;
	nm_costs_summarise(&series, 0, &summary);
	ck_assert_uint_eq(summary.value[NM_COST_CPU_PER_GB].n, 2);
	ck_assert_double_eq_tol(summary.value[NM_COST_CPU_PER_GB].mean, 0.75, 1e-9);
	ck_assert_double_eq_tol(summary.value[NM_COST_CPU_PER_GB].stddev, sqrt(0.125), 1e-9);
	ck_assert_uint_eq(summary.value[NM_COST_QUEUES_MAX].n, 0);
	nm_costs_summarise(&series, 2, &summary); /* no such host */
	ck_assert_uint_eq(summary.value[NM_COST_CPU_PER_GB].n, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("costs");
	TCase *tcase = tcase_create("costs");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, each_end_by_what_it_has_counted);
	tcase_add_test(tcase, cpus_that_were_looked_at_for_longer);
	tcase_add_test(tcase, what_is_not_known_is_no_cost);
	tcase_add_test(tcase, interrupts_spread_over_queues);
	tcase_add_test(tcase, vectors_of_queues);
	tcase_add_test(tcase, over_runs);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
