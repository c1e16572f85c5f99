/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a stream: JSON objects, one a line, about a run while it goes on. Their members are
 * those of the result document (docs/metrics.md). */
#ifndef NM_REPORT_STREAM_H
#define NM_REPORT_STREAM_H

#include <stdio.h>

#include "result/result.h"

/* Each writes one line, and gives 0, or -ENOMEM with nothing written, or -errno of the stream. */

/* A run begins: its id, its profile, its grid. */
int nm_stream_begin(const struct nm_result *result, FILE *out);
/* A row of the time grid is over: one of result->intervals. */
int nm_stream_interval(const struct nm_result *result, const struct nm_result_interval *row,
		       FILE *out);
/* A row of a host's own grid is over. */
int nm_stream_host_interval(const struct nm_result *result, const char *host,
			    const struct nm_host_interval *row, FILE *out);
/* The run has ended, as the result says. */
int nm_stream_end(const struct nm_result *result, FILE *out);

#endif
