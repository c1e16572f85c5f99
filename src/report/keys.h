/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the form key=value that the reports kv and neper share. */
#ifndef NM_REPORT_KEYS_H
#define NM_REPORT_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/end_totals.h"
#include "report/view.h"
#include "result/runs.h"

/* A parameter under its name, as neper has its options; one that has the name of another line gets
 * a prefix. */
void nm_keys_param(FILE *out, const char *name, const char *value);
/* PREFIX_min and so on, in seconds; nothing when nothing was measured. */
void nm_keys_latency(FILE *out, const char *prefix, const struct nm_latency *latency,
		     const struct nm_percentiles *percentiles);
/* So much time in such units. */
void nm_keys_duration(uint64_t ns, uint64_t unit_ns, char *text, size_t size);
/* The value of a parameter as neper has it: 0 or 1, bytes, bytes a second, and times in such units.
 * False: it is text. */
bool nm_keys_number(const struct nm_param *param, uint64_t unit_ns, char *text, size_t size);
/* "50,99.9,"; NM_KEYS_PERCENTILES are enough. */
#define NM_KEYS_PERCENTILES 4096
void nm_keys_percentiles(const struct nm_percentiles *list, char *text, size_t size);
/* The options of a run that are no parameters: interval, percentiles. */
void nm_keys_run_options(FILE *out, const struct nm_result *result);
/* An option of neper's; the number of a run is the begin of its run_id, and 0 before it has one. */
void nm_keys_neper_option(FILE *out, const struct nm_tool_option *option,
			  const struct nm_result *result);
/* The options of neper's that are neither parameters nor options of nm_keys_run_options. */
void nm_keys_other_neper_options(FILE *out, const struct nm_view *view,
				 const struct nm_result *result);
/* How many transactions were asked for, instead of a time; NULL: none. */
const char *nm_keys_count_asked(const struct nm_result *result);
/* How many transactions were done, when a number was asked for: total_transactions. */
void nm_keys_total(FILE *out, const struct nm_result *result);
/* The CPUs on which an end has put its workers; nothing when it has not. */
void nm_keys_cores(FILE *out, const char *prefix, const char *cpus);
/* The bytes that an end received without a copy, when the profile asks for that. */
void nm_keys_mapped(FILE *out, const char *prefix, const struct nm_result *result,
		    const struct nm_end_totals *end);
/* The data that this end and the others have moved: throughput, throughput_units, bytes_mmaped,
 * percent_mmaped, local_throughput, remote_throughput. Where this end reads nothing of a stream the
 * others' throughput and mapped bytes stand for its own, but for local_throughput. */
void nm_keys_ends(FILE *out, const struct nm_result *result, const struct nm_view *view,
		  bool stream);
/* Seconds with all nanoseconds: a double would round them. */
void nm_keys_time(FILE *out, const char *key, uint64_t ns);

#endif
