/* SPDX-License-Identifier: Apache-2.0 */
/* Puts an engine's failure into words, and adds up connections and counts over phases. */
#include "control/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/peer.h"
#include "flowop/flowop.h"
#include "host/procfile.h"
#include "stats/summary.h"

/* The instruction that has failed; NULL: the failure is no flowop's. */
static const struct nm_instr *find_failed(const struct nm_plan *plan,
					  const struct nm_engine_error *error)
{
	const struct nm_group *group =
		error->group < plan->n_groups ? &plan->groups[error->group] : NULL;
	const struct nm_instr *instr = group && error->flowop && error->site < group->n_instrs
					       ? &group->instrs[error->site]
					       : NULL;

	return instr && instr->op ? instr : NULL;
}

/* As a profile has it: 100ms. */
static void print_time(uint64_t ns, char *buf, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000u, "s"}, {1000000u, "ms"}, {1000u, "us"}, {1u, "ns"}};
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	(void)snprintf(buf, size, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}

/* Says what did not happen in the time that the flowop has. */
static void timeout_text(const struct nm_instr *instr, char *buf, size_t size)
{
	uint32_t flags = instr->op->flags;
	char time[32];

	print_time(nm_instr_limit_ns(instr), time, sizeof time);
	(void)snprintf(buf, size, "%s within timeout=%s",
		       flags & NM_FLOWOP_OPENS	   ? "no connection"
		       : flags & NM_FLOWOP_FOLLOWS ? "nothing came"
						   : "not done",
		       time);
}

/* Whether the connections of the flowop have a port that the profile has chosen. */
static bool has_own_port(const struct nm_instr *instr)
{
	const struct nm_opt *opt = (instr->op->flags & NM_FLOWOP_OPENS) && instr->transport
					   ? nm_opt_find(instr->transport->opts, "source_port")
					   : NULL;
	uint64_t port = 0;

	if (opt)
		memcpy(&port, (const char *)instr->open.transport_opts + opt->offset, sizeof port);
	return port;
}

/* The meaning of a socket's error in a run, where its name says too little; NULL: the name is
 * enough. */
static const char *meaning_of(int error)
{
	static const struct {
		int error;
		const char *text;
	} meanings[] = {
		{EINVAL,
		 "an option that the kernel refuses, or the route to the peer is a blackhole "
		 "(ip route get ADDRESS)"},
		{ECONNABORTED, "the connection was ended on this host, not by the peer: by an "
			       "administrator (ss -K), or with its interface or address"},
		{EHOSTUNREACH,
		 "the peer does not answer on its link, or a firewall, a router or the "
		 "route says that it cannot be reached"},
		{ENETUNREACH, "this host has no route to the peer (ip route get ADDRESS)"},
		{ENETDOWN, "the interface is down (ip link)"},
		{ENODEV, "the interface has gone (ip link)"},
		{EACCES, "a route (prohibit) or a rule of this host forbids it"},
		{EPERM, "a firewall of this host forbids it, or a privilege is missing"},
		{ECONNREFUSED,
		 "nothing takes connections or messages at that address and port, or a "
		 "firewall refuses them"},
		{ETIMEDOUT,
		 "the peer has acknowledged nothing for too long: the way to it is cut, "
		 "it hangs, or a full queue of this host's interface drops all that is sent "
		 "(tc -s qdisc; net.ipv4.tcp_retries2 times half a second)"},
		{ENOBUFS, "a queue of this host or its interface is full"},
		{EMFILE, "too few open files are allowed (ulimit -n)"},
		{ENFILE, "this host has too few open files (sysctl fs.file-max)"},
		{EADDRNOTAVAIL, "an address that this host does not have, or "},
	};

	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
		if (meanings[i].error == error)
			return meanings[i].text;
	return NULL;
}

/* Whether a connection to an address that is good on one link alone could not be begun. */
static bool lacks_interface(const struct nm_engine_error *error, const struct nm_instr *instr)
{
	return instr && nm_instr_opens(instr) && error->error == EINVAL && error->port &&
	       strncasecmp(nm_data_host(instr->opts, ""), "fe80:", 5) == 0;
}

/* Why the flow has failed, in the words of its transport, of its flowop, or of the system. buf is
 * room for it. */
