/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of histograms, in the form that HdrHistogram's tools read: format version 1.3 of
 * HistogramLogWriter, histograms encoded as its V2, compressed by zlib, in base64. With two
 * significant digits its buckets are exactly ours, so that nothing is lost. Values are nanoseconds;
 * the column of maxima is in milliseconds, as its writers have it. */
#ifndef NM_REPORT_HDR_H
#define NM_REPORT_HDR_H

#include <stdint.h>
#include <stdio.h>

#include "stats/hist.h"

/* A histogram as an owned text; NULL when out of memory. A time longer than a day counts as a
 * day. */
char *nm_hdr_encode(const struct nm_hist_snap *hist);
/* The lines before the first histogram; wall_ns: the time that the log's times count from. */
void nm_hdr_head(FILE *out, uint64_t wall_ns);
/* One line with a histogram; tag "": none. Begins at `at_s` after the time of the head. 0 or
 * -ENOMEM. */
int nm_hdr_line(FILE *out, const char *tag, double at_s, double seconds,
		const struct nm_hist_snap *hist);

#endif
