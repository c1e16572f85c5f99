/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a report: --format markdown writes a table with a row for each run, as it can stand
 * in a document. */
#include "report/report.h"

#include "base/units.h"
#include "report/common.h"

static void print_row(const struct nm_result *run, size_t number, FILE *out)
{
	const struct nm_window *totals = &run->totals;
	char rate[32], bits[32], mean[32];

	nm_format_count(nm_window_transactions_per_s(totals), rate, sizeof rate);
	nm_format_bitrate(nm_window_bits_per_s(totals), bits, sizeof bits);
	nm_format_duration(totals->latency.mean_s, mean, sizeof mean);
	fprintf(out, "| %zu | %s | %s | %s | %s |\n", number, rate, bits, mean,
		run->complete ? "yes" : "no");
}

static int write_markdown(const struct nm_runs *series, FILE *out)
{
	fputs("| run | transactions/s | throughput | mean latency | complete |\n"
	      "|---|---|---|---|---|\n",
	      out);
	for (size_t r = 0; r < series->n_runs; r++)
		print_row(series->runs[r], r + 1, out);
	return nm_stream_status(out);
}

const struct nm_report nm_report_markdown = {
	.name = "markdown",
	.help = "a table with a row for each run",
	.lacks_warnings = true,
	.write = write_markdown,
};
