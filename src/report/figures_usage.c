/* SPDX-License-Identifier: Apache-2.0 */
/* The document's parts about what a host has used. Most of them come from the tables of
 * src/host/usage_fields.c. */
#include <math.h>

#include "report/figures.h"

/* --- the item is a struct nm_usage --- */

static double window_s(const void *item)
{
	return (double)((const struct nm_usage *)item)->at_ns / 1e9;
}

#define WINDOW_SECONDS                                                                             \
	{                                                                                          \
		.json = "seconds", .kind = NM_FIGURE_RATE, .rate = window_s, .schema = "seconds",  \
		.doc = "The length of the window."                                                 \
	}

#define WINDOW_AND(table, at)                                                                      \
	(const struct nm_figure[])                                                                 \
	{                                                                                          \
		WINDOW_SECONDS, NM_FIELDS_FIGURE(table, at), NM_FIGURE_END                         \
	}

static double awake(const void *item)
{
	const struct nm_unhalted *unhalted = &((const struct nm_usage *)item)->unhalted;

	return unhalted->all ? (double)unhalted->awake / (double)unhalted->all : NAN;
}

static double awake_s(const void *item)
{
	const struct nm_usage *usage = item;

	return awake(item) * (double)usage->unhalted.ns / 1e9;
}

static double hidden(const void *item)
{
	const struct nm_unhalted *unhalted = &((const struct nm_usage *)item)->unhalted;

	return unhalted->kernel_ns < 0
		       ? NAN
		       : awake(item) - (double)unhalted->kernel_ns / (double)unhalted->ns;
}

/* TSC counts all, at one rate on every CPU. */
static double frequency(const void *item)
{
	const struct nm_usage *usage = item;
	const struct nm_unhalted *unhalted = &usage->unhalted;
	double all_hz = (double)unhalted->all / (double)unhalted->ns * 1e9;

	return unhalted->cycles && unhalted->awake
		       ? all_hz * (double)unhalted->cycles / (double)unhalted->awake
		       : NAN;
}

static const struct nm_figure unhalted_figures[] = {
	WINDOW_SECONDS,
	NM_FIGURE(CHARS, struct nm_usage, unhalted.source, "source", .is_label = true,
		  .doc = "msr (APERF, MPERF and TSC), ref-cycles or cpuidle."),
	NM_FIGURE(COUNT32, struct nm_usage, unhalted.n_cpus, "n_cpus"),
	NM_RATE("busy", awake, .schema = NM_SCHEMA_REAL_OR_NULL,
		.doc = "The share of all CPUs' time in which they did not sleep."),
	NM_RATE("awake_s", awake_s, .schema = NM_SCHEMA_REAL_OR_NULL,
		.doc = "That time, summed over the CPUs."),
	NM_RATE("hidden", hidden, .schema = "{'type': ['number', 'null']}",
		.doc = "That share less what the kernel's account has in the same window, steal "
		       "aside. Below 0 within the errors of both."),
	NM_RATE("frequency_hz", frequency, .schema = NM_SCHEMA_REAL_OR_NULL,
		.doc = "Of CPUs that did not sleep; null: not known."),
	NM_FIGURE_END,
};

const struct nm_object nm_unhalted_object = {
	.name = "unhalted",
	.doc = "CPU time of the whole machine by the hardware, over the measured window.",
	.figures = unhalted_figures,
};

static double mean_hz(const void *item)
{
	const struct nm_cpufreq *cpufreq = &((const struct nm_usage *)item)->cpufreq;
	double both_khz = (double)cpufreq->begin_khz + (double)cpufreq->end_khz;

	return both_khz / 2 / cpufreq->n_cpus * 1e3;
}

static const struct nm_figure cpufreq_figures[] = {
	NM_FIGURE(COUNT32, struct nm_usage, cpufreq.n_cpus, "n_cpus"),
	NM_RATE("frequency_hz", mean_hz,
		.doc = "The mean over at most 16 CPUs, at the end of the measured window and, "
		       "where a warm-up comes before it, half way through that."),
	NM_FIGURE_END,
};

const struct nm_object nm_cpufreq_object = {
	.name = "cpufreq",
	.doc = "The frequency of the CPUs as cpufreq tells it, whether they sleep or not; "
	       "`unhalted` has a better one where the hardware counts cycles.",
	.figures = cpufreq_figures,
};

const struct nm_object nm_interrupts_object = {
	.name = "interrupts",
	.doc = "Of the whole machine, all its CPUs together, over the measured window.",
	.figures = WINDOW_AND(nm_interrupt_fields, offsetof(struct nm_usage, interrupts)),
};

