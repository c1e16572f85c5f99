/* SPDX-License-Identifier: Apache-2.0 */
/* Costs are rates by rates: what CPUs spend by their own window, what is moved by the window of
 * whoever has counted it, as these may differ a little in length. */
#include "report/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "report/common.h"

/* The window of the CPUs may be longer by so much, and by the time that telling all workers takes
 * on a busy machine: CPUs that do something else, or nothing, in the rest of it would make all that
 * is moved cost too little, or too much. */
#define LONGER	 1.05
#define LONGER_S 0.02

/* NAN where one is not known, or 0: counters may be too coarse for so little. */
static double quotient(double a, double b)
{
	return a > 0 && b > 0 ? a / b : NAN;
}

static double usage_s(const struct nm_usage *usage)
{
	return (double)usage->at_ns / 1e9;
}

/* Busy CPUs. The kernel's ticks are coarse, so that their shares are better than their sum. */
static double busy(const struct nm_usage *usage)
{
	const struct nm_cpu_times *cpu = &usage->cpu;

	return usage->has_cpu ? nm_cpu_share(cpu, nm_cpu_busy_ns(cpu)) * cpu->n_cpus : NAN;
}

static double cycles_per_s(const struct nm_usage *usage)
{
	const struct nm_unhalted *unhalted = &usage->unhalted;

	return usage->has_unhalted ? quotient((double)unhalted->cycles, (double)unhalted->ns / 1e9)
				   : NAN;
}

static double packets(const struct nm_nic *nic)
{
	return (double)nic->rx_packets + (double)nic->tx_packets;
}

/* The interface with the most packets; NULL: it is not known. */
static const struct nm_nic *interface_of(const struct nm_usage *usage)
{
	const struct nm_nic *found = NULL;

	for (size_t i = 0; usage->has_nics && i < usage->n_nics; i++)
		if (!found || packets(&usage->nics[i]) > packets(found))
			found = &usage->nics[i];
	return found;
}

/* --- queues --- */

struct queue {
	unsigned long number;
	double interrupts;
};

/* Whether a name of so many bytes ends in a word of a queue, or is that of the interface. Vectors
 * for events, mailboxes and other things may have numbers, too, also of a PCI function. */
static bool is_queue(const struct nm_vector *vector, size_t length)
{
	static const char *const words[] = {"rx", "tx", "fp",	 "input", "output", "comp",
					    "-q", "_q", "queue", "blk",	  "mlx4"};
	bool found = strlen(vector->nic) == length && !memcmp(vector->name, vector->nic, length);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i]);

		found |= length >= n && nm_ascii_is(vector->name + length - n, n, words[i]);
	}
	return found;
}

/* The number of a queue at the end of a vector's name, before the place of its function of PCI: 3
 * of "eth0-TxRx-3", "eth0-3", "virtio2-input.3" and "mlx5_comp3@pci:0000:3b:00.0". */
static bool queue_of(const struct nm_vector *vector, unsigned long *ret_number)
{
	size_t end = strcspn(vector->name, "@"), begin = end;

	while (begin > 0 && vector->name[begin - 1] >= '0' && vector->name[begin - 1] <= '9')
		begin--;
	size_t length = begin;

	if (length > 0 && strchr("-._", vector->name[length - 1]))
		length--;
	*ret_number = strtoul(vector->name + begin, NULL, 10);
	return begin < end && is_queue(vector, length);
}

/* A queue may have a vector for each direction: those of one number are one queue. */
static size_t queues_of(const struct nm_vectors *vectors, const char *nic,
			struct queue queues[NM_VECTORS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < vectors->count; i++) {
		const struct nm_vector *vector = &vectors->items[i];
		unsigned long number;
		size_t k = 0;

		if (strcmp(vector->nic, nic) != 0 || !queue_of(vector, &number))
			continue;
		while (k < count && queues[k].number != number)
			k++;
		if (k == count)
			queues[count++] = (struct queue){.number = number};
		queues[k].interrupts += (double)vector->interrupts;
	}
	return count;
}

