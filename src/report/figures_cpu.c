/* SPDX-License-Identifier: Apache-2.0 */
/* The document's parts about CPU time, of the whole machine and of each CPU. */
#include "report/common.h"
#include "report/figures.h"

/* --- the whole machine; the item is a struct nm_cpu_times --- */

/* The figures of kv and csv, which have fewer kinds of time. */
#define PARTS(X)                                                                                   \
	X(cpu_user, cpu->user_ns + cpu->nice_ns)                                                   \
	X(cpu_system, cpu->system_ns + cpu->irq_ns)                                                \
	X(cpu_softirq, cpu->softirq_ns)                                                            \
	X(cpu_idle, cpu->idle_ns + cpu->iowait_ns)

#define SHARE(name, part_ns)                                                                       \
	static double name(const void *item)                                                       \
	{                                                                                          \
		const struct nm_cpu_times *cpu = item;                                             \
                                                                                                   \
		return nm_cpu_share(cpu, part_ns);                                                 \
	}
PARTS(SHARE)
#undef SHARE

#define FIGURE(name, ...) {.key = #name, .column = #name, .kind = NM_FIGURE_SHARE, .rate = name},
const struct nm_figure nm_cpu_figures[] = {PARTS(FIGURE) NM_FIGURE_END};
#undef FIGURE

static double busy(const void *item)
{
	return nm_cpu_share(item, nm_cpu_busy_ns(item));
}

static double busy_s(const void *item)
{
	return (double)nm_cpu_busy_ns(item) / 1e9;
}

static const struct nm_figure cpu_figures[] = {
	NM_FIGURE(COUNT32, struct nm_cpu_times, n_cpus, "n_cpus",
		  .schema = "{'type': 'integer', 'minimum': 1}"),
	{.kind = NM_FIGURE_FIELDS, .fields = nm_cpu_fields},
	NM_SHARE("busy", busy, .doc = "All but idle and iowait."),
	NM_RATE("seconds", busy_s, .schema = "seconds",
		.doc = "Busy CPU time, summed over the CPUs."),
	NM_FIGURE_END,
};

const struct nm_object nm_cpu_object = {
	.name = "cpu",
	.doc = "CPU time of the whole machine, as shares of all its CPUs; they add up to 1 (busy "
	       "aside).",
	.figures = cpu_figures,
};

/* --- each CPU; the item is a struct nm_cpu_load --- */

static double share_of_load(const struct nm_cpu_load *load, uint64_t ticks)
{
	uint64_t all = nm_cpu_load_ticks(load);

	return all ? (double)ticks / (double)all : 0; /* slaves may say anything */
}

#define CLASS(member)                                                                              \
	static double load_##member(const void *item)                                              \
	{                                                                                          \
		return share_of_load(item, ((const struct nm_cpu_load *)item)->member);            \
	}
NM_CPU_CLASSES(CLASS)
#undef CLASS

static double load_busy(const void *item)
{
	const struct nm_cpu_load *load = item;

	return share_of_load(load, nm_cpu_load_ticks(load) - load->idle - load->iowait);
}

static const struct nm_figure cpu_load_figures[] = {
	NM_FIGURE(COUNT32, struct nm_cpu_load, cpu, "cpu", .is_label = true),
	NM_SHARE("busy", load_busy, .doc = "All but idle and iowait."),
#define CLASS(member) NM_SHARE(#member, load_##member),
	NM_CPU_CLASSES(CLASS)
#undef CLASS
		NM_FIGURE_END,
};

const struct nm_object nm_cpu_load_object = {
	.name = "cpu_load",
	.doc = "CPU time of one CPU, as shares of its own ticks in the measured window.",
	.figures = cpu_load_figures,
};