#define SOFTIRQ(word, kernels, ours)                                                               \
	static bool knows_##word(const void *item)                                                 \
	{                                                                                          \
		const struct nm_usage *usage = item;                                               \
                                                                                                   \
		return nm_softirq_known(&usage->softirqs, NM_SOFTIRQ_##word);                      \
	}
NM_SOFTIRQS(SOFTIRQ)
#undef SOFTIRQ

#define SOFTIRQ(word, kernels, ours)                                                               \
	{.json = ours,                                                                             \
	 .key = "softirqs_" ours,                                                                  \
	 .kind = NM_FIGURE_COUNT,                                                                  \
	 .offset = offsetof(struct nm_usage, softirqs.kinds[NM_SOFTIRQ_##word]),                   \
	 .known = knows_##word,                                                                    \
	 .schema = "known_count"},

const struct nm_figure nm_softirqs_figures[] = {
	WINDOW_SECONDS,
	NM_FIGURE(COUNT, struct nm_usage, softirqs.total, "total", .key = "softirqs",
		  .doc = "Of all kinds that the kernel has."),
	NM_SOFTIRQS(SOFTIRQ) NM_FIGURE_END,
};
#undef SOFTIRQ

const struct nm_object nm_softirqs_object = {
	.name = "softirqs",
	.doc = "Of the whole machine, all its CPUs together, over the measured window, by the "
	       "kernel's names.",
	.figures = nm_softirqs_figures,
};

const struct nm_object nm_softnet_object = {
	.name = "softnet",
	.doc = "What the CPUs of the whole machine took in from the network, before any protocol, "
	       "over the measured window.",
	.figures = WINDOW_AND(nm_softnet_fields, offsetof(struct nm_usage, softnet)),
};

const struct nm_object nm_pressure_object = {
	.name = "pressure",
	.doc = "Time in the measured window in which tasks of the machine waited for a resource: "
	       "at least one of them (some), or all that were not idle (full).",
	.figures = WINDOW_AND(nm_pressure_fields, offsetof(struct nm_usage, pressure)),
};

const struct nm_object nm_rusage_object = {
	.name = "rusage",
	.doc = "Of the netmodel process (getrusage), over the measured window.",
	.figures = NM_ALL_FIELDS(nm_rusage_fields, offsetof(struct nm_usage, process)),
};

const struct nm_object nm_tcp_object = {
	.name = "tcp",
	.doc = "TCP counters of the host's network namespace, over the measured window.",
	.figures = NM_ALL_FIELDS(nm_tcp_counter_fields, offsetof(struct nm_usage, tcp)),
};

/* --- the item is a struct of its own --- */

const struct nm_object nm_throttling_object = {
	.name = "throttling",
	.doc = "Of the process, over the measured window: the periods of the limits of CPU of its "
	       "control groups, and those in which it was held back.",
	.figures = NM_ALL_FIELDS(nm_throttling_fields, 0),
};

static const struct nm_figure nic_figures[] = {
	NM_FIGURE(STRING, struct nm_nic, name, "name"),
	{.kind = NM_FIGURE_FIELDS, .fields = nm_nic_fields},
	NM_FIGURE(COUNT, struct nm_nic, interrupts, "interrupts",
		  NM_KNOWN_BY(struct nm_nic, vectors), .schema = "known_count",
		  .doc = "Of its own vectors; null: not known."),
	NM_FIGURE_END,
};

const struct nm_object nm_nic_object = {.name = "nic", .figures = nic_figures};

static const struct nm_figure vector_figures[] = {
	NM_FIGURE(STRING, struct nm_vector, nic, "nic", .doc = "The interface whose it is."),
	NM_FIGURE(COUNT32, struct nm_vector, irq, "irq", .is_label = true),
	NM_FIGURE(CHARS, struct nm_vector, name, "name", .schema = NM_SCHEMA_ANY_TEXT,
		  .doc = "That its driver has given it."),
	NM_FIGURE(COUNT, struct nm_vector, interrupts, "interrupts"),
	NM_FIGURE_END,
};

const struct nm_object nm_vector_object = {.name = "vector", .figures = vector_figures};

static const struct nm_figure psp_figures[] = {
	NM_FIGURE(CHARS, struct nm_psp_usage, name, "name", .schema = NM_SCHEMA_ANY_TEXT,
		  .doc = "Of the interface; null when it is in another network namespace."),
	NM_FIGURE(COUNT32, struct nm_psp_usage, id, "id"),
	{.kind = NM_FIGURE_FIELDS,
	 .fields = nm_psp_fields,
	 .offset = offsetof(struct nm_psp_usage, stats)},
	NM_FIGURE_END,
};

const struct nm_object nm_psp_object = {.name = "psp_device", .figures = psp_figures};