/* How the interrupts are spread; over one queue they are not. */
static void add_spread(const struct nm_vectors *vectors, struct nm_costs *costs)
{
	struct queue queues[NM_VECTORS_MAX];
	size_t count = queues_of(vectors, costs->nic, queues);
	double mean = 0, squares = 0, most = 0;

	if (count < 2)
		return;
	for (size_t i = 0; i < count; i++)
		mean += queues[i].interrupts / (double)count;
	for (size_t i = 0; i < count; i++) {
		squares += pow(queues[i].interrupts - mean, 2) / (double)count;
		most = fmax(most, queues[i].interrupts);
	}
	if (mean > 0)
		costs->value[NM_COST_QUEUES_DEVIATION] = sqrt(squares) / mean;
	costs->value[NM_COST_QUEUES_MAX] = quotient(most, mean);
}

/* --- the costs --- */

/* NAN also where the CPUs were looked at for longer. */
static double rate(double amount, double seconds, const struct nm_usage *usage)
{
	return usage_s(usage) <= LONGER * seconds + LONGER_S ? quotient(amount, seconds) : NAN;
}

/* The window that the messages of a host are counted in: the master's is that of the totals. Bytes
 * that came when it had closed have cost CPU time, too; what was sent then nobody has counted. */
static void add_moved(const struct nm_result *result, const struct nm_result_host *host,
		      struct nm_costs *costs)
{
	const struct nm_counts *counts =
		host->is_master ? &result->totals.counts : &host->window.counts;
	double seconds = host->is_master ? result->totals.seconds : (double)host->window.ns / 1e9;
	double bytes = (double)counts->bytes_sent + (double)counts->bytes_received, late_s = 0;

	if (counts->bytes_sent == 0) {
		bytes += (double)host->window.late_bytes;
		late_s = (double)host->window.late_ns / 1e9;
	}
	double gb_per_s = rate(bytes / 1e9, seconds + late_s, &host->usage);
	double transactions_per_s = rate((double)counts->iterations, seconds, &host->usage);
	double cpus = busy(&host->usage), cycles = cycles_per_s(&host->usage);

	costs->value[NM_COST_CPU_PER_GB] = quotient(cpus, gb_per_s);
	costs->value[NM_COST_CPU_PER_TRANSACTION] = quotient(cpus, transactions_per_s);
	costs->value[NM_COST_CYCLES_PER_GB] = quotient(cycles, gb_per_s);
	costs->value[NM_COST_CYCLES_PER_TRANSACTION] = quotient(cycles, transactions_per_s);
}

static void add_nic(const struct nm_result_host *host, struct nm_costs *costs)
{
	const struct nm_nic *nic = interface_of(&host->usage);

	if (!nic)
		return;
	double packets_per_s = quotient(packets(nic), usage_s(&host->usage));

	memcpy(costs->nic, nic->name, sizeof(costs->nic));
	costs->value[NM_COST_CPU_PER_PACKET] = quotient(busy(&host->usage), packets_per_s);
	costs->value[NM_COST_CYCLES_PER_PACKET] =
		quotient(cycles_per_s(&host->usage), packets_per_s);
	if (nic->vectors)
		costs->value[NM_COST_PACKETS_PER_INTERRUPT] =
			quotient(packets(nic), (double)nic->interrupts);
	add_spread(&host->each.vectors, costs);
}

void nm_costs_of(const struct nm_result *result, const struct nm_result_host *host,
		 struct nm_costs *ret_costs)
{
	*ret_costs = (struct nm_costs){.nic = ""};
	for (size_t i = 0; i < NM_COST__COUNT; i++)
		ret_costs->value[i] = NAN;
	if (!host->has_usage)
		return;
	add_moved(result, host, ret_costs);
	add_nic(host, ret_costs);
}

void nm_costs_summarise(const struct nm_runs *series, size_t host,
			struct nm_costs_summary *ret_summary)
{
	/* Out of memory: summaries of no values. */
	double *values = calloc(series->n_runs * NM_COST__COUNT + 1, sizeof(*values));
	size_t n = 0;

	for (size_t i = 0; values && i < series->n_runs; i++) {
		const struct nm_result *run = series->runs[i];
		struct nm_costs costs;

		if (!run->complete || host >= run->n_hosts)
			continue;
		nm_costs_of(run, &run->hosts[host], &costs);
		for (size_t k = 0; k < NM_COST__COUNT; k++)
			values[k * series->n_runs + n] = costs.value[k];
		n++;
	}
	for (size_t k = 0; k < NM_COST__COUNT; k++)
		nm_summary_of_known(values ? values + k * series->n_runs : NULL, n,
				    &ret_summary->value[k]);
	free(values);
}
