/* SPDX-License-Identifier: Apache-2.0 */
/* Fills statistics from histograms. */
#include "result/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "stats/hist.h"

void nm_latency_from_hist(struct nm_latency *ret_latency, const struct nm_hist_snap *hist,
			  const struct nm_percentiles *percentiles)
{
	*ret_latency = (struct nm_latency){.count = hist->count};
	if (hist->count == 0)
		return;
	ret_latency->min_s = (double)hist->min_ns / 1e9;
	ret_latency->max_s = (double)hist->max_ns / 1e9;
	ret_latency->mean_s = nm_hist_mean_s(hist);
	ret_latency->stddev_s = nm_hist_stddev_s(hist);
	for (size_t i = 0; i < percentiles->count; i++)
		ret_latency->pct_s[i] = nm_hist_percentile_s(hist, percentiles->pct[i]);
}

struct nm_failing *nm_failing_from_hist(const struct nm_hist_snap *hist, uint64_t failures,
					const struct nm_percentiles *percentiles)
{
	const double answered = (double)hist->count, all = answered + (double)failures;
	struct nm_failing *failing =
		malloc(sizeof(*failing) + percentiles->count * sizeof(failing->pct_s[0]));

	if (!failing)
		return NULL;
	failing->failures = failures;
	failing->count = percentiles->count;
	for (size_t i = 0; i < percentiles->count; i++) {
		double rank = percentiles->pct[i] / 100 * all;

		/* A product of decimals may be off in its last digits. */
		failing->pct_s[i] =
			rank > answered + 1e-9 * all || !hist->count
				? INFINITY
				: nm_hist_percentile_s(hist, fmin(100 * rank / answered, 100));
	}
	return failing;
}
