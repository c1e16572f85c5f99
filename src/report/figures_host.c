/* SPDX-License-Identifier: Apache-2.0 */
/* The document's part about one host. */
#include "report/costs.h"
#include "report/figures.h"

static const struct nm_result_host *host_of(const struct nm_at *at)
{
	return at->item;
}

/* {"unavailable": why}. */
static json_t *unavailable(const char *why)
{
	return json_pack("{s:o}", "unavailable",
			 nm_json_text(why && *why ? why : "it was not collected"));
}

/* --- facts --- */

static const struct nm_figure facts_figures[] = {
	{.kind = NM_FIGURE_FIELDS, .fields = nm_host_facts_fields},
	NM_FIGURE_END,
};

const struct nm_object nm_facts_object = {.name = "facts", .figures = facts_figures};

/* --- counts --- */

static const struct nm_figure counts_figures[] = {
	{.kind = NM_FIGURE_FIELDS, .fields = nm_counts_fields},
	NM_FIGURE_END,
};

const struct nm_object nm_counts_object = {
	.name = "counts",
	.doc = "Everything that a host counted, from start to end.",
	.figures = counts_figures,
	.n_required_fields = 6,
	.closing = NM_OPEN,
};

static json_t *make_group_name(const struct nm_at *at)
{
	const struct nm_result *result = at->result;

	return nm_json_text(at->index < result->n_groups ? result->groups[at->index].name : NULL);
}

/* The report of a slave for the group that the place is at; the master's is shown in `groups` of
 * the document. */
static const struct nm_group_report *slave_report(const struct nm_at *at)
{
	const struct nm_result_host *host = host_of(at->parent);

	return host->is_master ? NULL : nm_group_report_of(host, at->index);
}

static bool has_report(const struct nm_at *at)
{
	return slave_report(at) != NULL;
}

static bool has_strands(const struct nm_at *at)
{
	return has_report(at) && slave_report(at)->n_strands > 0;
}

static json_t *make_group_operations(const struct nm_at *at)
{
	return nm_json_count(slave_report(at)->operations);
}

static json_t *make_group_phases(const struct nm_at *at)
{
	return nm_host_phases_json(at, slave_report(at), at->index);
}

static json_t *make_group_strands(const struct nm_at *at)
{
	return nm_strands_json(at, slave_report(at));
}

static const struct nm_figure group_counts_figures[] = {
	NM_MADE("name", make_group_name, "known_text"),
	NM_MADE("operations", make_group_operations, "operations", .has = has_report),
	NM_MADE("phases", make_group_phases, NM_SCHEMA_LIST("host_phase"), .has = has_report),
	NM_MADE("flow_totals", make_group_strands, "flow_totals", .has = has_strands),
	NM_FIGURE_END,
};

static const struct nm_object group_counts_object = {
	.figures = group_counts_figures,
	.base = &nm_counts_object,
	.closing = NM_CLOSED_ALL,
	.is_list = true,
};

/* --- connections --- */

static const struct nm_figure tls_figures[] = {
	NM_FIGURE(COUNT, struct nm_tls_report, connections, "count",
		  .schema = "{'type': 'integer', 'minimum': 1}"),
	NM_FIGURE(CHARS, struct nm_tls_report, version, "version",
		  .doc = "Of the first connection."),
	NM_FIGURE(CHARS, struct nm_tls_report, cipher, "cipher", .doc = "Of the first connection."),
	NM_FIGURE(
		CHARS, struct nm_tls_report, alpn, "alpn",
		.doc = "The application protocol that a server has taken of the first connection; "
		       "null: none was offered, or taken."),
	NM_FIGURE(COUNT, struct nm_tls_report, resumed, "resumed",
		  .doc = "Connections that have continued a session."),
	NM_FIGURE(COUNT, struct nm_tls_report, ktls_send, "ktls_send",
		  .doc = "Connections whose records the kernel makes."),
	NM_FIGURE(COUNT, struct nm_tls_report, ktls_receive, "ktls_receive",
		  .doc = "Connections whose records the kernel opens."),
	NM_FIGURE_END,
};

const struct nm_object nm_tls_object = {
	.name = "tls",
	.doc = "What those of them that are over TLS have agreed upon.",
	.figures = tls_figures,
};

static json_t *make_tls(const struct nm_at *at)
{
	const struct nm_conn_report *report = at->item;
	struct nm_at tls = nm_at_item(at, &report->tls, 0);

	return report->tls.connections ? nm_object_json(&nm_tls_object, &tls) : json_null();
}

