/* SPDX-License-Identifier: Apache-2.0 */
/* The log and the failures of the master, which all of its parts report. */
#include "control/master/master.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "host/clock.h"

void nm_master_log(const struct nm_master *master, const char *fmt, ...)
{
	char line[512];
	va_list args;

	if (!master->options->events.log)
		return;
	va_start(args, fmt);
	(void)vsnprintf(line, sizeof line, fmt, args);
	va_end(args);
	nm_make_plain(line); /* peers have a part in it */
	master->options->events.log(master->options->events.arg, line);
}

void nm_master_fail(struct nm_master *master, struct nm_link *link, enum nm_failure_rank rank,
		    const char *fmt, ...)
{
	struct nm_result_host *host = link ? link->result : &master->result->hosts[0];
	char text[NM_WIRE_MAX_TEXT - 300];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	/* The end of a connection says no more than the slave's own reason before it. */
	if (rank == NM_FAILURE_LOSS && host->error)
		rank = NM_FAILURE_EFFECT;
	bool is_first = !host->error;

	if (is_first)
		host->error = strdup(text);
	host->complete = false;
	nm_master_log(master, "%s%s: %s", link ? "slave " : "", host->name, text);
	if (!nm_outcome_fail(&master->outcome, rank, host->name, link, text, nm_clock_ns()))
		return;
	for (size_t h = 0; h < master->result->n_hosts; h++)
		master->result->hosts[h].error_ended_run = false;
	host->error_ended_run = is_first;
}
