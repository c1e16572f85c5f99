/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what hosts have sent with what others have received. */
#include "control/master/losses.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "control/peer.h"
#include "flowop/flowop.h"
#include "plan/shape.h"
#include "stats/counters.h"

/* The largest message in a packet as large as those of the control connection, which passes: that
 * has a header of 20 bytes, with one of 8 instead. */
#define MESSAGE_CARRIED (NM_CONTROL_SEGMENT_BYTES + 20 - 8)

/* Whether a flowop that moves messages that may be lost may fail. */
static bool may_fail(const struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = 0; i < phase->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[phase->first + i];

		if (instr->lossy && instr->can_fail)
			return true;
	}
	return false;
}

/* Whether a flowop asks over a stream, of which what is lost is no message. */
static bool asks_over_stream(const struct nm_group *group, const struct nm_phase *phase)
{
	for (uint32_t i = 0; i < phase->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[phase->first + i];

		if (!instr->lossy && nm_instr_asks(instr))
			return true;
	}
	return false;
}

void nm_losses_add(struct nm_losses_count *into, const struct nm_group *group, uint32_t phase,
		   const struct nm_counts *counts)
{
	if (may_fail(group, &group->phases[phase]))
		return;
	into->sent += counts->messages_sent;
	into->received += counts->messages_received;
	into->timeouts += counts->timeouts;
	into->late += counts->late;
	if (!asks_over_stream(group, &group->phases[phase]))
		into->refused += counts->lost;
}

/* What the flowops of a host do with messages that may be lost. */
struct traits {
	uint64_t largest;    /* bytes that it sends */
	uint64_t timeout_ns; /* the longest limit of a receive */
	bool listens;
	bool asks; /* in messages, and so listens for answers */
	bool mixes;
};

static void add_traits(struct traits *traits, const struct nm_group *group,
		       const struct nm_phase *phase)
{
	const uint32_t moves = NM_FLOWOP_MOVES | NM_FLOWOP_ASKS;

	traits->mixes |= nm_phase_mixes(group, phase);
	for (uint32_t i = 0; i < phase->n_instrs; i++) {
		const struct nm_instr *instr = &group->instrs[phase->first + i];

		if (!instr->lossy || !(instr->op->flags & moves))
			continue;
		const bool follows = instr->op->flags & NM_FLOWOP_FOLLOWS;
		const bool asks = (instr->op->flags & NM_FLOWOP_ASKS) && !follows;

		if (!follows)
			traits->largest =
				instr->size > traits->largest ? instr->size : traits->largest;
		if (!follows && !asks)
			continue;
		traits->asks |= asks;
		traits->listens = true;
		if (instr->timeout_ns > traits->timeout_ns)
			traits->timeout_ns = instr->timeout_ns;
	}
}

static struct traits traits_of(const struct nm_losses_host *host)
{
	struct traits traits = {.listens = false};

	for (uint32_t k = 0; k < host->group->n_phases; k++) {
		const struct nm_phase *phase = &host->group->phases[k];

		if (!may_fail(host->group, phase))
			add_traits(&traits, host->group, phase);
	}
	return traits;
}

/* Hosts that are to be named. */
struct named {
	char names[256];
	uint64_t sent, largest;
};

static void name(struct named *named, const struct nm_losses_host *host)
{
	size_t used = strlen(named->names);
	uint64_t largest = traits_of(host).largest;

	(void)snprintf(named->names + used, sizeof named->names - used, "%s%s%.64s",
		       used ? ", " : "", host->name ? "slave " : "the master",
		       host->name ? host->name : "");
	named->sent += host->count.sent;
	named->largest = largest > named->largest ? largest : named->largest;
}