static bool min_rtt_known(const void *item)
{
	return ((const struct nm_conn_report *)item)->min_rtt_s > 0;
}

static const struct nm_figure srtt_figures[] = {
	NM_FIGURE(REAL, struct nm_conn_report, srtt_min_s, "min", .key = "min"),
	NM_FIGURE(REAL, struct nm_conn_report, srtt_mean_s, "mean", .key = "mean"),
	NM_FIGURE(REAL, struct nm_conn_report, srtt_max_s, "max", .key = "max"),
	NM_FIGURE_END,
};

static const struct nm_object srtt_object = {.figures = srtt_figures};

static const struct nm_figure connections_figures[] = {
	NM_FIGURE(COUNT, struct nm_conn_report, connections, "count",
		  .schema = "{'type': 'integer', 'minimum': 1}"),
	NM_FIGURE(COUNT, struct nm_conn_report, retransmits, "retransmits", .key = "retransmits"),
	NM_FIGURE(REAL, struct nm_conn_report, min_rtt_s, "min_rtt_s", .key = "min_rtt",
		  .known = min_rtt_known, .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "The shortest round trip that TCP has seen on any of them; null: not "
			 "known."),
	{.json = "srtt_s",
	 .key = "srtt",
	 .kind = NM_FIGURE_OBJECT,
	 .object = &srtt_object,
	 .doc = "The kernel's smoothed round trip time, which has delayed acknowledgements in it: "
		"of the connection with the least, the mean, and of the one with the greatest."},
	NM_FIGURE(REAL, struct nm_conn_report, cwnd_mean, "cwnd_mean",
		  .schema = "{'type': 'number', 'minimum': 0}", .doc = "Segments."),
	NM_FIGURE(COUNT32, struct nm_conn_report, mss_min, "mss_min"),
	NM_FIGURE(COUNT32, struct nm_conn_report, mss_max, "mss_max"),
	NM_FIGURE(CHARS, struct nm_conn_report, congestion_control, "congestion_control"),
	NM_MADE("tls", make_tls, NM_SCHEMA_OR_NULL("tls")),
	NM_FIGURE_END,
};

const struct nm_object nm_connections_object = {
	.name = "connections",
	.doc = "What the kernel knew (TCP_INFO) of the connections that were open at the end of "
	       "the "
	       "last measured transaction.",
	.figures = connections_figures,
};

/* --- rows of the grid --- */

static json_t *make_row_cpu(const struct nm_at *at)
{
	const struct nm_host_interval *row = at->item;
	struct nm_at cpu = nm_at_item(at, &row->cpu, 0);

	return row->cpu.n_cpus ? nm_object_json(&nm_cpu_object, &cpu) : json_null();
}

static bool has_datagrams(const struct nm_at *at)
{
	struct nm_datagram_stats stats;

	nm_result_datagrams(at->result, &stats);
	return stats.any;
}

static json_t *make_row_datagrams(const struct nm_at *at)
{
	struct nm_datagram_direction direction;

	nm_host_interval_datagrams(at->item, &direction);
	struct nm_at item = nm_at_item(at, &direction, 0);

	return nm_object_json(&nm_direction_object, &item);
}

static const struct nm_figure row_figures[] = {
	NM_FIGURE(REAL, struct nm_host_interval, from_s, "from_s"),
	NM_FIGURE(REAL, struct nm_host_interval, to_s, "to_s"),
	NM_FIGURE(NUMBER, struct nm_host_interval, phase, "phase", .doc = "From 1."),
	NM_FIGURE(COUNT, struct nm_host_interval, counts.iterations, "transactions"),
	NM_FIGURE(COUNT, struct nm_host_interval, counts.bytes_sent, "bytes_sent"),
	NM_FIGURE(COUNT, struct nm_host_interval, counts.bytes_received, "bytes_received"),
	NM_MADE("cpu", make_row_cpu, NM_SCHEMA_OR_NULL("cpu")),
	{.kind = NM_FIGURE_FIELDS,
	 .fields = nm_usage_row_fields,
	 .offset = offsetof(struct nm_host_interval, usage)},
	NM_MADE("messages", make_row_datagrams, "message_way", .has = has_datagrams,
		.doc = "What this host has sent, and what it has received: other messages."),
	NM_FIGURE_END,
};

