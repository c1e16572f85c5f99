/* SPDX-License-Identifier: Apache-2.0 */
/* The first part of the summary for people: what was done and moved, and how long it took. */
#include "report/text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "report/common.h"
#include "report/end_totals.h"
#include "report/quantity.h"
#include "report/table.h"
#include "report/text_traffic.h"
#include "result/datagram_stats.h"
#include "result/load.h"

#define TEXT	   NM_TEXT_BYTES
#define MAX_BEHIND 8 /* lines about passes that are late */

/* Whether the master opens or accepts connections while it is measured. */
static bool makes_connections(const struct nm_result *result)
{
	return result->totals.counts.connects || result->totals.counts.accepts;
}

/* By all hosts, over the connections that were open at the end. Where some are made while it is
 * measured, others may have ended: then of all TCP on the machines; an embedded slave is on the
 * master's. */
static void add_retransmits(struct nm_table *table, const struct nm_result *result)
{
	uint64_t sum = 0, connections = 0, of_machines = 0;
	bool of_all = makes_connections(result), told = false;

	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];

		sum += host->connections.retransmits;
		connections += host->connections.connections;
		if (!host->has_usage || !host->usage.has_tcp || host->trust == NM_TRUST_EMBEDDED)
			continue;
		told = true;
		of_machines += host->usage.tcp.retrans_segs;
	}
	if (of_all ? !told : !connections)
		return;
	nm_table_text(table, "retransmits");
	if (of_all)
		nm_table_cell(table, "%" PRIu64 " by all TCP on these hosts", of_machines);
	else
		nm_table_count(table, true, sum);
}

#define NAMED_HOSTS 4

/* How busy the CPUs of each machine were; an embedded slave is on the master's. */
static void add_busy(struct nm_table *table, const struct nm_result *result)
{
	char line[NAMED_HOSTS * 64 + TEXT] = "";
	size_t named = 0, used = 0;

	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];
		const struct nm_cpu_times *cpu = &host->usage.cpu;

		if (!host->has_usage || !host->usage.has_cpu || host->trust == NM_TRUST_EMBEDDED)
			continue;
		if (named++ == NAMED_HOSTS) {
			snprintf(line + used, sizeof(line) - used, "  ...");
			break;
		}
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%.40s %.1f%%",
					 used ? "  " : "", host->name ? host->name : "",
					 100 * nm_cpu_share(cpu, nm_cpu_busy_ns(cpu)));
	}
	if (!named)
		return;
	nm_table_row(table, "cpu", "%s", line);
}

/* The most servers that are named. */
#define SERVERS_NAMED 4u

/* Its port, where its text does not end with it. */
static const char *port_of(const struct nm_result_server *server, char buf[TEXT])
{
	const size_t n = (size_t)snprintf(buf, TEXT, ":%u", server->port);
	const size_t length = strlen(server->server);

	if (!server->port || (length >= n && strcmp(server->server + length - n, buf) == 0))
		return "";
	(void)snprintf(buf, TEXT, " port %u", server->port);
	return buf;
}

/* Those that have said what they are. */
static void add_servers(struct nm_table *table, const struct nm_result *result)
{
	char line[SERVERS_NAMED * (sizeof(struct nm_result_server) + TEXT)] = "";
	char port[TEXT];
	size_t n = 0, named = 0;

	for (size_t i = 0; i < result->id.n_servers; i++) {
		const struct nm_result_server *server = &result->id.servers[i];

		if (*server->version && named++ < SERVERS_NAMED)
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s%s %s %s",
					      n ? "  " : "", server->server, port_of(server, port),
					      server->app, server->version);
	}
	if (!named)
		return;
	nm_table_text(table, "server");
	if (named > SERVERS_NAMED)
		nm_table_cell(table, "%s  and %zu more", line, named - SERVERS_NAMED);
	else
		nm_table_text(table, line);
}

/* How requests were answered: keys in the window, and what was refused at any time, as when keys
 * are stored before it. */
static void add_keys(struct nm_table *table, const struct nm_result *result)
{
	const struct nm_counts *counts = &result->totals.counts;
	const uint64_t refused = result->n_hosts ? result->hosts[0].counts.refused : 0;
	uint64_t all = counts->hits + counts->misses;

	if (all)
		nm_table_row(table, "keys", "hits %.2f %%  misses %.2f %%",
			     100.0 * (double)counts->hits / (double)all,
			     100.0 * (double)counts->misses / (double)all);
	if (counts->truncated)
		nm_table_row(table, "truncated", "%" PRIu64 " answers", counts->truncated);
	if (counts->tcp_fallback)
		nm_table_row(table, "fallback",
			     "%" PRIu64 " answers were cut, and asked for over TCP",
			     counts->tcp_fallback);
	if (refused)
		nm_table_row(table, "refused", "%" PRIu64 " requests", refused);
}

