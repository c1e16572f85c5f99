/* SPDX-License-Identifier: Apache-2.0 */
/* What a host's CPUs and interrupts have cost, by what it has moved in the measured window. */
#ifndef NM_REPORT_COSTS_H
#define NM_REPORT_COSTS_H

#include <stdio.h>

#include "result/runs.h"

/* X(word, name in results, column for people, its form, meaning). */
#define NM_COSTS(X)                                                                                \
	X(CPU_PER_GB, "cpu_per_gb_s", "CPU/GB", nm_format_duration,                                \
	  "Busy CPU time, whoever used it, per 10^9 bytes of messages, both ways.")                \
	X(CPU_PER_PACKET, "cpu_per_packet_s", "CPU/packet", nm_format_duration,                    \
	  "The same per packet on the interface, both ways.")                                      \
	X(CPU_PER_TRANSACTION, "cpu_per_transaction_s", "CPU/transaction", nm_format_duration,     \
	  "The same per transaction.")                                                             \
	X(CYCLES_PER_GB, "cycles_per_gb", "cycles/GB", nm_format_count,                            \
	  "Cycles of all CPUs that did not sleep, per 10^9 bytes of messages, both ways.")         \
	X(CYCLES_PER_PACKET, "cycles_per_packet", "cycles/packet", nm_format_count,                \
	  "The same per packet on the interface, both ways.")                                      \
	X(CYCLES_PER_TRANSACTION, "cycles_per_transaction", "cycles/transaction", nm_format_count, \
	  "The same per transaction.")                                                             \
	X(PACKETS_PER_INTERRUPT, "packets_per_nic_interrupt", "packets/interrupt",                 \
	  nm_format_count, "Packets on the interface, both ways, per interrupt of its vectors.")   \
	X(QUEUES_DEVIATION, "queue_interrupts_deviation", "deviation", nm_format_count,            \
	  "The standard deviation of the interrupts of its queues, by their mean.")                \
	X(QUEUES_MAX, "queue_interrupts_max", "busiest queue", nm_format_count,                    \
	  "The interrupts of its busiest queue, by the mean of all.")

enum nm_cost {
#define NM_COST_WORD(word, ...) NM_COST_##word,
	NM_COSTS(NM_COST_WORD)
#undef NM_COST_WORD
		NM_COST__COUNT
};

struct nm_costs {
	char nic[32];		      /* the interface with the most packets; "": not known */
	double value[NM_COST__COUNT]; /* NAN: not known, and never 0 for that */
};

/* Of a host of the result. */
void nm_costs_of(const struct nm_result *result, const struct nm_result_host *host,
		 struct nm_costs *ret_costs);

/* Those of the host at one place of each complete run. */
struct nm_costs_summary {
	struct nm_summary value[NM_COST__COUNT];
};
void nm_costs_summarise(const struct nm_runs *series, size_t host,
			struct nm_costs_summary *ret_summary);

/* For people. */
struct nm_cost_form {
	const char *label;
	char *(*format)(double value, char *buf, size_t size);
};
extern const struct nm_cost_form nm_cost_forms[NM_COST__COUNT];
void nm_text_costs_print(const struct nm_result *result, unsigned width, FILE *out);

#endif
