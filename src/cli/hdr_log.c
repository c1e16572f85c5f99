/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/hdr_log.h"

#include "report/hdr.h"

/* What is not measured, and the total, which would be counted twice, can be told from the rest by their tags. */
static const char *tag_of(const struct nm_interval_times *times)
{
	if (times->total)
		return "total";
	switch (times->part) {
	case NM_PART_WARMUP:
		return "warmup";
	case NM_PART_COOLDOWN:
		return "cooldown";
	case NM_PART_MEASURED:
		break;
	}
	return NULL;
}

void nm_hdr_log_add(struct nm_hdr_log *log, const struct nm_interval_times *times)
{
	FILE *stream = log->file.stream;

	if (!stream || log->file.error)
		return;
	if (!log->begin_ns) {
		log->begin_ns = times->wall_ns;
		nm_hdr_head(stream, log->begin_ns);
	}
	int error = nm_hdr_line(stream, tag_of(times),
				(double)(int64_t)(times->wall_ns - log->begin_ns) / 1e9,
				times->seconds, times->hist);

	if (error)
		log->file.error = -error;
	nm_log_file_check(&log->file);
}