/* Requests without an answer, and connections that have failed or were replaced. No latency has the
 * former: each has taken longer than any that has one, so that the slowest part of all requests has
 * no time. */
static void add_unanswered(struct nm_table *table, const struct nm_result *result)
{
	const struct nm_counts *counts = &result->totals.counts;
	const uint64_t none = counts->timed_out + counts->lost + counts->malformed;
	const uint64_t failed = result->n_hosts ? result->hosts[0].counts.failed_connects : 0;
	const uint64_t unsolicited = result->n_hosts ? result->hosts[0].counts.unsolicited : 0;
	const uint64_t retired = result->n_hosts ? result->hosts[0].counts.retired : 0;

	if (none && counts->requests)
		nm_table_row(table, "no answer",
			     "%.2f %% of %" PRIu64 " requests: timed out %" PRIu64 "  lost %" PRIu64
			     "  malformed %" PRIu64,
			     100 * (double)none / (double)counts->requests, counts->requests,
			     counts->timed_out, counts->lost, counts->malformed);
	if (failed)
		nm_table_row(table, "reconnects", "%" PRIu64 " attempts have failed", failed);
	if (unsolicited)
		nm_table_row(table, "unsolicited", "%" PRIu64 " connections given up", unsolicited);
	if (retired)
		nm_table_row(table, "retired",
			     "%" PRIu64 " connections replaced, as they had lasted long enough",
			     retired);
}

/* The unusual ways that bytes have gone (mapped, without a copy, with fast open), over all
 * hosts. */
static void add_ways(struct nm_table *table, const struct nm_result *result)
{
	struct nm_counts sum = {0};
	char mapped[TEXT], received[TEXT];
	uint64_t fast, all, bytes_mapped, bytes_received;

	for (size_t i = 0; i < result->n_hosts; i++)
		nm_counts_add(&sum, &result->hosts[i].counts);
	if (nm_result_fastopens(result, &fast, &all) && all)
		nm_table_row(table, "fast open", "%" PRIu64 " of %" PRIu64 " connections", fast,
			     all);
	if (sum.zerocopy_sends)
		nm_table_row(table, "zerocopy",
			     "%" PRIu64 " sends, %" PRIu64 " of them copied after all",
			     sum.zerocopy_sends, sum.zerocopy_copied);
	if (nm_result_mapped(result, &bytes_mapped, &bytes_received) && bytes_received)
		nm_table_row(table, "mapped", "%s of %s received",
			     nm_format_amount((double)bytes_mapped, mapped, sizeof(mapped)),
			     nm_format_amount((double)bytes_received, received, sizeof(received)));
}

/* The rate that the profile asks for, beside the one that was reached, when that is lower. */
static void add_behind(struct nm_table *table, const struct nm_result *result)
{
	char a[TEXT], b[TEXT];
	size_t count = 0;

	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		for (size_t k = 0; k < group->n_phases && count < MAX_BEHIND; k++) {
			const struct nm_result_phase *phase = &group->phases[k];

			if (!phase->measured || phase->arrivals ||
			    !nm_phase_is_behind(phase, group->n_flows))
				continue;
			nm_table_row(
				table, count++ ? "" : "behind", "%s %s: %s/s of %s/s planned",
				group->name ? group->name : "",
				phase->name && *phase->name ? phase->name : "transaction",
				nm_text_rate(phase->whole.counts.iterations, phase->whole.seconds,
					     a),
				nm_text_rate((uint64_t)(phase->planned_per_s * 100 + 0.5), 100, b));
		}
	}
}

/* Of each transaction with open arrivals: the load that was asked for and reached. Where it was not
 * reached a warning says why. */
static void add_loads(struct nm_table *table, const struct nm_result *result)
{
	char a[TEXT], b[TEXT];

	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		for (size_t k = 0; k < group->n_phases; k++) {
			const struct nm_result_phase *phase = &group->phases[k];
			struct nm_load load;

			if (!phase->measured || !nm_phase_load(result, group, phase, &load))
				continue;
			nm_table_row(
				table, "arrivals", "%s: %s/s due, %s/s done in time",
				phase->arrivals,
				nm_text_rate((uint64_t)(load.offered_per_s * 100 + 0.5), 100, a),
				nm_text_rate((uint64_t)(load.achieved_per_s * 100 + 0.5), 100, b));
			nm_table_row(table, "outstanding", "mean %s  max %" PRIu64,
				     nm_format_count(load.outstanding_mean, a, sizeof(a)),
				     load.outstanding_max);
			nm_table_row(table, "load", "%s", load.name);
		}
	}
}