const struct nm_object nm_host_interval_object = {.name = "host_interval", .figures = row_figures};

/* --- the host --- */

static json_t *make_role(const struct nm_at *at)
{
	return json_string(host_of(at)->is_master ? "master" : "slave");
}

static json_t *make_authentication(const struct nm_at *at)
{
	static const char *const words[] = {
		[NM_TRUST_KEY] = "key",
		[NM_TRUST_OWN_HOST] = "own_host",
		[NM_TRUST_EMBEDDED] = "embedded",
		[NM_TRUST_NONE] = "none",
	};
	const char *word = words[host_of(at)->trust];

	return word ? json_string(word) : json_null();
}

static json_t *make_data_port(const struct nm_at *at)
{
	uint16_t port = host_of(at)->data_port;

	return port ? json_integer(port) : json_null();
}

static json_t *make_rtt(const struct nm_at *at)
{
	const struct nm_result_host *host = host_of(at);

	return host->complete && !host->is_master ? nm_json_real(host->rtt_s) : json_null();
}

static json_t *skew(const struct nm_at *at, double seconds)
{
	return at->result->has_start_skew && !host_of(at)->is_master ? nm_json_real(seconds)
								     : json_null();
}

static json_t *make_start_skew(const struct nm_at *at)
{
	return skew(at, host_of(at)->start_skew_s);
}

static json_t *make_skew_error(const struct nm_at *at)
{
	return skew(at, host_of(at)->skew_error_s);
}

static json_t *make_counts(const struct nm_at *at)
{
	struct nm_at counts = nm_at_item(at, &host_of(at)->counts, 0);

	return host_of(at)->n_groups ? nm_object_json(&nm_counts_object, &counts) : json_null();
}

static json_t *make_groups(const struct nm_at *at)
{
	const struct nm_result_host *host = host_of(at);

	return nm_objects_json(&group_counts_object, at, host->groups, host->n_groups,
			       sizeof(*host->groups));
}

/* A part of the machine's usage, which by itself may be missing and then says why. */
static json_t *part(const struct nm_at *at, bool has, const char *why,
		    const struct nm_object *object, const void *item)
{
	struct nm_at of = nm_at_item(at, item, 0);

	if (!host_of(at)->has_usage)
		return unavailable("the host did not deliver it");
	return has ? nm_object_json(object, &of) : unavailable(why);
}