static const char *cause_of(const struct nm_engine_error *error, const struct nm_plan *plan,
			    const struct nm_instr *instr, char *buf, size_t size)
{
	/* An error that only a flowop that sends files gives. */
	if (error->error == ESTALE)
		return "a file has become shorter while it was sent";
	if (*error->why)
		return error->why;
	if (lacks_interface(error, instr))
		return "data_host is an address of each link, so an interface of the host that "
		       "connects must stand behind it, as in fe80::1%eth0";
	if (instr && error->error == ETIMEDOUT && nm_instr_limit_ns(instr)) {
		timeout_text(instr, buf, size);
		return buf;
	}
	if (instr && (error->error == EADDRNOTAVAIL || error->error == EADDRINUSE) &&
	    has_own_port(instr)) {
		(void)snprintf(buf, size,
			       "%s: its source_port is in use, or waits in TIME_WAIT since a "
			       "connection was closed in order; source_ports gives each flow "
			       "several, and close=rst leaves none waiting",
			       strerror(error->error));
		return buf;
	}
	const char *meaning = instr ? meaning_of(error->error) : NULL;
	char no_port[96] = "";

	/* A flow waits where there is no room: EAGAIN has another meaning. */
	if (instr && (error->error == EAGAIN || error->error == EADDRNOTAVAIL))
		(void)nm_procfile_no_port(no_port, sizeof no_port);
	if (!meaning && !*no_port)
		return error->error ? strerror(error->error) : "it failed";
	int used = snprintf(buf, size, "%s: %s%s", strerror(error->error), meaning ? meaning : "",
			    no_port);

	if (*no_port && used < (int)size)
		(void)snprintf(buf + used, size - (size_t)used, "; the group has %u flows",
			       plan->groups[error->group].n_flows);
	return buf;
}

void nm_failure_text(const struct nm_engine_error *error, const struct nm_plan *plan,
		     const char *file, char *buf, size_t size)
{
	char count[192], room[384];
	const struct nm_instr *instr = find_failed(plan, error);
	const char *cause = cause_of(error, plan, instr, room, sizeof room);
	int used = snprintf(count, sizeof count, "%llu flow%s", (unsigned long long)error->count,
			    error->count == 1 ? "" : "s");

	if (error->port && instr && instr->host < plan->n_hosts)
		(void)snprintf(count + used, sizeof count - (size_t)used, "%s to %.64s port %u",
			       error->count == 1 ? "," : "; the first",
			       nm_data_host(instr->opts, plan->hosts[instr->host]), error->port);
	if (*error->server)
		(void)snprintf(count + used, sizeof count - (size_t)used, "%s server %s",
			       error->count == 1 ? "," : "; the first,", error->server);
	if (error->of_process)
		(void)snprintf(buf, size, "%s: %s", file, cause);
	else if (error->flowop)
		(void)snprintf(buf, size, "flowop %s at %s:%u: %s (%s)", error->flowop, file,
			       error->line, cause, count);
	else
		(void)snprintf(buf, size, "flow %u of group %u of %s: %s (%s)", error->flow,
			       error->group, file, cause, count);
}

/* Appends one place to the text in the buffer, or nothing when the place does not fit whole. */
static void append_place(const struct nm_flow_place *place, const struct nm_plan *plan,
			 const char *file, char *buf, size_t size)
{
	static const char *const waits[] = {
		[NM_FLOW_WAIT_TURN] = "able to go on",
		[NM_FLOW_WAIT_INPUT] = "waiting for input",
		[NM_FLOW_WAIT_OUTPUT] = "waiting for output to be taken",
		[NM_FLOW_WAIT_CONNECTION] = "waiting for a connection",
		[NM_FLOW_WAIT_TIME] = "asleep",
	};
	const struct nm_group *group = &plan->groups[place->group];
	const struct nm_instr *instr =
		place->site < group->n_instrs ? &group->instrs[place->site] : NULL;
	char where[192] = " at the end of a pass";
	size_t used = strlen(buf);

	if (instr && instr->op && instr->line)
		(void)snprintf(where, sizeof where, " in %s at %.128s:%u", instr->op->name, file,
			       instr->line);
	int length = snprintf(buf + used, size - used, "%s%u flow%s of group %.64s %s%s",
			      used ? ", " : "", place->flows, place->flows == 1 ? "" : "s",
			      group->name, waits[place->wait], where);

	if (length < 0 || (size_t)length >= size - used)
		buf[used] = '\0';
}

bool nm_unacked_is_large(const struct nm_unacked *unacked)
{
	return unacked->connections && unacked->segment > NM_CONTROL_SEGMENT_BYTES;
}

/* Says what nothing acknowledges, where it may be for its size; else nothing. */
static void print_unacked(const struct nm_unacked *unacked, char *buf, size_t size)
{
	bool one = unacked->connections == 1;

	buf[0] = '\0';
	if (!nm_unacked_is_large(unacked))
		return;
	(void)snprintf(buf, size,
		       "; %u connection%s %s %llu bytes on the way that nothing acknowledges, in "
		       "segments of up to %u bytes",
		       unacked->connections, one ? "" : "s", one ? "has" : "have",
		       (unsigned long long)unacked->bytes, unacked->segment);
}

#define PLACES_TOLD 4u /* one by one */

