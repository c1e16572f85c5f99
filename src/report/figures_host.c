/* SPDX-License-Identifier: Apache-2.0 */
/* The document's part about one host. */
#include "report/costs.h"
#include "report/figures.h"

static const struct nm_result_host *host_of(const struct nm_at *at)
{
	return at->item;
}

/* --- facts --- */

const struct nm_object nm_facts_object = {.name = "facts",
					  .figures = NM_ALL_FIELDS(nm_host_facts_fields, 0)};

/* --- counts --- */

const struct nm_object nm_counts_object = {
	.name = "counts",
	.doc = "Everything that a host counted, from start to end.",
	.figures = NM_ALL_FIELDS(nm_counts_fields, 0),
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

static json_t *make_group_operations(const struct nm_at *at)
{
	return slave_report(at) ? nm_json_count(slave_report(at)->operations) : json_null();
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
	NM_MADE("operations", make_group_operations, "operations", .omits_null = true),
	NM_MADE("phases", make_group_phases, NM_SCHEMA_LIST("host_phase"), .omits_null = true),
	NM_MADE("flow_totals", make_group_strands, "flow_totals", .omits_null = true),
	NM_FIGURE_END,
};

static const struct nm_object group_counts_object = {
	.figures = group_counts_figures,
	.base = &nm_counts_object,
	.closing = NM_CLOSED_ALL,
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
		  NM_KNOWN_BY(struct nm_conn_report, min_rtt_s), .schema = NM_SCHEMA_REAL_OR_NULL,
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
	NM_FIGURE(OBJECT, struct nm_conn_report, tls, "tls", .object = &nm_tls_object,
		  NM_KNOWN_BY(struct nm_conn_report, tls.connections), .is_label = true,
		  .schema = NM_SCHEMA_OR_NULL("tls")),
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

static bool fill_direction(const struct nm_at *at, void *ret)
{
	nm_host_interval_datagrams(at->item, ret);
	return true;
}

static const struct nm_figure row_figures[] = {
	NM_FIGURE(REAL, struct nm_host_interval, from_s, "from_s"),
	NM_FIGURE(REAL, struct nm_host_interval, to_s, "to_s"),
	NM_FIGURE(NUMBER, struct nm_host_interval, phase, "phase", .doc = "From 1."),
	NM_FIGURE(COUNT, struct nm_host_interval, counts.iterations, "transactions"),
	NM_FIGURE(COUNT, struct nm_host_interval, counts.bytes_sent, "bytes_sent"),
	NM_FIGURE(COUNT, struct nm_host_interval, counts.bytes_received, "bytes_received"),
	NM_FIGURE(OBJECT, struct nm_host_interval, cpu, "cpu", .object = &nm_cpu_object,
		  NM_KNOWN_BY(struct nm_host_interval, cpu.n_cpus),
		  .schema = NM_SCHEMA_OR_NULL("cpu")),
	{.kind = NM_FIGURE_FIELDS,
	 .fields = nm_usage_row_fields,
	 .offset = offsetof(struct nm_host_interval, usage)},
	NM_FILLED("messages", fill_direction, struct nm_datagram_direction, nm_direction_object,
		  .has = nm_has_datagrams,
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

/* Why the whole of the machine's usage is missing; a part of it may be by itself. */
static const char *lacks_usage(const struct nm_at *at)
{
	return host_of(at)->has_usage ? NULL : "the host did not deliver it";
}

static const char *lacks_throttling(const struct nm_at *at)
{
	return lacks_usage(at)			       ? lacks_usage(at)
	       : host_of(at)->usage.throttling.periods ? NULL
						       : "its control groups have no limit of CPU";
}

static bool fill_costs(const struct nm_at *at, void *ret)
{
	nm_costs_of(at->result, host_of(at), ret);
	return true;
}

static json_t *make_operations(const struct nm_at *at)
{
	return host_of(at)->report ? nm_json_count(host_of(at)->report->operations) : json_null();
}

/* A part of the usage, which itself may be missing. */
#define PART(name, member)                                                                         \
	NM_FIGURE(OBJECT, struct nm_result_host, member, #name,                                    \
		  .schema = NM_SCHEMA_IF_AVAILABLE(#name), .object = &nm_##name##_object,          \
		  .lacks = lacks_usage, KNOWN(has_##name, name##_why))
#define KNOWN(flag, its_why)                                                                       \
	NM_KNOWN_BY(struct nm_result_host, usage.flag), .why = WHY(usage.its_why)
#define WHY(member) offsetof(struct nm_result_host, member) + 1

static bool has_counters(const struct nm_at *at)
{
	return at->result->statistics & NM_STAT_COUNTERS;
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
	NM_FIGURE(OBJECT, struct nm_result_host, counts, "counts", .object = &nm_counts_object,
		  NM_KNOWN_BY(struct nm_result_host, n_groups),
		  .schema =
			  "{'anyOf': [{'$ref': '#/$defs/counts', 'unevaluatedProperties': false}, "
			  "{'type': 'null'}]}"),
	NM_LIST(struct nm_result_host, groups, n_groups, "groups", group_counts_object,
		.doc = "The same counts, group by group. With statistics a slave's have its phases "
		       "and "
		       "flows too; the master's are those of `groups`."),
	NM_FIGURE(REAL, struct nm_host_report, elapsed_s, "elapsed_s",
		  .behind = offsetof(struct nm_result_host, report) + 1,
		  NM_HAS(struct nm_result_host, report),
		  .doc = "With statistics only: from the begin of the first transaction to the end "
			 "of the "
			 "last, by the host's own clock."),
	NM_MADE("operations", make_operations, "operations", .omits_null = true),
	NM_ARRAY(struct nm_result_host, counters.items, counters.count, "counters",
		 nm_counters_object, .schema = "counters", .has = has_counters),
	PART(cpu, usage.cpu),
	NM_ARRAY(struct nm_result_host, each.cpus.items, each.cpus.count, "cpus",
		 nm_cpu_load_object, .schema = NM_SCHEMA_LIST_IF_AVAILABLE("cpu_load"),
		 .lacks = lacks_usage, NM_KNOWN_BY(struct nm_result_host, each.cpus.count),
		 .why = WHY(each.cpus.why), .doc = "Each CPU that was online all the time."),
	PART(unhalted, usage),
	PART(cpufreq, usage),
	PART(interrupts, usage),
	PART(softirqs, usage),
	PART(softnet, usage),
	PART(pressure, usage),
	NM_FIGURE(OBJECT, struct nm_result_host, usage, "rusage",
		  .schema = NM_SCHEMA_IF_AVAILABLE("rusage"), .object = &nm_rusage_object,
		  .lacks = lacks_usage),
	NM_FIGURE(OBJECT, struct nm_result_host, usage.throttling, "throttling",
		  .schema = NM_SCHEMA_IF_AVAILABLE("throttling"), .object = &nm_throttling_object,
		  .lacks = lacks_throttling),
	NM_ARRAY(struct nm_result_host, usage.nics, usage.n_nics, "nics", nm_nic_object,
		 .schema = NM_SCHEMA_LIST_IF_AVAILABLE("nic"), .lacks = lacks_usage,
		 KNOWN(has_nics, nics_why), .doc = "Over the measured window."),
	NM_ARRAY(struct nm_result_host, each.vectors.items, each.vectors.count, "vectors",
		 nm_vector_object,
		 .doc = "Interrupts of each vector of the interfaces, over the measured window."),
	NM_FILLED("costs", fill_costs, struct nm_costs, nm_costs_object,
		  .schema = NM_SCHEMA_IF_AVAILABLE("costs"), .lacks = lacks_usage),
	PART(tcp, usage),
	NM_ARRAY(struct nm_result_host, usage.psp, usage.n_psp, "psp", nm_psp_object,
		 .schema = NM_SCHEMA_LIST_IF_AVAILABLE("psp_device"), .lacks = lacks_usage,
		 KNOWN(has_psp, psp_why),
		 .doc = "PSP devices over the measured window; none where the kernel has no PSP."),
	NM_FIGURE(OBJECT, struct nm_result_host, facts.cut, "cut_sizes",
		  .object = &nm_buffers_object, .has = has_cut, .is_label = true),
	NM_FIGURE(OBJECT, struct nm_result_host, connections, "connections",
		  .schema = NM_SCHEMA_IF_AVAILABLE("connections"), .object = &nm_connections_object,
		  NM_KNOWN_BY(struct nm_result_host, connections.connections),
		  .why = WHY(connections.why)),
	NM_LIST(struct nm_result_host, intervals, n_intervals, "intervals",
		nm_host_interval_object),
	NM_FIGURE_END,
};

const struct nm_object nm_host_object = {.name = "host", .figures = host_figures};
