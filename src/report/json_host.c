/* SPDX-License-Identifier: Apache-2.0 */
/* What the JSON document says of one host. */
#include "report/json_parts.h"

#include "report/common.h"

static json_t *facts_json(const struct nm_host_facts *facts)
{
	json_t *object = json_object();

	for (const struct nm_field *field = nm_host_facts_fields; field->name; field++) {
		const void *at = (const char *)facts + field->offset;
		json_t *value = field->type == NM_FIELD_CHARS ? nm_json_known(at)
				: field->type == NM_FIELD_I64 && *(const int64_t *)at < 0
					? json_null()
				: field->type == NM_FIELD_I64
					? nm_json_count((uint64_t) * (const int64_t *)at)
				: field->type == NM_FIELD_U64 && *(const uint64_t *)at
					? nm_json_count(*(const uint64_t *)at)
				: field->type == NM_FIELD_U32 && *(const uint32_t *)at
					? nm_json_count(*(const uint32_t *)at)
					: json_null();

		(void)json_object_set_new(object, field->figure, value);
	}
	return object;
}

static json_t *counts_json(const struct nm_counts *counts)
{
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o}", "transactions", nm_json_count(counts->iterations),
		"bytes_sent", nm_json_count(counts->bytes_sent), "bytes_received",
		nm_json_count(counts->bytes_received), "connects", nm_json_count(counts->connects),
		"accepts", nm_json_count(counts->accepts), "errors", nm_json_count(counts->errors));

	return nm_json_join(object,
			    json_pack("{s:o, s:o, s:o, s:o}", "fastopens",
				      nm_json_count(counts->fastopens), "zerocopy_sends",
				      nm_json_count(counts->zerocopy_sends), "zerocopy_copied",
				      nm_json_count(counts->zerocopy_copied), "bytes_mapped",
				      nm_json_count(counts->bytes_mapped)));
}

static json_t *groups_json(const struct nm_result *result, const struct nm_result_host *host)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < host->n_groups; i++) {
		const char *name = i < result->n_groups ? result->groups[i].name : NULL;
		json_t *group = nm_json_join(json_pack("{s:o}", "name", nm_json_text(name)),
					     counts_json(&host->groups[i]));
		if (!host->is_master)
			group = nm_json_join(group, nm_json_group_report(result, host, i));
		if (nm_json_append(array, group) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *share(const struct nm_cpu_times *cpu, uint64_t part_ns)
{
	return nm_json_real(nm_cpu_share(cpu, part_ns));
}

static json_t *cpu_json(const struct nm_cpu_times *cpu)
{
	uint64_t busy_ns = nm_cpu_busy_ns(cpu);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n_cpus",
			 nm_json_count(cpu->n_cpus), "user", share(cpu, cpu->user_ns), "nice",
			 share(cpu, cpu->nice_ns), "system", share(cpu, cpu->system_ns), "softirq",
			 share(cpu, cpu->softirq_ns), "irq", share(cpu, cpu->irq_ns), "iowait",
			 share(cpu, cpu->iowait_ns), "steal", share(cpu, cpu->steal_ns), "idle",
			 share(cpu, cpu->idle_ns), "busy", share(cpu, busy_ns), "seconds",
			 nm_json_real((double)busy_ns / 1e9));
}

static json_t *interrupts_json(const struct nm_usage *usage)
{
	return json_pack("{s:o, s:o, s:o}", "seconds", nm_json_real((double)usage->at_ns / 1e9),
			 "hardware", nm_json_count(usage->interrupts.hardware), "context_switches",
			 nm_json_count(usage->interrupts.context_switches));
}

static json_t *softirqs_json(const struct nm_usage *usage)
{
	const struct nm_softirqs *softirqs = &usage->softirqs;
	json_t *object =
		json_pack("{s:o, s:o}", "seconds", nm_json_real((double)usage->at_ns / 1e9),
			  "total", nm_json_count(softirqs->total));

	for (enum nm_softirq kind = 0; kind < NM_N_SOFTIRQS; kind++) {
		json_t *count = nm_softirq_known(softirqs, kind)
					? nm_json_count(softirqs->kinds[kind])
					: json_null();

		object = nm_json_join(object, json_pack("{s:o}", nm_softirq_name(kind), count));
	}
	return object;
}

static json_t *cpu_of(const struct nm_usage *usage)
{
	return cpu_json(&usage->cpu);
}

static json_t *rusage_json(const struct nm_usage *of)
{
	const struct nm_rusage *usage = &of->process;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "utime_s",
			 nm_json_real((double)usage->utime_ns / 1e9), "stime_s",
			 nm_json_real((double)usage->stime_ns / 1e9), "maxrss_kb",
			 nm_json_count(usage->maxrss_kb), "minflt", nm_json_count(usage->minflt),
			 "majflt", nm_json_count(usage->majflt), "nvcsw",
			 nm_json_count(usage->nvcsw), "nivcsw", nm_json_count(usage->nivcsw));
}

