/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the form key=value that the reports kv and neper share. */
#ifndef NM_REPORT_KEYS_H
#define NM_REPORT_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "result/result.h"

/* Bulk transfer: all the data goes one way. Its throughput is bits, not transactions. */
bool nm_is_stream(const struct nm_counts *counts);
/* A parameter under its name, as neper has its options; one that has the name of another line gets a prefix. */
void nm_keys_param(FILE *out, const char *name, const char *value);
/* PREFIX_min and so on, in seconds; nothing when nothing was measured. */
void nm_keys_latency(FILE *out, const char *prefix, const struct nm_latency *latency,
		     const struct nm_percentiles *percentiles);
/* Seconds with all nanoseconds: a double would round them. */
void nm_keys_time(FILE *out, const char *key, uint64_t ns);

#endif
