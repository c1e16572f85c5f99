/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a result: the counts of a slave and the usage of its host. */
#include "control/wire/codec.h"

static const struct nm_field nic_fields[] = {
	NM_FIELD_CHARS_OF(struct nm_nic, name),
	{.name = "counts", .type = NM_FIELD_ROW, .fields = nm_nic_fields},
	NM_FIELD_END,
};

static const struct nm_field psp_fields[] = {
	NM_FIELD_CHARS_OF(struct nm_psp_usage, name),
	NM_FIELD(U32, struct nm_psp_usage, id),
	NM_FIELD(ROW, struct nm_psp_usage, stats, .fields = nm_psp_fields),
	NM_FIELD_END,
};

#define OR_WHY(part, table)                                                                        \
	static const struct nm_field part##_or_why[] = {                                           \
		NM_FIELD(ROW, struct nm_usage, part, .fields = table),                             \
		NM_FIELD_CHARS_OF(struct nm_usage, part##_why),                                    \
	};
OR_WHY(unhalted, nm_unhalted_fields)
OR_WHY(cpufreq, nm_cpufreq_fields)
OR_WHY(interrupts, nm_interrupt_fields)
OR_WHY(softirqs, nm_softirq_fields)
OR_WHY(softnet, nm_softnet_fields)
OR_WHY(pressure, nm_pressure_fields)
#undef OR_WHY

