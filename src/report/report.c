/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <string.h>

#include "base/units.h"

const struct nm_report *nm_report_find(const char *name)
{
	for (const struct nm_report *const *r = nm_reports; *r; r++)
		if (strcmp((*r)->name, name) == 0)
			return *r;
	return NULL;
}

void nm_report_live_line(const struct nm_result_interval *row, char *buf, size_t size)
{
	static const char *const parts[] = {"  warm-up", "", "  cool-down"};
	const struct nm_window *window = &row->window;
	double seconds = window->seconds > 0 ? window->seconds : 1;
	char rate[32], sent[32], received[32], mean[32], max[32], latency[96] = "";

	nm_format_count((double)window->counts.iterations / seconds, rate, sizeof(rate));
	nm_format_bitrate((double)window->counts.bytes_sent * 8 / seconds, sent, sizeof(sent));
	nm_format_bitrate((double)window->counts.bytes_received * 8 / seconds, received,
			  sizeof(received));
	if (window->latency.count) {
		nm_format_duration(window->latency.mean_s, mean, sizeof(mean));
		nm_format_duration(window->latency.max_s, max, sizeof(max));
		snprintf(latency, sizeof(latency), "  mean %s  max %s", mean, max);
	}
	snprintf(buf, size, "%6.1f s%s  %s trans/s  out %s  in %s%s", row->to_s, parts[row->part],
		 rate, sent, received, latency);
}
