/* SPDX-License-Identifier: Apache-2.0 */
/* Whether both ends have counted the same. On reliable transports every pass and every byte must be
 * found at both. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/master/master.h"

static void differ(struct nm_master *master, uint32_t g, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void differ(struct nm_master *master, uint32_t g, const char *fmt, ...)
{
	const struct nm_group *group = &master->plan->groups[g];
	char what[256], text[640];
	va_list args;

	if (master->result->reconciled == NM_RECONCILED_NO)
		return; /* the first difference says most */
	master->result->reconciled = NM_RECONCILED_NO;
	free(master->result->reconcile_text);
	va_start(args, fmt);
	(void)vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	(void)snprintf(text, sizeof text, "group %s, transaction at %s:%u: %s", group->name,
		       master->file, group->phases[master->phase].line, what);
	master->result->reconcile_text = strdup(text);
}

/* Every slave follows, or leads, pass by pass: so the passes of a worker are the same
 * everywhere. */
static void compare_passes(struct nm_master *master, const struct nm_link *link, uint32_t g)
{
	for (uint32_t w = 0; w < master->plan->groups[g].n_workers; w++) {
		uint64_t here = nm_engine_iterations(master->local.engine, g, w);
		uint64_t there = link->groups[g].totals[w];

		if (here != there) {
			differ(master, g,
			       "worker %u has done %llu iterations on the master and %llu on %s", w,
			       (unsigned long long)here, (unsigned long long)there, link->name);
			return;
		}
	}
}

static void compare_bytes(struct nm_master *master, uint32_t g, const struct nm_counts *slaves)
{
	struct nm_counts here;

	nm_engine_counts(master->local.engine, g, master->phase, &here);
	if (here.bytes_received != slaves->bytes_sent)
		differ(master, g,
		       "the master has received %llu bytes and its slaves have sent %llu",
		       (unsigned long long)here.bytes_received,
		       (unsigned long long)slaves->bytes_sent);
	if (here.bytes_sent != slaves->bytes_received)
		differ(master, g,
		       "the master has sent %llu bytes and its slaves have received %llu",
		       (unsigned long long)here.bytes_sent,
		       (unsigned long long)slaves->bytes_received);
}

/* Failures that the profile allows, at either end. From then on what the ends have counted need not
 * be the same. */
static bool is_forgiven(struct nm_master *master, uint32_t g, const struct nm_counts *slaves)
{
	struct nm_counts here;
	struct nm_result *result = master->result;
	const struct nm_phase *phase = &master->plan->groups[g].phases[master->phase];
	char text[512];

	nm_engine_counts(master->local.engine, g, master->phase, &here);
	uint64_t failed = here.errors + slaves->errors;

	if (phase->can_fail && failed) {
		result->groups[g].forgiven = true;
		if (result->reconciled != NM_RECONCILED_NO && !result->reconcile_text) {
			(void)snprintf(text, sizeof text,
				       "group %s, transaction at %s:%u: flowops that may fail "
				       "have failed, %llu times",
				       master->plan->groups[g].name, master->file, phase->line,
				       (unsigned long long)failed);
			result->reconcile_text = strdup(text);
			result->reconciled = NM_RECONCILED_FORGIVEN;
		}
	}
	return result->groups[g].forgiven;
}

static void reconcile_group(struct nm_master *master, uint32_t g)
{
	struct nm_counts slaves = {.iterations = 0};
	bool any = false;

	for (size_t i = 0; i < master->n_links; i++)
		if (master->links[i].groups[g].runs && !master->links[i].groups[g].empty)
			nm_counts_add(&slaves, &master->links[i].groups[g].counts);
	if (is_forgiven(master, g, &slaves))
		return;
	for (size_t i = 0; i < master->n_links; i++) {
		const struct nm_link *link = &master->links[i];

		if (!link->groups[g].runs || link->groups[g].empty)
			continue;
		any = true;
		if (!link->mirror->groups[g].phases[master->phase].open_sender)
			compare_passes(master, link, g);
	}
	if (!any)
		return;
	if (master->result->reconciled == NM_RECONCILED_UNKNOWN)
		master->result->reconciled = NM_RECONCILED_YES;
	if (!master->plan->groups[g].phases[master->phase].unmatched)
		compare_bytes(master, g, &slaves);
}

void nm_master_reconcile(struct nm_master *master)
{
	struct nm_result *result = master->result;
	bool differed = result->reconciled == NM_RECONCILED_NO;

	for (uint32_t g = 0; g < master->plan->n_groups; g++) {
		if (master->groups[g].runs &&
		    master->plan->groups[g].phases[master->phase].reliable)
			reconcile_group(master, g);
	}
	/* A host that sends freely may have sent more than the passes that were made until the
	 * cut. */
	if (master->interrupts && result->reconciled == NM_RECONCILED_NO && !differed) {
		result->reconciled = NM_RECONCILED_UNKNOWN;
		free(result->reconcile_text);
		result->reconcile_text = NULL;
	}
}