static json_t *nic_json(const struct nm_nic *nic)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", nm_json_text(nic->name),
		"rx_bytes", nm_json_count(nic->rx_bytes), "tx_bytes", nm_json_count(nic->tx_bytes),
		"rx_packets", nm_json_count(nic->rx_packets), "tx_packets",
		nm_json_count(nic->tx_packets), "rx_errors", nm_json_count(nic->rx_errors),
		"tx_errors", nm_json_count(nic->tx_errors), "rx_dropped",
		nm_json_count(nic->rx_dropped), "tx_dropped", nm_json_count(nic->tx_dropped));
}

static json_t *nics_json(const struct nm_usage *usage)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < usage->n_nics; i++) {
		if (nm_json_append(array, nic_json(&usage->nics[i])) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *psp_device_json(const struct nm_psp_usage *device)
{
	const struct nm_psp_stats *s = &device->stats;
	json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "name", nm_json_known(device->name),
				   "id", nm_json_count(device->id), "key_rotations",
				   nm_json_count(s->key_rotations), "stale_events",
				   nm_json_count(s->stale_events));

	return nm_json_join(
		object,
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rx_packets",
			  nm_json_count(s->rx_packets), "rx_bytes", nm_json_count(s->rx_bytes),
			  "rx_auth_fail", nm_json_count(s->rx_auth_fail), "rx_error",
			  nm_json_count(s->rx_error), "rx_bad", nm_json_count(s->rx_bad),
			  "tx_packets", nm_json_count(s->tx_packets), "tx_bytes",
			  nm_json_count(s->tx_bytes), "tx_error", nm_json_count(s->tx_error)));
}

