/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the figures of a host's usage: each member once, for differences, for the control
 * protocol and for results. */
#include "host/usage.h"

#define CPU(member, in_results)                                                                    \
	NM_FIELD(U64, struct nm_cpu_times, member, .unit = NM_UNIT_PART, .figure = in_results)

const struct nm_field nm_cpu_fields[] = {
	CPU(user_ns, "user"),
	CPU(nice_ns, "nice"),
	CPU(system_ns, "system"),
	CPU(idle_ns, "idle"),
	CPU(iowait_ns, "iowait"),
	CPU(irq_ns, "irq"),
	CPU(softirq_ns, "softirq"),
	CPU(steal_ns, "steal"),
	NM_FIELD(U32, struct nm_cpu_times, n_cpus, .max = INT32_MAX, .doc = "0: not known."),
	NM_FIELD_END,
};

const struct nm_field nm_unhalted_fields[] = {
	NM_FIELD_CHARS_OF(struct nm_unhalted, source),
	NM_FIELD(U32, struct nm_unhalted, n_cpus, .min = 1),
	NM_FIELD(U64, struct nm_unhalted, awake, .doc = "Of all, in the units of the source."),
	NM_FIELD(U64, struct nm_unhalted, all, .min = 1),
	NM_FIELD(U64, struct nm_unhalted, cycles, .doc = "0: not known."),
	NM_FIELD(U64, struct nm_unhalted, ns, .min = 1,
		 .doc = "In which all of it passed, summed over the CPUs."),
	NM_FIELD(I64, struct nm_unhalted, kernel_ns,
		 .doc = "Busy meanwhile by the kernel's account, steal aside; -1: not known."),
	NM_FIELD_END,
};

const struct nm_field nm_cpufreq_fields[] = {
	NM_FIELD(U32, struct nm_cpufreq, n_cpus, .min = 1),
	NM_FIELD(U64, struct nm_cpufreq, begin_khz, .doc = "Of these CPUs together."),
	NM_FIELD(U64, struct nm_cpufreq, end_khz),
	NM_FIELD_END,
};

const struct nm_field nm_interrupt_fields[] = {
	NM_FIELD(U64, struct nm_interrupts, hardware, .figure = "hardware"),
	NM_FIELD(U64, struct nm_interrupts, context_switches, .figure = "context_switches"),
	NM_FIELD_END,
};

const struct nm_field nm_softirq_fields[] = {
	NM_FIELD(U64, struct nm_softirqs, total, .figure = "total",
		 .doc = "Of all kinds that the kernel has."),
	NM_FIELD(U32, struct nm_softirqs, known, .max = (1u << NM_N_SOFTIRQS) - 1,
		 .doc = "A bit for each of the kinds that is known."),
#define KIND(word, kernels, ours)                                                                  \
	{.name = ours,                                                                             \
	 .type = NM_FIELD_U64,                                                                     \
	 .offset = offsetof(struct nm_softirqs, kinds[NM_SOFTIRQ_##word])},
	NM_SOFTIRQS(KIND)
#undef KIND
		NM_FIELD_END,
};

const struct nm_field nm_softnet_fields[] = {
#define COUNTER(member, column, what)                                                              \
	NM_FIELD(U64, struct nm_softnet, member, .figure = #member, .doc = what),
	NM_SOFTNET_COUNTERS(COUNTER)
#undef COUNTER
		NM_FIELD_END,
};

const struct nm_field nm_pressure_fields[] = {
#define KIND(file, kind)                                                                           \
	NM_FIELD(I64, struct nm_pressure, file##_##kind##_ns, .unit = NM_UNIT_NS,                  \
		 .figure = #file "_" #kind "_s"),
	NM_PRESSURES(KIND)
#undef KIND
		NM_FIELD_END,
};

const struct nm_field nm_rusage_fields[] = {
	NM_FIELD(U64, struct nm_rusage, utime_ns, .unit = NM_UNIT_NS, .figure = "utime_s"),
	NM_FIELD(U64, struct nm_rusage, stime_ns, .unit = NM_UNIT_NS, .figure = "stime_s"),
	NM_FIELD(U64, struct nm_rusage, maxrss_kb, .unit = NM_UNIT_PEAK, .figure = "maxrss_kb",
		 .doc = "The peak of the process until the end of the window."),
	NM_FIELD(U64, struct nm_rusage, minflt, .figure = "minflt"),
	NM_FIELD(U64, struct nm_rusage, majflt, .figure = "majflt"),
	NM_FIELD(U64, struct nm_rusage, nvcsw, .figure = "nvcsw"),
	NM_FIELD(U64, struct nm_rusage, nivcsw, .figure = "nivcsw"),
	NM_FIELD_END,
};

const struct nm_field nm_throttling_fields[] = {
	NM_FIELD(U64, struct nm_throttling, periods, .figure = "periods"),
	NM_FIELD(U64, struct nm_throttling, throttled, .figure = "throttled_periods"),
	NM_FIELD(U64, struct nm_throttling, throttled_ns, .unit = NM_UNIT_NS,
		 .figure = "throttled_s", .doc = "On all CPUs together."),
	NM_FIELD_END,
};

const struct nm_field nm_nic_fields[] = {
#define COUNTER(member, ...) NM_FIELD(U64, struct nm_nic, member, .figure = #member),
	NM_NIC_COUNTERS(COUNTER)
#undef COUNTER
		NM_FIELD(U64, struct nm_nic, interrupts, .doc = "Of its own vectors."),
	NM_FIELD(U64, struct nm_nic, vectors, .unit = NM_UNIT_PEAK, .figure = "vectors",
		 .doc = "Interrupt vectors of its own; 0: none are known."),
	NM_FIELD_END,
};

const struct nm_field nm_tcp_counter_fields[] = {
#define COUNTER(member, group, word, in_results)                                                   \
	NM_FIELD(U64, struct nm_tcp_counters, member, .figure = in_results),
	NM_TCP_COUNTERS(COUNTER)
#undef COUNTER
#define COUNTER(member, group, word, in_results)                                                   \
	NM_FIELD(I64, struct nm_tcp_counters, member, .figure = in_results),
		NM_TCP_LATER_COUNTERS(COUNTER)
#undef COUNTER
			NM_FIELD_END,
};

const struct nm_field nm_usage_row_fields[] = {
#define COUNTER(member, part, at, what)                                                            \
	NM_FIELD(I64, struct nm_usage_row, member, .figure = #member, .doc = what),
	NM_USAGE_ROW(COUNTER)
#undef COUNTER
		NM_FIELD_END,
};

const struct nm_field nm_psp_fields[] = {
#define COUNTER(member, word, what)                                                                \
	NM_FIELD(U64, struct nm_psp_stats, member, .figure = #member, .doc = what),
	NM_PSP_COUNTERS(COUNTER)
#undef COUNTER
		NM_FIELD_END,
};
