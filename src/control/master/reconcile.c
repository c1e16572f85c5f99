/* SPDX-License-Identifier: Apache-2.0 */
/* Compares passes by worker and bytes by group. */
#include "control/master/reconcile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct nm_phase *phase_of(const struct nm_reconcile *in, uint32_t g)
{
	return &in->plan->groups[g].phases[in->phases->phase];
}

static const struct nm_phase_part *part_of(const struct nm_reconcile *in, uint32_t h, uint32_t g)
{
	return &in->phases->hosts[h].parts[g];
}

/* Writes a verdict on a group with its reason. */
static void judge(const struct nm_reconcile *in, struct nm_result *result, uint32_t g,
		  enum nm_reconciled verdict, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

static void judge(const struct nm_reconcile *in, struct nm_result *result, uint32_t g,
		  enum nm_reconciled verdict, const char *fmt, ...)
{
	char what[256], text[640];
	va_list args;

	if (result->verdict.reconciled == NM_RECONCILED_NO)
		return; /* the first difference says most about the cause */
	result->verdict.reconciled = verdict;
	free(result->verdict.reconcile_text);
	va_start(args, fmt);
	(void)vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	(void)snprintf(text, sizeof text, "group %s, transaction at %s:%u: %s",
		       in->plan->groups[g].name, in->file, phase_of(in, g)->line, what);
	result->verdict.reconcile_text = strdup(text);
}

/* Every slave follows, or leads, pass by pass: so a worker has made as many passes on each host. */
static void compare_passes(const struct nm_reconcile *in, struct nm_result *result, uint32_t h,
			   uint32_t g)
{
	const struct nm_phase_run *run = &in->phases->groups[g];

	for (uint32_t w = 0; w < run->n_workers; w++) {
		uint64_t here = run->passes[w], there = part_of(in, h, g)->totals[w];

		if (here != there) {
			judge(in, result, g, NM_RECONCILED_NO,
			      "worker %u has done %llu iterations on the master and %llu on %s", w,
			      (unsigned long long)here, (unsigned long long)there,
			      in->plan->hosts[h]);
			return;
		}
	}
}

static void compare_bytes(const struct nm_reconcile *in, struct nm_result *result, uint32_t g,
			  const struct nm_counts *slaves)
{
	const struct nm_counts *here = &in->here[g];

	if (here->bytes_received != slaves->bytes_sent)
		judge(in, result, g, NM_RECONCILED_NO,
		      "the master has received %llu bytes and its slaves have sent %llu",
		      (unsigned long long)here->bytes_received,
		      (unsigned long long)slaves->bytes_sent);
	if (here->bytes_sent != slaves->bytes_received)
		judge(in, result, g, NM_RECONCILED_NO,
		      "the master has sent %llu bytes and its slaves have received %llu",
		      (unsigned long long)here->bytes_sent,
		      (unsigned long long)slaves->bytes_received);
}

static void compare_answers(const struct nm_reconcile *in, struct nm_result *result, uint32_t g,
			    const struct nm_counts *slaves)
{
	const struct nm_counts *here = &in->here[g];

	if (here->hits == slaves->hits && here->misses == slaves->misses &&
	    (here->refused == slaves->refused || phase_of(in, g)->counts.expects))
		return;
	judge(in, result, g, NM_RECONCILED_NO,
	      "the master has seen %llu hits, %llu misses and %llu refusals, and its slaves %llu, "
	      "%llu and %llu",
	      (unsigned long long)here->hits, (unsigned long long)here->misses,
	      (unsigned long long)here->refused, (unsigned long long)slaves->hits,
	      (unsigned long long)slaves->misses, (unsigned long long)slaves->refused);
}

/* Whether flowops of the group have failed, at either end, that the profile allows to fail. From
 * then on the counts of the ends may differ. */
static bool is_forgiven(const struct nm_reconcile *in, struct nm_result *result, uint32_t g,
			const struct nm_counts *slaves)
{
	uint64_t failed = in->here[g].errors + slaves->errors;

	if (phase_of(in, g)->counts.can_fail && failed) {
		result->groups[g].forgiven = true;
		if (!result->verdict.reconcile_text)
			judge(in, result, g, NM_RECONCILED_FORGIVEN,
			      "flowops that may fail have failed, %llu times",
			      (unsigned long long)failed);
	}
	return result->groups[g].forgiven;
}

static void reconcile_group(const struct nm_reconcile *in, struct nm_result *result, uint32_t g)
{
	struct nm_counts slaves = {.iterations = 0};
	bool any = false;

	for (uint32_t h = 0; h < in->phases->n_hosts; h++) {
		const struct nm_phase_part *part = part_of(in, h, g);

		if (!part->runs || part->empty)
			continue;
		any = true;
		nm_counts_add(&slaves, &part->counts);
	}
	if (is_forgiven(in, result, g, &slaves) || !any)
		return;
	for (uint32_t h = 0; h < in->phases->n_hosts; h++) {
		const struct nm_phase_part *part = part_of(in, h, g);

		if (part->runs && !part->empty && !part->free)
			compare_passes(in, result, h, g);
	}
	if (result->verdict.reconciled == NM_RECONCILED_UNKNOWN)
		result->verdict.reconciled = NM_RECONCILED_YES;
	if (phase_of(in, g)->counts.unmatched)
		return;
	compare_bytes(in, result, g, &slaves);
	compare_answers(in, result, g, &slaves);
}

void nm_reconcile_phase(const struct nm_reconcile *in, struct nm_result *result)
{
	bool differed = result->verdict.reconciled == NM_RECONCILED_NO;

	for (uint32_t g = 0; g < in->plan->n_groups; g++) {
		if (in->phases->groups[g].runs && phase_of(in, g)->counts.reliable)
			reconcile_group(in, result, g);
	}
	/* A host that sends freely may have sent more than the passes that were made until the
	 * cut. */
	if (in->interrupted && result->verdict.reconciled == NM_RECONCILED_NO && !differed) {
		result->verdict.reconciled = NM_RECONCILED_UNKNOWN;
		free(result->verdict.reconcile_text);
		result->verdict.reconcile_text = NULL;
	}
}
