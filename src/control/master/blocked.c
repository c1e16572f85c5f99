/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the places at which flows connect. */
#include "control/master/blocked.h"

#include <stdio.h>
#include <stdlib.h>

#include "flowop/flowop.h"
#include "plan/shape.h"
#include "transport/transport.h"

#define PORTS_MOST  (NM_PLACES_MAX * NM_PLACE_PORTS)
#define RANGES_TOLD 8

/* All flows that wait, and the ports that they wait for. */
struct sum {
	const struct nm_instr *instr; /* the first connect */
	const struct nm_group *group; /* its group */
	bool other_groups;
	uint64_t flows;
	uint32_t ports[PORTS_MOST];
	size_t n_ports;
	bool more_ports;
};

/* The connect at which the flows of a place wait for that host; NULL: they wait for something
 * else. */
static const struct nm_instr *connect_at(const struct nm_blocked *blocked,
					 const struct nm_flow_place *place)
{
	const struct nm_group *group = &blocked->plan->groups[place->group];
	const struct nm_instr *instr =
		place->site < group->n_instrs ? &group->instrs[place->site] : NULL;

	if (place->wait != NM_FLOW_WAIT_CONNECTION || !instr || !nm_instr_opens(instr) ||
	    nm_instr_accepts(instr) || instr->host != blocked->host ||
	    instr->timeout_ns > blocked->limit_ns)
		return NULL;
	return instr;
}

bool nm_blocked_any(const struct nm_blocked *blocked)
{
	for (size_t i = 0; i < blocked->places->count; i++) {
		if (connect_at(blocked, &blocked->places->list[i]))
			return true;
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

/* Sorts the ports; each is there once then. */
static void sort_ports(struct sum *sum)
{
	size_t count = 0;

	qsort(sum->ports, sum->n_ports, sizeof *sum->ports, by_number);
	for (size_t i = 0; i < sum->n_ports; i++) {
		if (count == 0 || sum->ports[count - 1] != sum->ports[i])
			sum->ports[count++] = sum->ports[i];
	}
	sum->n_ports = count;
}

static void add_up(const struct nm_blocked *blocked, struct sum *ret)
{
	*ret = (struct sum){.flows = 0};
	for (size_t i = 0; i < blocked->places->count; i++) {
		const struct nm_flow_place *place = &blocked->places->list[i];
		const struct nm_instr *instr = connect_at(blocked, place);
		const struct nm_group *group = &blocked->plan->groups[place->group];

		if (!instr)
			continue;
		if (!ret->instr) {
			ret->instr = instr;
			ret->group = group;
		}
		ret->other_groups |= group != ret->group;
		ret->flows += place->flows;
		ret->more_ports |= place->more_ports;
		for (size_t k = 0; k < place->n_ports; k++)
			ret->ports[ret->n_ports++] = place->ports[k].port;
	}
	sort_ports(ret);
}

/* "41000-41003, 41007 and others". */
static void print_ports(const struct sum *sum, char *buf, size_t size)
{
	size_t used = 0, told = 0, i = 0;

	buf[0] = '\0';
	while (i < sum->n_ports && told < RANGES_TOLD) {
		size_t last = i;

		while (last + 1 < sum->n_ports && sum->ports[last + 1] == sum->ports[last] + 1)
			last++;
		used += (size_t)snprintf(buf + used, size - used, "%s%u", told++ ? ", " : "",
					 sum->ports[i]);
		if (sum->ports[last] > sum->ports[i])
			used += (size_t)snprintf(buf + used, size - used, "-%u", sum->ports[last]);
		i = last + 1;
	}
	if (i < sum->n_ports || sum->more_ports)
		used += (size_t)snprintf(buf + used, size - used, " and others");
	if (nm_has_data_host(sum->instr->opts))
		(void)snprintf(buf + used, size - used, " at %s",
			       nm_data_host(sum->instr->opts, ""));
}

/* Where the flows wait, and for how long already. */
static void print_wait(const struct nm_blocked *blocked, const struct sum *sum, char *buf,
		       size_t size)
{
	(void)snprintf(buf, size,
		       "within %.3g s: %llu flow%s of group %.64s%s wait%s in %s at %.128s:%u",
		       (double)blocked->limit_ns / 1e9, (unsigned long long)sum->flows,
		       sum->flows == 1 ? "" : "s", sum->group->name,
		       sum->other_groups ? " and others" : "", sum->flows == 1 ? "s" : "",
		       sum->instr->op->name, blocked->file, sum->instr->line);
}

/* What can be done about it. */
static void print_advice(const struct nm_blocked *blocked, const struct sum *sum, char *buf,
			 size_t size)
{
	const struct nm_opts_open *opts = sum->instr->opts;
	bool several = sum->n_ports > 1 || sum->more_ports;
	uint32_t row = nm_transport_ports(sum->instr->transport, sum->instr->open.transport_opts);
	char of_row[48] = "";

	if (row > 1)
		(void)snprintf(of_row, sizeof of_row, " (the first of %u in a row)", row);
	(void)snprintf(buf, size, "; a firewall? Let %s through, or choose %s with %s%s",
		       several ? "them" : "it", opts->port ? "another port" : "a port that is open",
		       blocked->fix_port ? blocked->fix_port : "the option port=N there", of_row);
}

char *nm_blocked_text(const struct nm_blocked *blocked, char *buf, size_t size)
{
	char ports[256], wait[384], advice[192];
	struct sum sum;

	add_up(blocked, &sum);
	if (!sum.instr) {
		buf[0] = '\0';
		return buf;
	}
	const char *s = sum.n_ports > 1 || sum.more_ports ? "s" : "";

	print_ports(&sum, ports, sizeof ports);
	print_wait(blocked, &sum, wait, sizeof wait);
	print_advice(blocked, &sum, advice, sizeof advice);
	if (!sum.n_ports)
		(void)snprintf(buf, size,
			       "the control connection to %s works, but no connection of the "
			       "traffic was answered %s",
			       blocked->slave, wait);
	else if (blocked->master)
		(void)snprintf(
			buf, size,
			"the control connection to %s works, but this host, %s, did not answer it "
			"at data port%s %s %s%s",
			blocked->slave, blocked->master, s, ports, wait, advice);
	else
		(void)snprintf(buf, size,
			       "the control connection to %s works, but its data port%s %s did not "
			       "answer %s%s",
			       blocked->slave, s, ports, wait, advice);
	return buf;
}
