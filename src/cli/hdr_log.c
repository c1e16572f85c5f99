/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hdr_log.h"

#include "lib/samples.h"

void nm_hdr_log_add(struct nm_hdr_log *log, const struct nm_interval_times *times)
{
	FILE *stream = log->file.stream;

	if (!stream || log->file.error)
		return;
	int error = nm_samples_hdr(stream, &log->begin_ns, times);

	if (error)
		log->file.error = -error;
	nm_log_file_check(&log->file);
}
