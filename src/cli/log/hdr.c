/* SPDX-License-Identifier: Apache-2.0 */
/* The log of histograms (--hdr-log): a line for every row of the time grid, and one for the
 * whole. */
#include "cli/log/log.h"
#include "lib/samples.h"

static void times(struct nm_log_file *file, const struct nm_interval_times *row)
{
	int error = nm_samples_hdr(file->stream, &file->begin_ns, row);

	if (error)
		file->error = -error;
}

const struct nm_log nm_log_hdr = {
	.arg = {.opt = {.name = "hdr-log",
			.type = NM_TYPE_STRING,
			.help = "write the histogram of each interval and of the whole, for the "
				"tools of HdrHistogram"},
		.argument = "FILE",
		.heading = "Statistics",
		.modes = NM_MODE_RUN},
	.times = times,
};
