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

/* Whether more came to any host when its window had closed. */
static bool is_late(const struct nm_result *result)
{
	bool late = false;

	for (size_t i = 0; i < result->n_hosts; i++)
		late |= result->hosts[i].window.late_ns > 0;
	return late;
}

double nm_result_host_rate(const struct nm_result *result, const struct nm_result_host *host,
			   const struct nm_counts *counts)
{
	const struct nm_host_window *window = &host->window;
	double seconds = host->report->elapsed_s, share = 1;

	if (is_late(result)) {
		seconds = (double)window->ns / 1e9;
		share = bytes_of(&window->counts) / fmax(bytes_of(&host->counts), 1);
	}
	return seconds > 0 ? share * bytes_of(counts) / seconds : 0;
}

double nm_result_slaves_rate(const struct nm_result *result)
{
	double rate = 0;

	for (size_t i = 1; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];

		if (host->report)
			rate += nm_result_host_rate(result, host, &host->counts);
	}
	return rate;
}

bool nm_result_difference(const struct nm_result *result, struct nm_difference *ret_difference)
{
	double time_s = 0, bytes = 0, operations = 0, errors = 0;

	for (size_t i = 0; i < result->n_hosts; i++) {
		const struct nm_result_host *host = &result->hosts[i];

		if (!host->report)
			return false;
		if (i == 0)
			continue;
		time_s = fmax(time_s, host->report->elapsed_s);
		bytes += bytes_of(&host->counts);
		operations += (double)host->report->operations;
		errors += (double)host->counts.errors;
	}
	if (result->n_hosts < 2)
		return false;
	const struct nm_result_host *master = &result->hosts[0];
	double rate = nm_result_host_rate(result, master, &master->counts);

	*ret_difference = (struct nm_difference){
		.time = percent(master->report->elapsed_s, time_s),
		.data = percent(bytes_of(&master->counts), bytes),
		.throughput = percent(rate, nm_result_slaves_rate(result)),
		.operations = percent((double)master->report->operations, operations),
		.errors = percent((double)master->counts.errors, errors),
	};
	return true;
}
