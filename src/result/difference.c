/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts have moved in their own time, and how far the slaves are from the master in that. */
#include "result/difference.h"

#include <math.h>

/* Two figures of 0 do not differ. */
static double percent(double here, double there)
{
	if (here > 0)
		return 100 - 100 * there / here;
	return there > 0 ? NAN : 0;
}

static double bytes_of(const struct nm_counts *counts)
{
	return (double)counts->bytes_sent + (double)counts->bytes_received;
}

double nm_result_host_rate(const struct nm_result_host *host, const struct nm_counts *counts,
			   bool is_late)
{
	const struct nm_host_window *window = &host->window;
	double seconds = host->report->elapsed_s, share = 1;

	if (is_late && window->ns > 0) {
		seconds = (double)window->ns / 1e9;
		share = bytes_of(&window->counts) / fmax(bytes_of(&host->counts), 1);
	}
	return seconds > 0 ? share * bytes_of(counts) / seconds : 0;
}

bool nm_result_difference(const struct nm_result *result, struct nm_difference *ret_difference)
{
	double time_s = 0, bytes = 0, rate = 0, operations = 0, errors = 0;
	bool is_late = nm_result_is_late(result);

	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];

		if (!host->report)
			return false;
		if (i == 0)
			continue;
		time_s = fmax(time_s, host->report->elapsed_s);
		bytes += bytes_of(&host->counts);
		rate += nm_result_host_rate(host, &host->counts, is_late);
		operations += (double)host->report->operations;
		errors += (double)host->counts.errors;
	}
	if (result->n_hosts < 2)
		return false;
	const struct nm_result_host *master = &result->hosts[0];

	*ret_difference = (struct nm_difference){
		.time = percent(master->report->elapsed_s, time_s),
		.data = percent(bytes_of(&master->counts), bytes),
		.throughput = percent(nm_result_host_rate(master, &master->counts, is_late), rate),
		.operations = percent((double)master->report->operations, operations),
		.errors = percent((double)master->counts.errors, errors),
	};
	return true;
}