#define EITHER(part)                                                                               \
	{                                                                                          \
		.name = #part, .type = NM_FIELD_EITHER,                                            \
		.offset = offsetof(struct nm_usage, has_##part), .fields = part##_or_why           \
	}

static const struct nm_field usage_fields[] = {
	{.name = "length_ns",
	 .type = NM_FIELD_U64,
	 .offset = offsetof(struct nm_usage, at_ns),
	 .doc = "Of the measured window."},
	NM_FIELD(BOOL, struct nm_usage, has_cpu),
	NM_FIELD(BOOL, struct nm_usage, has_nics),
	NM_FIELD(BOOL, struct nm_usage, has_tcp),
	NM_FIELD(BOOL, struct nm_usage, has_psp),
	NM_FIELD_CHARS_OF(struct nm_usage, cpu_why, .doc = "Why the CPU times are not known."),
	NM_FIELD_CHARS_OF(struct nm_usage, nics_why),
	NM_FIELD_CHARS_OF(struct nm_usage, tcp_why),
	NM_FIELD_CHARS_OF(struct nm_usage, psp_why),
	NM_FIELD(ROW, struct nm_usage, cpu, .fields = nm_cpu_fields),
	NM_FIELD(ROW, struct nm_usage, process, .fields = nm_rusage_fields,
		 .doc = "Of the process that runs the traffic."),
	NM_FIELD(ROW, struct nm_usage, throttling, .fields = nm_throttling_fields,
		 .doc = "By the limits of CPU of its control groups."),
	NM_FIELD(ROW, struct nm_usage, tcp, .fields = nm_tcp_counter_fields),
	NM_FIELD(LIST, struct nm_usage, nics, .max = NM_USAGE_MAX_NICS, .fields = nic_fields,
		 .item_size = sizeof(struct nm_nic),
		 .count_offset = offsetof(struct nm_usage, n_nics)),
	NM_FIELD(LIST, struct nm_usage, psp, .max = NM_PSP_MAX_DEVICES, .fields = psp_fields,
		 .item_size = sizeof(struct nm_psp_usage),
		 .count_offset = offsetof(struct nm_usage, n_psp)),
	EITHER(unhalted),
	EITHER(cpufreq),
	EITHER(interrupts),
	EITHER(softirqs),
	EITHER(softnet),
	EITHER(pressure),
	NM_FIELD_END,
};

static const struct nm_field tls_fields[] = {
	NM_FIELD(U64, struct nm_tls_report, connections),
	NM_FIELD(U64, struct nm_tls_report, resumed),
	NM_FIELD(U64, struct nm_tls_report, ktls_send),
	NM_FIELD(U64, struct nm_tls_report, ktls_receive),
	NM_FIELD_CHARS_OF(struct nm_tls_report, version),
	NM_FIELD_CHARS_OF(struct nm_tls_report, cipher),
	NM_FIELD_END,
};

/* The kernel counts microseconds in 32 bits. */
#define MOST_RTT_S 4295

static const struct nm_field connections_fields[] = {
	NM_FIELD(U64, struct nm_conn_report, connections),
	NM_FIELD(U64, struct nm_conn_report, retransmits),
	NM_FIELD(REAL, struct nm_conn_report, min_rtt_s, .max = MOST_RTT_S,
		 .doc = "The shortest round trip; 0: not known."),
	NM_FIELD(REAL, struct nm_conn_report, srtt_min_s, .max = MOST_RTT_S),
	NM_FIELD(REAL, struct nm_conn_report, srtt_mean_s, .max = MOST_RTT_S),
	NM_FIELD(REAL, struct nm_conn_report, srtt_max_s, .max = MOST_RTT_S),
	NM_FIELD(REAL, struct nm_conn_report, cwnd_mean, .max = UINT32_MAX),
	NM_FIELD(U32, struct nm_conn_report, mss_min),
	NM_FIELD(U32, struct nm_conn_report, mss_max),
	NM_FIELD_CHARS_OF(struct nm_conn_report, congestion_control),
	NM_FIELD_CHARS_OF(struct nm_conn_report, why, .doc = "Why none are known."),
	NM_FIELD(OBJECT, struct nm_conn_report, tls, .fields = tls_fields),
	NM_FIELD_END,
};

#define COUNT_OR_NULL(member)                                                                      \
	{                                                                                          \
		NM_FIELD(U64, struct nm_perf_value, member), {.type = NM_FIELD_NULL},              \
	}

static const struct nm_field user_or_null[] = COUNT_OR_NULL(user);
static const struct nm_field kernel_or_null[] = COUNT_OR_NULL(kernel);
static const struct nm_field total_or_null[] = COUNT_OR_NULL(total);

#define EITHER_COUNT(count)                                                                        \
	{                                                                                          \
		.name = #count, .type = NM_FIELD_EITHER,                                           \
		.offset = offsetof(struct nm_perf_value, has_##count), .fields = count##_or_null   \
	}

static const struct nm_field counter_fields[] = {
	NM_FIELD_CHARS_OF(struct nm_perf_value, name),
	EITHER_COUNT(user),
	EITHER_COUNT(kernel),
	EITHER_COUNT(total),
	NM_FIELD_CHARS_OF(struct nm_perf_value, why),
	NM_FIELD(SHARE, struct nm_perf_value, share),
	NM_FIELD_END,
};

static const struct nm_field arrived_fields[] = {
	NM_FIELD(U64, struct nm_arrived, bytes),
	NM_FIELD(U64, struct nm_arrived, ns),
	NM_FIELD_END,
};

static const struct nm_field others_fields[] = {
	NM_FIELD(U32, struct nm_msg_others, runs),
	NM_FIELD(U64, struct nm_msg_others, ns),
	NM_FIELD(U64, struct nm_msg_others, of_ns),
	NM_FIELD_END,
};

static const struct nm_field buffers_fields[] = {
	NM_FIELD(U64, struct nm_buffers, send_asked, .max = INT32_MAX),
	NM_FIELD(U64, struct nm_buffers, send_given, .max = INT32_MAX),
	NM_FIELD(U64, struct nm_buffers, receive_asked, .max = INT32_MAX),
	NM_FIELD(U64, struct nm_buffers, receive_given, .max = INT32_MAX),
	NM_FIELD(U64, struct nm_buffers, mss_asked, .max = UINT16_MAX),
	NM_FIELD(U64, struct nm_buffers, mss_given, .max = UINT16_MAX),
	NM_FIELD_END,
};

static const struct nm_field times_fields[] = {
	NM_FIELD(U64, struct nm_host_window, from_ns, .max = NM_FIELD_MOST_CLOCK),
	NM_FIELD(U64, struct nm_host_window, to_ns, .max = NM_FIELD_MOST_CLOCK),
	NM_FIELD(U64, struct nm_host_window, ns),
	NM_FIELD_END,
};

static const struct nm_field after_fields[] = {
	NM_FIELD(U64, struct nm_host_window, after_bytes),
	NM_FIELD(U64, struct nm_host_window, after_ns),
	NM_FIELD_END,
};

static const struct nm_field late_fields[] = {
	NM_FIELD(U64, struct nm_host_window, late_bytes),
	NM_FIELD(U64, struct nm_host_window, late_ns),
	NM_FIELD_END,
};

static const struct nm_field window_fields[] = {
	{.name = "times", .type = NM_FIELD_ROW, .fields = times_fields},
	NM_FIELD(ROW, struct nm_host_window, counts, .fields = nm_counts_fields),
	{.name = "after", .type = NM_FIELD_ROW, .fields = after_fields},
	{.name = "late", .type = NM_FIELD_ROW, .fields = late_fields},
	NM_FIELD_END,
};

static const struct nm_field usage_or_null[] = {
	NM_FIELD(OBJECT, struct nm_msg_result, usage, .fields = usage_fields),
	{.type = NM_FIELD_NULL},
};

const struct nm_field nm_result_fields[] = {
	NM_FIELD(VECTOR, struct nm_msg_result, groups, .fields = nm_counts_fields,
		 .item_size = sizeof(struct nm_counts),
		 .count_offset = offsetof(struct nm_msg_result, n_groups),
		 .doc = "What was counted, group by group of the profile."),
	NM_FIELD(OBJECT, struct nm_msg_result, connections, .fields = connections_fields,
		 .doc = "What TCP_INFO says of those that were open at the end."),
	{.name = "usage",
	 .type = NM_FIELD_EITHER,
	 .offset = offsetof(struct nm_msg_result, has_usage),
	 .fields = usage_or_null,
	 .doc = "What the host has used in the measured window."},
	{.name = "cpus",
	 .type = NM_FIELD_LIST,
	 .offset = offsetof(struct nm_msg_result, each.cpus.items),
	 .max = NM_CPU_LOADS_MAX,
	 .fields = nm_cpu_load_fields,
	 .item_size = sizeof(struct nm_cpu_load),
	 .count_offset = offsetof(struct nm_msg_result, each.cpus.count),
	 .doc = "What the time of each CPU went to, in ticks."},
	{.name = "cpus_why",
	 .type = NM_FIELD_CHARS,
	 .offset = offsetof(struct nm_msg_result, each.cpus.why),
	 .max = sizeof(((struct nm_cpu_loads *)NULL)->why) - 1,
	 .doc = "Why there are none."},
	{.name = "vectors",
	 .type = NM_FIELD_LIST,
	 .offset = offsetof(struct nm_msg_result, each.vectors.items),
	 .max = NM_VECTORS_MAX,
	 .fields = nm_vector_fields,
	 .item_size = sizeof(struct nm_vector),
	 .count_offset = offsetof(struct nm_msg_result, each.vectors.count),
	 .doc = "Interrupts of each vector of interfaces that have moved packets."},
	{.name = "counters",
	 .type = NM_FIELD_LIST,
	 .offset = offsetof(struct nm_msg_result, counters.items),
	 .max = NM_PERF_MAX,
	 .fields = counter_fields,
	 .item_size = sizeof(struct nm_perf_value),
	 .count_offset = offsetof(struct nm_msg_result, counters.count),
	 .doc = "Those that prepare named; a count that is not known is null, and why tells the "
		"reason."},
	NM_FIELD(
		ROW, struct nm_msg_result, arrived, .fields = arrived_fields,
		.doc = "What has come in the measured window over transports that may lose it, and "
		       "how long the window was open for that."),
	NM_FIELD(ROW, struct nm_msg_result, window, .fields = window_fields,
		 .doc = "When the measured window opened and closed on the slave, how long it was "
			"open in all its measured transactions together, what was counted in it, "
			"and, when the time of the transactions was over, how many bytes came yet "
			"and for how long."),
	NM_FIELD(U64, struct nm_msg_result, strangers,
		 .doc = "Connections and hellos that came to data ports of the slave, were none of "
			"the run's and were turned away."),
	NM_FIELD_CHARS_OF(struct nm_msg_result, last_stranger,
			  .doc = "The address that the last of them came from."),
	NM_FIELD(
		ROW, struct nm_msg_result, others, .fields = others_fields,
		.doc = "Runs of other masters that the slave has served between the first phase of "
		       "this run and its last, how long any of them was under way, and how long "
		       "this run was."),
	NM_FIELD(
		ROW, struct nm_msg_result, cut, .fields = buffers_fields,
		.doc = "The largest socket buffers of the profile that the kernel has cut, and the "
		       "largest segment; 0: none."),
	NM_FIELD(VALUE, struct nm_msg_result, report, .optional = true,
		 .doc = "The details that were asked for; null without."),
	NM_FIELD_END,
};

json_t *nm_result_pack(struct nm_msg_result *result, size_t n_groups)
{
	result->n_groups = n_groups;
	return nm_fields_pack(nm_result_fields, result);
}

int nm_result_unpack(json_t *body, size_t n_groups, struct nm_msg_result *ret)
{
	ret->n_groups = n_groups;
	return nm_fields_unpack(nm_result_fields, body, ret);
}

struct bye {
	struct nm_host_window window;
};

const struct nm_field nm_bye_fields[] = {
	NM_FIELD(ROW, struct bye, window, .fields = window_fields,
		 .doc = "That of the master, as result has that of a slave."),
	NM_FIELD_END,
};

json_t *nm_bye_pack(const struct nm_host_window *window)
{
	const struct bye bye = {.window = *window};

	return nm_fields_pack(nm_bye_fields, &bye);
}

int nm_bye_unpack(json_t *body, struct nm_host_window *ret_window)
{
	struct bye bye;
	int error = nm_fields_unpack(nm_bye_fields, body, &bye);

	if (!error)
		*ret_window = bye.window;
	return error;
}