void nm_places_text(const struct nm_flow_places *places, const struct nm_plan *plan,
		    const char *file, char *buf, size_t size)
{
	uint64_t more = places->more;
	char rest[96] = "", unacked[160];

	buf[0] = '\0';
	print_unacked(&places->unacked, unacked, sizeof unacked);
	size_t room = size - sizeof rest, wanted = strlen(unacked);
	for (size_t i = 0; i < places->count; i++) {
		if (i < PLACES_TOLD)
			append_place(&places->list[i], plan, file, buf,
				     wanted < room ? room - wanted : room);
		else
			more += places->list[i].flows;
	}
	if (more)
		(void)snprintf(rest, sizeof rest, "%s%llu elsewhere", *buf ? ", and " : "",
			       (unsigned long long)more);
	if (places->silent)
		(void)snprintf(rest + strlen(rest), sizeof rest - strlen(rest),
			       "%s%u worker%s do%s not answer", *buf || *rest ? ", " : "",
			       places->silent, places->silent == 1 ? "" : "s",
			       places->silent == 1 ? "es" : "");
	if (!*buf && !*rest)
		(void)snprintf(rest, sizeof rest, "no flow is on its way");
	size_t used = strlen(buf);

	(void)snprintf(buf + used, size - used, "%s%s", rest, unacked);
}

bool nm_failure_is_secondary(const struct nm_engine_error *error)
{
	switch (error->error) {
	case ECONNRESET:
	case EPIPE:
	case ENODATA:
	case 0:
		return true;
	case ECONNABORTED:
		/* With an alert of TLS the peer has told that it has ended the connection; without
		 * words of the transport it was this host. */
		return error->why[0] != '\0';
	default:
		return false;
	}
}

static void merge_tls(struct nm_tls_report *into, const struct nm_conn_tls *from)
{
	if (into->connections == 0) {
		memcpy(into->version, from->version, sizeof into->version);
		memcpy(into->cipher, from->cipher, sizeof into->cipher);
		memcpy(into->alpn, from->alpn, sizeof into->alpn);
	}
	into->connections += from->connections;
	into->resumed += from->resumed;
	into->ktls_send += from->ktls_send;
	into->ktls_receive += from->ktls_receive;
}

static void merge(struct nm_conn_report *into, const struct nm_conn_summary *from)
{
	double of_all = (double)from->connections / (double)(into->connections + from->connections);

	if (into->connections == 0) {
		into->srtt_min_s = from->srtt_min_s;
		into->mss_min = from->mss_min;
		memcpy(into->congestion_control, from->congestion_control,
		       sizeof into->congestion_control);
	}
	if (from->srtt_min_s < into->srtt_min_s)
		into->srtt_min_s = from->srtt_min_s;
	if (from->srtt_max_s > into->srtt_max_s)
		into->srtt_max_s = from->srtt_max_s;
	into->min_rtt_s = nm_least_known(into->min_rtt_s, from->min_rtt_s);
	if (from->mss_min < into->mss_min)
		into->mss_min = from->mss_min;
	if (from->mss_max > into->mss_max)
		into->mss_max = from->mss_max;
	into->srtt_mean_s += (from->srtt_mean_s - into->srtt_mean_s) * of_all;
	into->cwnd_mean += (from->cwnd_mean - into->cwnd_mean) * of_all;
	into->retransmits += from->retransmits;
	merge_tls(&into->tls, &from->tls);
	into->connections += from->connections;
}

void nm_connections_read(const struct nm_engine *engine, const struct nm_plan *plan,
			 struct nm_conn_report *ret_report, struct nm_buffers *cut)
{
	*ret_report = (struct nm_conn_report){.connections = 0};
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];
		struct nm_conn_summary summary = {.connections = 0};

		if (!group->runs)
			continue;
		/* The numbers of a connection grow over the phases: only its last ones count. */
		for (uint32_t k = group->n_phases; k-- > 0 && summary.connections == 0;) {
			if (group->phases[k].measured)
				nm_engine_conn_summary(engine, g, k, &summary);
		}
		if (summary.connections)
			merge(ret_report, &summary);
		nm_buffers_add_mss(cut, summary.cut.mss_asked, summary.cut.mss_given);
	}
	if (ret_report->connections == 0)
		(void)snprintf(ret_report->why, sizeof ret_report->why,
			       "no TCP connection was open at the end of a measured transaction");
}

void nm_counts_read(const struct nm_engine *engine, const struct nm_plan *plan,
		    struct nm_counts *ret_counts)
{
	for (uint32_t g = 0; g < plan->n_groups; g++) {
		const struct nm_group *group = &plan->groups[g];

		ret_counts[g] = (struct nm_counts){.iterations = 0};
		for (uint32_t k = 0; group->runs && k < group->n_phases; k++) {
			struct nm_counts counts;

			nm_engine_counts(engine, g, k, &counts);
			nm_counts_add(&ret_counts[g], &counts);
		}
	}
}
