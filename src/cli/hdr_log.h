/* SPDX-License-Identifier: Apache-2.0 */
/* The log of histograms: one line for every row of the time grid, and one for the whole. */
#ifndef NM_CLI_HDR_LOG_H
#define NM_CLI_HDR_LOG_H

#include "cli/log_file.h"
#include "control/options.h"

struct nm_hdr_log {
	struct nm_log_file file;
	uint64_t begin_ns; /* wall clock, of the head; 0: it is not written yet */
};

void nm_hdr_log_add(struct nm_hdr_log *log, const struct nm_interval_times *times);

#endif
