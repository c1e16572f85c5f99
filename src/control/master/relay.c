/* SPDX-License-Identifier: Apache-2.0 */
/* Passes samples of single flows on from slaves and samplers, and keeps none. */
#include "control/master/relay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"

#define MAX_ROWS 1000000u /* kept of one slave */

static void tell_flows(struct nm_master *master, struct nm_flow_rows *rows, const char *host,
		       const struct nm_plan *plan)
{
	const struct nm_run_events *events = &master->options->events;

	rows->host = host;
	rows->plan = plan;
	if (events->flows && master->options->samples_flows)
		events->flows(events->arg, rows);
}

static void tell_tcp(struct nm_master *master, struct nm_tcp_rows *rows, const char *host,
		     const struct nm_plan *plan)
{
	const struct nm_run_events *events = &master->options->events;

	rows->host = host;
	rows->plan = plan;
	if (events->tcp && master->options->samples_tcp)
		events->tcp(events->arg, rows);
}

void nm_master_own_flows(void *arg, const struct nm_flow_rows *rows)
{
	struct nm_master *master = arg;
	struct nm_flow_rows own = *rows;

	tell_flows(master, &own, master->result->hosts[0].name, master->plan);
}

void nm_master_own_tcp(void *arg, const struct nm_tcp_rows *rows)
{
	struct nm_master *master = arg;
	struct nm_tcp_rows own = *rows;

	tell_tcp(master, &own, master->result->hosts[0].name, master->plan);
}

/* A time of the slave's clock by ours. */
static uint64_t own_time(const struct nm_link *link, uint64_t at_ns)
{
	return at_ns - (uint64_t)link->clock.offset_ns;
}

/* A row without memory is left out, which the master says at the end; everything else goes on. */
static int verdict(struct nm_master *master, int error)
{
	if (error == -ENOMEM)
		master->memory_failed = true;
	return error == -EPROTO ? error : 0;
}

int nm_link_flows(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_flow_rows rows;
	struct nm_flow_row *owned;
	int error = nm_flows_unpack(body, link->mirror, &rows, &owned);

	if (!error) {
		rows.at_ns = own_time(link, rows.at_ns);
		link->wrong = nm_claims_flows(&link->claims, &rows, nm_clock_ns());
		error = link->wrong ? -EPROTO : 0;
	}
	if (!error)
		tell_flows(master, &rows, link->result->name, link->mirror);
	free(owned);
	return verdict(master, error);
}

int nm_link_tcp(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_tcp_rows rows;
	struct nm_tcp_sample *owned;
	int error = nm_tcp_unpack(body, link->mirror, &rows, &owned);

	for (size_t i = 0; !error && i < rows.count; i++)
		owned[i].at_ns = own_time(link, owned[i].at_ns);
	if (!error) {
		link->wrong = nm_claims_tcp(&link->claims, &rows, nm_clock_ns());
		error = link->wrong ? -EPROTO : 0;
	}
	if (!error)
		tell_tcp(master, &rows, link->result->name, link->mirror);
	free(owned);
	return verdict(master, error);
}

/* Keeps the row, and tells it. 0 or -ENOMEM. */
static int append_row(const struct nm_master *master, struct nm_result_host *host,
		      const struct nm_host_interval *row)
{
	const struct nm_run_events *events = &master->options->events;
	size_t n = host->n_intervals;

	/* There is room for the next power of two. */
	if ((n & (n - 1)) == 0) {
		struct nm_host_interval *grown =
			realloc(host->intervals, (n ? 2 * n : 1) * sizeof *grown);

		if (!grown)
			return -ENOMEM;
		host->intervals = grown;
	}
	host->intervals[host->n_intervals++] = *row;
	if (events->host_interval)
		events->host_interval(events->arg, host->name, row);
	return 0;
}

void nm_master_own_row(void *arg, const struct nm_host_interval *row)
{
	struct nm_master *master = arg;

	if (append_row(master, &master->result->hosts[0], row))
		master->memory_failed = true;
}

int nm_link_interval(struct nm_master *master, struct nm_link *link, json_t *body)
{
	struct nm_host_interval row;

	if (nm_interval_unpack(body, master->plan->n_phases, &row))
		return -EPROTO;
	link->wrong = nm_claims_row(&link->claims, &row, nm_clock_ns());
	if (link->wrong)
		return -EPROTO;
	if (link->result->n_intervals < MAX_ROWS && append_row(master, link->result, &row))
		master->memory_failed = true;
	return 0;
}
