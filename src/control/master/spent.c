/* SPDX-License-Identifier: Apache-2.0 */
/* Warns of a rate, or of arrivals, whose connections take more ports than this host has: who closes
 * a connection in order keeps its port, so that the kernel has none for a new connection to the
 * same server. */
#include "control/master/spent.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "flowop/disconnect.h"
#include "flowop/flowop.h"
#include "host/procfile.h"
#include "plan/plan.h"
#include "result/result.h"
#include "transport/address.h"
#include "transport/transport.h"

#define KEPT_S 60.0 /* how long Linux keeps a port */

#define TCP "/proc/sys/net/ipv4/tcp_"

/* How long the ports of connections to these servers are kept: Linux may let another connection
 * have them sooner, which it tells from the former by its timestamps. */
static double kept_s(const struct nm_addr *servers, uint32_t n)
{
	const uint64_t reuse = nm_procfile_number(0, TCP "tw_reuse");
	bool here = true;

	for (uint32_t i = 0; i < n; i++)
		here &= nm_addr_is_loopback(&servers[i]);
	return nm_procfile_number(1, TCP "timestamps") && (reuse == 1 || (reuse == 2 && here))
		       ? (double)nm_procfile_number(1000, TCP "tw_reuse_delay") / 1000
		       : KEPT_S;
}

static uint32_t distinct(const struct nm_addr *servers, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < i && (servers[k].len != servers[i].len ||
				 memcmp(&servers[k].sa, &servers[i].sa, servers[i].len)))
			k++;
		count += k == i;
	}
	return count;
}

/* How many connections there can be at a time. */
static double ports_for(const struct nm_group *group, const struct nm_instr *connect,
			const struct nm_addr *servers, uint32_t n)
{
	const struct nm_transport_socket *socket = connect->transport->socket;
	const void *opts = connect->open.transport_opts;
	uint64_t each = socket->source_ports ? socket->source_ports(opts) : 0;
	uint32_t sources = 0, others = distinct(servers, n);
	struct nm_addr source;

	if (each)
		return (double)each * group->n_flows;
	while (socket->source && socket->source(opts, sources, &source))
		sources++;

	/* A flow has one of the addresses and one of the servers, each in turn. */
	uint32_t pairs = sources ? sources : 1;

	while (pairs % others)
		pairs += sources ? sources : 1;
	return (double)nm_procfile_ports() * fmin(pairs, group->n_flows);
}

/* How many connections a pass closes in order, at least: by a disconnect, or, on average, as their
 * life of so many requests is over. */
static double closings(const struct nm_group *group, const struct nm_phase *phase,
		       const struct nm_instr *connect)
{
	double requests = nm_law_mean(&((const struct nm_opts_open *)connect->opts)->requests);
	bool closes = false, asks = false;

	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[i];

		if (!instr->op || instr->opening != connect->opening)
			continue;
		closes |= nm_disconnect_keeps_port(instr);
		asks |= nm_instr_asks(instr);
	}
	if (closes)
		return 1;
	return asks && requests >= 1 ? 1 / requests : 0;
}

/* How many passes of the phase are due within so many seconds; 0: that is not known. */
static double passes_within(const struct nm_group *group, const struct nm_phase *phase,
			    double seconds)
{
	double most = phase->duration_ns ? (double)phase->total
					 : (double)phase->iterations * group->n_flows;

	if (phase->duration_ns)
		seconds = fmin(seconds, (double)phase->duration_ns / 1e9);
	double due = nm_phase_planned_per_s(group, phase) * seconds;

	return most > 0 ? fmin(due, most) : due;
}

void nm_warn_of_spent_ports(struct nm_result *result, const struct nm_group *group,
			    const struct nm_instr *connect, const struct nm_addr *servers,
			    uint32_t n)
{
	if (!connect->transport->tcp_fields || !connect->transport->socket)
		return;
	double kept = kept_s(servers, n), ports = ports_for(group, connect, servers, n);
	double most = 0;
	char time[32];

	for (uint32_t k = 0; k < group->n_phases; k++) {
		const struct nm_phase *phase = &group->phases[k];

		most = fmax(most,
			    passes_within(group, phase, kept) * closings(group, phase, connect));
	}
	/* Beyond max_tw_buckets Linux keeps no port. */
	if (ports <= 0 || most <= ports ||
	    (double)nm_procfile_number(UINT64_MAX, TCP "max_tw_buckets") <= ports)
		return;
	nm_result_warn(
		result,
		"group %.128s: connections that it closes in order keep their ports for %s "
		"(TIME_WAIT): within that time its rate takes %.0f, and there are %.0f "
		"(net.ipv4.ip_local_port_range or source_ports, localhost, servers): connects "
		"will fail; close=rst keeps no port",
		group->name, nm_format_duration(kept, time, sizeof time), most, ports);
}