#define PART(name)                                                                                 \
	static json_t *make_##name(const struct nm_at *at)                                         \
	{                                                                                          \
		const struct nm_usage *usage = &host_of(at)->usage;                                \
                                                                                                   \
		return part(at, usage->has_##name, usage->name##_why, &nm_##name##_object, usage); \
	}
PART(unhalted)
PART(cpufreq)
PART(interrupts)
PART(softirqs)
PART(softnet)
PART(pressure)
PART(tcp)
#undef PART

static json_t *make_cpu(const struct nm_at *at)
{
	const struct nm_usage *usage = &host_of(at)->usage;

	return part(at, usage->has_cpu, usage->cpu_why, &nm_cpu_object, &usage->cpu);
}

static json_t *make_cpus(const struct nm_at *at)
{
	const struct nm_cpu_loads *cpus = &host_of(at)->each.cpus;

	return host_of(at)->has_usage && cpus->count
		       ? nm_objects_json(&nm_cpu_load_object, at, cpus->items, cpus->count,
					 sizeof(cpus->items[0]))
		       : part(at, false, cpus->why, NULL, NULL);
}

static json_t *make_rusage(const struct nm_at *at)
{
	return part(at, true, "", &nm_rusage_object, &host_of(at)->usage);
}

static json_t *make_throttling(const struct nm_at *at)
{
	const struct nm_throttling *throttling = &host_of(at)->usage.throttling;

	return part(at, throttling->periods > 0, "its control groups have no limit of CPU",
		    &nm_throttling_object, throttling);
}

static json_t *make_nics(const struct nm_at *at)
{
	const struct nm_usage *usage = &host_of(at)->usage;

	return host_of(at)->has_usage && usage->has_nics
		       ? nm_objects_json(&nm_nic_object, at, usage->nics, usage->n_nics,
					 sizeof(usage->nics[0]))
		       : part(at, false, usage->nics_why, NULL, NULL);
}

static json_t *make_vectors(const struct nm_at *at)
{
	const struct nm_vectors *vectors = &host_of(at)->each.vectors;

	return nm_objects_json(&nm_vector_object, at, vectors->items, vectors->count,
			       sizeof(vectors->items[0]));
}

static json_t *make_costs(const struct nm_at *at)
{
	struct nm_costs costs;

	nm_costs_of(at->result, host_of(at), &costs);
	return part(at, true, "", &nm_costs_object, &costs);
}

static json_t *make_psp(const struct nm_at *at)
{
	const struct nm_usage *usage = &host_of(at)->usage;

	return host_of(at)->has_usage && usage->has_psp
		       ? nm_objects_json(&nm_psp_object, at, usage->psp, usage->n_psp,
					 sizeof(usage->psp[0]))
		       : part(at, false, usage->psp_why, NULL, NULL);
}

static bool has_details(const struct nm_at *at)
{
	return host_of(at)->report != NULL;
}

static json_t *make_elapsed(const struct nm_at *at)
{
	return nm_json_real(host_of(at)->report->elapsed_s);
}

static json_t *make_operations(const struct nm_at *at)
{
	return nm_json_count(host_of(at)->report->operations);
}

static bool has_counters(const struct nm_at *at)
{
	return at->result->statistics & NM_STAT_COUNTERS;
}

static json_t *make_counters(const struct nm_at *at)
{
	const struct nm_perf_values *counters = &host_of(at)->counters;

	return nm_objects_json(&nm_counters_object, at, counters->items, counters->count,
			       sizeof(counters->items[0]));
}

static json_t *make_connections(const struct nm_at *at)
{
	const struct nm_conn_report *report = &host_of(at)->connections;
	struct nm_at of = nm_at_item(at, report, 0);

	return report->connections ? nm_object_json(&nm_connections_object, &of)
				   : unavailable(report->why);
}

static bool has_cut(const struct nm_at *at)
{
	return nm_buffers_differ(&host_of(at)->facts.cut);
}

static const struct nm_figure buffers_figures[] = {
	NM_FIGURE(COUNT, struct nm_buffers, send_asked, "send_asked_bytes", .key = "sndbuf_asked"),
	NM_FIGURE(COUNT, struct nm_buffers, send_given, "send_given_bytes", .key = "sndbuf_given"),
	NM_FIGURE(COUNT, struct nm_buffers, receive_asked, "receive_asked_bytes",
		  .key = "rcvbuf_asked"),
	NM_FIGURE(COUNT, struct nm_buffers, receive_given, "receive_given_bytes",
		  .key = "rcvbuf_given"),
	NM_FIGURE(COUNT, struct nm_buffers, mss_asked, "mss_asked_bytes", .key = "mss_asked"),
	NM_FIGURE(COUNT, struct nm_buffers, mss_given, "mss_given_bytes", .key = "mss_given"),
	NM_FIGURE_END,
};

const struct nm_object nm_buffers_object = {
	.name = "cut_sizes",
	.doc = "The largest socket buffers of the profile of which the host's kernel gave less, or "
	       "more, and the largest segment (mss) that is smaller on open connections; 0: none.",
	.figures = buffers_figures,
};

static const struct nm_figure host_figures[] = {
	NM_FIGURE(TEXT, struct nm_result_host, name, "name", .schema = NM_SCHEMA_TEXT,
		  .doc = "As the profile names it; master for the master."),
	NM_MADE("role", make_role, "{'enum': ['master', 'slave']}"),
	NM_FIGURE(TEXT, struct nm_result_host, address, "address",
		  .doc = "As the master reached it; null for the master."),
	NM_FIGURE(BOOL, struct nm_result_host, complete, "complete",
		  .doc = "It took part to the end and delivered its results."),
	NM_FIGURE(TEXT, struct nm_result_host, error, "error", .doc = "Why not."),
	NM_MADE("authentication", make_authentication,
		"{'enum': ['key', 'own_host', 'embedded', 'none', null]}",
		.doc = "Why slave and master took each other: both proved one key, they are on one "
		       "host, the master started the slave, or none, as the slave was started with "
		       "--no-auth; null for the master, and where it came to nothing."),
	NM_FIGURE(OBJECT, struct nm_result_host, facts, "facts", .is_label = true,
		  .object = &nm_facts_object),
	NM_MADE("data_port", make_data_port, "{'type': ['integer', 'null'], 'minimum': 1}",
		.doc = "The first port on which a slave listens for data connections, as a filter "
		       "for captures; null: it listens on none."),
	NM_MADE("rtt_s", make_rtt, NM_SCHEMA_REAL_OR_NULL,
		.doc = "Best round trip of the control connection; null for the master."),
	NM_MADE("start_skew_s", make_start_skew, "{'type': ['number', 'null']}",
		.doc = "How much later than the master it entered the first measured transaction; "
		       "null "
		       "for "
		       "the master."),
	NM_MADE("start_skew_error_s", make_skew_error, NM_SCHEMA_REAL_OR_NULL,
		.doc = "How far that may be off."),
	NM_MADE("counts", make_counts,
		"{'anyOf': [{'$ref': '#/$defs/counts', 'unevaluatedProperties': false}, "
		"{'type': 'null'}]}",
		.object = &nm_counts_object),
	NM_MADE("groups", make_groups, NULL, .object = &group_counts_object,
		.doc = "The same counts, group by group. With statistics a slave's have its phases "
		       "and "
		       "flows too; the master's are those of `groups`."),
	NM_MADE("elapsed_s", make_elapsed, "seconds", .has = has_details,
		.doc = "With statistics only: from the begin of the first transaction to the end "
		       "of the "
		       "last, by the host's own clock."),
	NM_MADE("operations", make_operations, "operations", .has = has_details),
	NM_MADE("counters", make_counters, "counters", .has = has_counters),
	NM_MADE("cpu", make_cpu, NM_SCHEMA_IF_AVAILABLE("cpu"), .object = &nm_cpu_object),
	NM_MADE("cpus", make_cpus, NM_SCHEMA_LIST_IF_AVAILABLE("cpu_load"),
		.doc = "Each CPU that was online all the time."),
	NM_MADE("unhalted", make_unhalted, NM_SCHEMA_IF_AVAILABLE("unhalted"),
		.object = &nm_unhalted_object),
	NM_MADE("cpufreq", make_cpufreq, NM_SCHEMA_IF_AVAILABLE("cpufreq"),
		.object = &nm_cpufreq_object),
	NM_MADE("interrupts", make_interrupts, NM_SCHEMA_IF_AVAILABLE("interrupts"),
		.object = &nm_interrupts_object),
	NM_MADE("softirqs", make_softirqs, NM_SCHEMA_IF_AVAILABLE("softirqs"),
		.object = &nm_softirqs_object),
	NM_MADE("softnet", make_softnet, NM_SCHEMA_IF_AVAILABLE("softnet"),
		.object = &nm_softnet_object),
	NM_MADE("pressure", make_pressure, NM_SCHEMA_IF_AVAILABLE("pressure"),
		.object = &nm_pressure_object),
	NM_MADE("rusage", make_rusage, NM_SCHEMA_IF_AVAILABLE("rusage"),
		.object = &nm_rusage_object),
	NM_MADE("throttling", make_throttling, NM_SCHEMA_IF_AVAILABLE("throttling"),
		.object = &nm_throttling_object),
	NM_MADE("nics", make_nics, NM_SCHEMA_LIST_IF_AVAILABLE("nic"),
		.doc = "Over the measured window."),
	NM_MADE("vectors", make_vectors, NM_SCHEMA_LIST("vector"),
		.doc = "Interrupts of each vector of the interfaces, over the measured window."),
	NM_MADE("costs", make_costs, NM_SCHEMA_IF_AVAILABLE("costs"), .object = &nm_costs_object),
	NM_MADE("tcp", make_tcp, NM_SCHEMA_IF_AVAILABLE("tcp"), .object = &nm_tcp_object),
	NM_MADE("psp", make_psp, NM_SCHEMA_LIST_IF_AVAILABLE("psp_device"),
		.doc = "PSP devices over the measured window; none where the kernel has no PSP."),
	NM_FIGURE(OBJECT, struct nm_result_host, facts.cut, "cut_sizes",
		  .object = &nm_buffers_object, .has = has_cut, .is_label = true),
	NM_MADE("connections", make_connections, NM_SCHEMA_IF_AVAILABLE("connections"),
		.object = &nm_connections_object),
	NM_FIGURE(LIST, struct nm_result_host, intervals, "intervals",
		  .object = &nm_host_interval_object,
		  .count_offset = offsetof(struct nm_result_host, n_intervals),
		  .item_size = sizeof(struct nm_host_interval)),
	NM_FIGURE_END,
};

const struct nm_object nm_host_object = {.name = "host", .figures = host_figures};