/* Why it may be so. */
static void print_cause(const struct nm_losses_host *hosts, size_t n_hosts, uint64_t largest,
			char *buf, size_t size)
{
	uint64_t limit_ns = 0;
	char limit[32];

	for (size_t h = 0; h < n_hosts; h++) {
		struct traits traits = traits_of(&hosts[h]);

		if (hosts[h].count.timeouts && traits.timeout_ns > limit_ns)
			limit_ns = traits.timeout_ns;
	}
	(void)nm_format_duration((double)limit_ns / 1e9, limit, sizeof limit);
	(void)snprintf(buf, size, "the path takes longer than the %s%s, or drops them%s",
		       limit_ns ? "timeout of " : "test", limit_ns ? limit : "",
		       largest > MESSAGE_CARRIED
			       ? ", as it may drop all packets so large (compare the MTU of all "
				 "hosts)"
			       : "");
}

/* The hosts that have sent something, of which nothing has come. */
static void print_senders(const struct named *named, char *buf, size_t size)
{
	if (named->sent == 1)
		(void)snprintf(buf, size,
			       "the one message that %s sent has not come in time: ", named->names);
	else
		(void)snprintf(buf, size,
			       "none of the %llu messages that %s sent has come in time: ",
			       (unsigned long long)named->sent, named->names);
}

/* The master has asked servers that are not netmodel. True: the network has told why they have not
 * answered. */
static bool print_unanswered(const struct nm_losses_host *master, char *buf, size_t size)
{
	const struct nm_losses_count *count = &master->count;
	const bool told = count->refused == count->sent;
	const char *why = told ? ": as the network says (ICMP), no server listens there, or there "
				 "is no way to it"
			       : " in time: no server is there, ";

	if (count->sent == 1)
		(void)snprintf(buf, size, "the one message that the master sent was not answered%s",
			       why);
	else
		(void)snprintf(buf, size,
			       "none of the %llu messages that the master sent was answered%s",
			       (unsigned long long)count->sent, why);
	return told;
}

/* The slaves that listen, and to which nothing has come though the master has sent something;
 * *ret_all: there are no others. */
static struct named deaf_ones(const struct nm_losses_host *hosts, size_t n_hosts, bool *ret_all)
{
	struct named deaf = {.sent = 0};

	*ret_all = true;
	for (size_t h = 1; h < n_hosts; h++) {
		bool listens = traits_of(&hosts[h]).listens;

		if (listens && !hosts[h].count.received)
			name(&deaf, &hosts[h]);
		else if (listens)
			*ret_all = false;
	}
	return deaf;
}

/* The slaves that have sent something. */
static struct named senders(const struct nm_losses_host *hosts, size_t n_hosts)
{
	struct named all = {.sent = 0};

	for (size_t h = 1; h < n_hosts; h++)
		if (hosts[h].count.sent)
			name(&all, &hosts[h]);
	return all;
}

/* Whether a message has come to the host that was worth it: one that asks has had an answer in
 * time. */
static bool has_received(const struct nm_losses_host *host)
{
	return host->count.received > (traits_of(host).asks ? host->count.late : 0);
}

bool nm_losses_text(const struct nm_losses_host *hosts, size_t n_hosts, char *buf, size_t size)
{
	struct named from = {.sent = 0};
	bool all;
	struct named deaf = deaf_ones(hosts, n_hosts, &all);

	name(&from, &hosts[0]);
	/* What a mix draws need not be for each of them. */
	bool some = !all && !traits_of(&hosts[0]).mixes;

	if (from.sent && *deaf.names && all) {
		print_senders(&from, buf, size);
	} else if (from.sent && *deaf.names && some) {
		(void)snprintf(buf, size,
			       "of the messages that the master sent none has come to %s in time: ",
			       deaf.names);
	} else {
		struct named to_master = senders(hosts, n_hosts);

		if (has_received(&hosts[0]))
			return false;
		if (to_master.sent)
			print_senders(&to_master, buf, size);
		else if (!from.sent || !traits_of(&hosts[0]).asks)
			return false;
		else if (print_unanswered(&hosts[0], buf, size))
			return true;
		from = to_master.sent ? to_master : from;
	}
	size_t used = strlen(buf);

	print_cause(hosts, n_hosts, from.largest, buf + used, size - used);
	return true;
}
