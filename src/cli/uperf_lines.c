/* SPDX-License-Identifier: Apache-2.0 */
/* Progress for programs, in the words of uperf: programs that parse its output look for these
 * lines. */
#include "cli/uperf_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

static void print_start(const struct nm_plan *plan, FILE *out)
{
	char *name = strdup(plan->name);

	if (name)
		nm_make_plain(name);
	fprintf(out, "Starting %" PRIu64 " threads running profile:%s ...   0.00 seconds\n",
		nm_plan_flows(plan), name ? name : "");
	free(name);
}

void nm_uperf_lines_progress(const struct nm_plan *plan, const struct nm_progress *progress,
			     FILE *out)
{
	static const char rule[] = "----------------------------------------"
				   "---------------------------------------";
	uint64_t tenths_us = progress->wall_ns / 100;
	char name[32] = "Total";

	if (progress->event == NM_PROGRESS_START) {
		print_start(plan, out);
		return;
	}
	if (progress->event == NM_PROGRESS_FINISH)
		fprintf(out, "%s\n", rule);
	else
		snprintf(name, sizeof(name), "Txn%" PRIu32, progress->phase + 1);
	fprintf(out,
		"timestamp_ms:%" PRIu64 ".%04" PRIu64 " name:%s nr_bytes:%" PRIu64
		" nr_ops:%" PRIu64 "\n",
		tenths_us / 10000, tenths_us % 10000, name, progress->bytes, progress->operations);
	if (progress->event == NM_PROGRESS_END || progress->event == NM_PROGRESS_FINISH)
		putc('\n', out);
}