#define PERCENTILES_A_LINE 8

/* Those that were never answered are infinitely late. The label stands before the first line. */
static void add_percentiles(struct nm_table *table, const char *label, const double *pct_s,
			    const struct nm_percentiles *percentiles)
{
	char value[TEXT], key[TEXT], line[PERCENTILES_A_LINE * 2 * TEXT];
	size_t used = 0;

	for (size_t i = 0; i < percentiles->count; i++) {
		used += (size_t)snprintf(
			line + used, sizeof(line) - used, "%s%s %s", used ? "  " : "",
			nm_percentile_key(percentiles->pct[i], key, sizeof(key)),
			isinf(pct_s[i]) ? "> timeout"
					: nm_format_duration(pct_s[i], value, sizeof(value)));
		if ((i + 1) % PERCENTILES_A_LINE && i + 1 < percentiles->count)
			continue;
		nm_table_row(table, i < PERCENTILES_A_LINE ? label : "", "%s", line);
		used = 0;
	}
}

static void add_latency(struct nm_table *table, const char *name, const struct nm_latency *latency,
			const struct nm_percentiles *percentiles)
{
	char value[TEXT], line[PERCENTILES_A_LINE * 2 * TEXT];
	const char *const names[] = {"min", "mean", "max", "stddev"};
	const double values[] = {latency->min_s, latency->mean_s, latency->max_s,
				 latency->stddev_s};
	size_t used = 0;

	if (latency->count == 0)
		return;
	for (size_t i = 0; i < 4; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s %s", i ? "  " : "",
					 names[i],
					 nm_format_duration(values[i], value, sizeof(value)));
	nm_table_row(table, name, "%s", line);
	add_percentiles(table, "", latency->pct_s, percentiles);
}

const char *nm_text_mark(const struct nm_window *window, enum nm_time time)
{
	return window->response_grows && time > NM_TIME_PASS ? " *" : "";
}

#define NAMED_GROUPS 3 /* in a label */

/* Not all transactions have a distribution: the label names the groups that do. Latencies all have,
 * and whole passes, which without think times are the same. */
static const char *time_label(const struct nm_result *result, enum nm_time time, char *buf,
			      size_t size)
{
	const char *label = nm_time_labels[time];
	size_t n_with = 0, used;

	for (size_t g = 0; g < result->n_groups; g++)
		n_with += result->groups[g].totals.times[time].count > 0;
	used = (size_t)snprintf(buf, size, "%s%s", label, nm_text_mark(&result->totals, time));
	if (time <= NM_TIME_PASS || n_with == 0 || n_with == result->n_groups)
		return buf;
	if (n_with > NAMED_GROUPS) {
		snprintf(buf + used, size - used, " (%zu of %zu groups)", n_with, result->n_groups);
		return buf;
	}
	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];

		if (group->totals.times[time].count)
			used += (size_t)snprintf(buf + used, size - used, "%s%.40s",
						 strchr(buf, '(') ? ", " : " (",
						 group->name ? group->name : "");
	}
	snprintf(buf + used, size - used, ")");
	return buf;
}

/* Whether the list, names with ", " between them, has the name. */
static bool has_name(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (; *list; list += strspn(list, ", ")) {
		size_t one = strcspn(list, ",");

		if (one == length && strncmp(list, name, length) == 0)
			return true;
		list += one;
	}
	return false;
}

#define NAMED_TRANSACTIONS 256 /* bytes of their names */

/* Which transactions the figures cover, where a group has several that are measured: what they
 * have in common is little. */
static void add_coverage(struct nm_table *table, const struct nm_result *result)
{
	char names[NAMED_TRANSACTIONS] = "";
	size_t measured = 0, all = 0, most = 0, used = 0;

	for (size_t g = 0; g < result->n_groups; g++) {
		const struct nm_result_group *group = &result->groups[g];
		size_t of_group = 0;

		for (size_t k = 0; k < group->n_phases; k++) {
			const char *name = group->phases[k].name;

			all++;
			if (!group->phases[k].measured)
				continue;
			of_group++;
			name = name && *name ? name : "unnamed";
			if (!has_name(names, name) && used + strlen(name) + 8 < sizeof(names))
				used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
							 used ? ", " : "", name);
		}
		measured += of_group;
		most = of_group > most ? of_group : most;
	}
	if (most < 2)
		return;
	nm_table_text(table, "over");
	if (measured == all)
		nm_table_cell(table, "all %zu transactions together: %s", all, names);
	else
		nm_table_cell(table, "%zu of %zu transactions together: %s", measured, all, names);
}

