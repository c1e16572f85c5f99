/* SPDX-License-Identifier: Apache-2.0 */
/* Names, labels and look-ups that the reports share, so that all of them say the same. */
#ifndef NM_REPORT_COMMON_H
#define NM_REPORT_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/view.h"
#include "result/runs.h"

/* "p99.9", for people and under neper's keys; "p99_9", which needs no quotes in jq and the like, in
 * documents and columns. Both return buf. */
char *nm_percentile_key(double pct, char *buf, size_t size);
char *nm_percentile_name(double pct, char *buf, size_t size);
/* The name of a verb within a key or a column: what would end one, or split it, is %XX, so that
 * names that differ stay apart. */
#define NM_VERB_KEY (3 * NM_VERB_NAME)
char *nm_verb_key(const char *name, char buf[NM_VERB_KEY]);
/* A name within a key, a column or another name: without control characters, and _ for each of
 * those that would end it; NULL is "". Returns buf. */
char *nm_name_within(const char *name, const char *enders, char *buf, size_t size);
/* The value of a parameter; NULL: there is none. */
const char *nm_result_param(const struct nm_result *result, const char *name);
/* "2024-05-01T12:00:00.123456Z"; returns buf. */
char *nm_format_utc(uint64_t wall_ns, char *buf, size_t size);
/* "warmup", "measured", "cooldown". */
const char *nm_part_name(enum nm_part part);
/* How the series is to be shown; never NULL. */
const struct nm_view *nm_runs_view(const struct nm_runs *series);
/* The run whose document stands for the series: the last; NULL when there is none. */
const struct nm_result *nm_runs_last(const struct nm_runs *series);
/* Whether any window of the result has values of the distribution. */
bool nm_result_has_time(const struct nm_result *result, enum nm_time time);
/* Time in which the CPUs did something, ns. */
uint64_t nm_cpu_busy_ns(const struct nm_cpu_times *cpu);
/* Prints what may come from a peer or a profile, with spaces for control characters; NULL is
 * nothing. */
void nm_print_plain(FILE *out, const char *text);
/* Prints a line of formatted text, with spaces for control characters; the line end is added. */
void nm_print_line(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 0, or -errno when something written to the stream was lost. */
int nm_stream_status(FILE *out);

#endif