static json_t *psp_json(const struct nm_usage *usage)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < usage->n_psp; i++) {
		if (nm_json_append(array, psp_device_json(&usage->psp[i])) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *tcp_json(const struct nm_usage *usage)
{
	const struct nm_tcp_counters *tcp = &usage->tcp;

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "segments_sent", nm_json_count(tcp->segs_out),
			 "segments_received", nm_json_count(tcp->segs_in), "retransmitted_segments",
			 nm_json_count(tcp->retrans_segs), "resets_sent",
			 nm_json_count(tcp->out_rsts), "listen_overflows",
			 nm_json_count(tcp->listen_overflows));
}

static json_t *tls_json(const struct nm_tls_report *tls)
{
	if (tls->connections == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "count", nm_json_count(tls->connections),
			 "version", nm_json_known(tls->version), "cipher",
			 nm_json_known(tls->cipher), "resumed", nm_json_count(tls->resumed),
			 "ktls_send", nm_json_count(tls->ktls_send), "ktls_receive",
			 nm_json_count(tls->ktls_receive));
}

static json_t *connections_json(const struct nm_conn_report *report)
{
	if (report->connections == 0)
		return nm_json_unavailable(report->why);
	return json_pack("{s:o, s:o, s:{s:o, s:o, s:o}, s:o, s:o, s:o, s:o, s:o}", "count",
			 nm_json_count(report->connections), "retransmits",
			 nm_json_count(report->retransmits), "rtt_s", "min",
			 nm_json_real(report->rtt_min_s), "mean", nm_json_real(report->rtt_mean_s),
			 "max", nm_json_real(report->rtt_max_s), "cwnd_mean",
			 nm_json_real(report->cwnd_mean), "mss_min", nm_json_count(report->mss_min),
			 "mss_max", nm_json_count(report->mss_max), "congestion_control",
			 nm_json_known(report->congestion_control), "tls", tls_json(&report->tls));
}

static json_t *add_messages(json_t *item, const struct nm_host_interval *row)
{
	struct nm_datagram_direction way;

	nm_host_interval_datagrams(row, &way);
	return nm_json_join(item, json_pack("{s:o}", "messages", nm_json_direction(&way)));
}

static json_t *intervals_json(const struct nm_result *result, const struct nm_result_host *host)
{
	struct nm_datagram_stats messages;
	json_t *array = json_array();

	nm_result_datagrams(result, &messages);

	for (size_t i = 0; array && i < host->n_intervals; i++) {
		const struct nm_host_interval *row = &host->intervals[i];
		json_t *item = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "from_s",
					 nm_json_real(row->from_s), "to_s", nm_json_real(row->to_s),
					 "phase", nm_json_count(row->phase), "transactions",
					 nm_json_count(row->counts.iterations), "bytes_sent",
					 nm_json_count(row->counts.bytes_sent), "bytes_received",
					 nm_json_count(row->counts.bytes_received), "cpu",
					 row->cpu.n_cpus ? cpu_json(&row->cpu) : json_null());
		if (messages.any)
			item = add_messages(item, row);
		if (nm_json_append(array, item) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

/* A part of what the machine used, which by itself may be missing and then says why. */
static json_t *part_json(const struct nm_result_host *host, bool has, const char *why,
			 json_t *(*make)(const struct nm_usage *usage))
{
	if (!host->has_usage)
		return nm_json_unavailable("the host did not deliver it");
	return has ? make(&host->usage) : nm_json_unavailable(why);
}

static json_t *usage_json(const struct nm_result_host *host)
{
	const struct nm_usage *u = &host->usage;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu",
			 part_json(host, u->has_cpu, u->cpu_why, cpu_of), "interrupts",
			 part_json(host, u->has_interrupts, u->interrupts_why, interrupts_json),
			 "softirqs",
			 part_json(host, u->has_softirqs, u->softirqs_why, softirqs_json), "rusage",
			 part_json(host, true, "", rusage_json), "nics",
			 part_json(host, u->has_nics, u->nics_why, nics_json), "tcp",
			 part_json(host, u->has_tcp, u->tcp_why, tcp_json), "psp",
			 part_json(host, u->has_psp, u->psp_why, psp_json));
}

json_t *nm_json_host(const struct nm_result *result, const struct nm_result_host *host)
{
	bool told = host->n_groups > 0;
	bool timed = host->complete && !host->is_master;
	bool begun = result->has_start_skew && !host->is_master;

	json_t *object =
		json_pack("{s:o, s:s, s:o, s:b, s:o, s:o}", "name", nm_json_text(host->name),
			  "role", host->is_master ? "master" : "slave", "address",
			  nm_json_text(host->address), "complete", (int)host->complete, "error",
			  nm_json_text(host->error), "facts", facts_json(&host->facts));
	object = nm_json_join(
		object, json_pack("{s:o, s:o, s:o}", "rtt_s",
				  timed ? nm_json_real(host->rtt_s) : json_null(), "start_skew_s",
				  begun ? nm_json_real(host->start_skew_s) : json_null(),
				  "start_skew_error_s",
				  begun ? nm_json_real(host->skew_error_s) : json_null()));
	object = nm_json_join(object, json_pack("{s:o, s:o}", "counts",
						told ? counts_json(&host->counts) : json_null(),
						"groups", groups_json(result, host)));
	object = nm_json_join(object, usage_json(host));
	if (host->report)
		object = nm_json_join(object,
				      json_pack("{s:o, s:o}", "elapsed_s",
						nm_json_real(host->report->elapsed_s), "operations",
						nm_json_count(host->report->operations)));
	if (result->statistics & NM_STAT_COUNTERS)
		object = nm_json_join(object,
				      json_pack("{s:o}", "counters", nm_json_counters(host)));
	return nm_json_join(object, json_pack("{s:o, s:o}", "connections",
					      connections_json(&host->connections), "intervals",
					      intervals_json(result, host)));
}