/* A batch of datagrams is one transaction. */
static void add_transactions(struct nm_table *table, const struct nm_window *totals,
			     const struct nm_datagram_stats *messages)
{
	const struct nm_counts *counts = &totals->counts;
	uint64_t moved = counts->messages_sent > counts->messages_received
				 ? counts->messages_sent
				 : counts->messages_received;
	double each = counts->iterations ? (double)moved / (double)counts->iterations : 0;
	char a[TEXT], b[TEXT], batch[2 * TEXT] = "";

	if (messages->any && each > 1.5)
		snprintf(batch, sizeof(batch), ", %.3g datagrams each", each);
	nm_table_row(table, "transactions", "%s/s  (%" PRIu64 " in %s%s)",
		     nm_text_rate(counts->iterations, totals->seconds, a), counts->iterations,
		     nm_format_duration(totals->seconds, b, sizeof(b)), batch);
}

static void add_after_of(struct nm_table *table, const struct nm_result_group *group)
{
	char time[TEXT];

	if (group->after.seconds <= 0)
		return;
	nm_table_row(table, "", "group %s: %" PRIu64 ", up to %s", group->name,
		     group->after.transactions,
		     nm_format_duration(group->after.seconds, time, sizeof(time)));
}

/* Passes that the rates are without. */
static void add_after_time(struct nm_table *table, const struct nm_result *result)
{
	const struct nm_result_after *after = &result->grid.after;
	char time[TEXT], unanswered[TEXT + 32] = "";

	if (after->seconds <= 0)
		return;
	if (after->unanswered)
		snprintf(unanswered, sizeof(unanswered), "; %" PRIu64 " were not answered",
			 after->unanswered);
	nm_table_row(table, "after that",
		     "%" PRIu64 " more ended up to %s after their time: in the latency alone%s",
		     after->transactions, nm_format_duration(after->seconds, time, sizeof(time)),
		     unanswered);
	for (size_t g = 0; result->n_groups > 1 && g < result->n_groups; g++)
		add_after_of(table, &result->groups[g]);
}

/* A stream is first of all a throughput, anything else first of all its transactions. */
static void add_work(struct nm_table *table, const struct nm_result *result)
{
	struct nm_datagram_stats messages;

	nm_result_datagrams(result, &messages);
	if (nm_is_stream(result)) {
		nm_text_stream(table, result);
		nm_text_messages(table, result, &messages);
		if (messages.any)
			nm_text_datagrams(table, &messages);
		add_retransmits(table, result);
		add_busy(table, result);
		add_transactions(table, &result->totals, &messages);
		add_after_time(table, result);
		add_coverage(table, result);
		return;
	}
	add_transactions(table, &result->totals, &messages);
	add_after_time(table, result);
	add_coverage(table, result);
	nm_text_messages(table, result, &messages);
	if (messages.to_slaves.packets_sent < messages.to_slaves.sent ||
	    messages.to_master.packets_sent < messages.to_master.sent)
		nm_text_datagrams(table, &messages);
	nm_text_throughput(table, &result->totals);
	if (makes_connections(result))
		add_retransmits(table, result);
}

void nm_text_totals_print(const struct nm_result *result, unsigned width, FILE *out)
{
	const struct nm_window *totals = &result->totals;
	const struct nm_counts *counts = &totals->counts;
	struct nm_table table = {.align = "ll", .width = width};
	char a[TEXT], label[TEXT + NAMED_GROUPS * 48];

	if (totals->seconds <= 0) {
		fputs("  nothing was measured\n", out);
		return;
	}
	add_work(&table, result);
	add_ways(&table, result);
	add_behind(&table, result);
	add_loads(&table, result);
	for (unsigned i = 0; i < NM_TIME__SIZED; i++) {
		add_latency(&table, time_label(result, i, label, sizeof(label)), &totals->times[i],
			    &result->percentiles);
		if (totals->failing[i])
			add_percentiles(&table, "with failures", totals->failing[i]->pct_s,
					&result->percentiles);
	}
	if (totals->response_grows)
		nm_table_row(&table, "*",
			     "the backlog grew to the end: in a longer run these times are longer");
	add_servers(&table, result);
	add_keys(&table, result);
	add_unanswered(&table, result);
	if (counts->errors)
		nm_table_row(&table, "errors", "%" PRIu64, counts->errors);
	if (result->grid.warmup_s > 0)
		nm_table_row(&table, "warm-up", "%s, not counted",
			     nm_format_duration(result->grid.warmup_s, a, sizeof(a)));
	if (result->grid.warmup_until)
		nm_table_row(&table, "warm-up", "until %s, not counted", result->grid.warmup_until);
	if (result->grid.cooldown_s > 0)
		nm_table_row(&table, "cool-down", "%s, not counted",
			     nm_format_duration(result->grid.cooldown_s, a, sizeof(a)));
	nm_table_end(&table, 2, out);
}
