/* SPDX-License-Identifier: Apache-2.0 */
/* A report: one output format, one file, one const descriptor. The build makes nm_reports[] from
 * the word list in src/report/local.mk. */
#ifndef NM_REPORT_REPORT_H
#define NM_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/view.h"
#include "result/runs.h"

/* Options that concern some reports. */
enum nm_report_takes {
	NM_REPORT_TAKES_UNIT = 1 << 0,	     /* the unit of throughput */
	NM_REPORT_TAKES_STIME = 1 << 1,	     /* the source of the time in the system */
	NM_REPORT_TAKES_COMPARISON = 1 << 2, /* an earlier result */
	NM_REPORT_TAKES_INTERVALS = 1 << 3,  /* the intervals, and nothing else */
	NM_REPORT_TAKES_RAW = 1 << 4,	     /* raw lines of progress, which stand above it */
	NM_REPORT_TAKES_SWEEP = 1 << 5,	     /* several values of a parameter */
};

struct nm_report {
	const char *name;    /* the word of --format */
	const char *help;    /* an explanation of that word: "key=value"; NULL: none */
	unsigned takes;	     /* enum nm_report_takes: options that change it */
	unsigned shows;	     /* enum nm_statistics that it shows whoever asks for them */
	bool has_lines;	     /* it begins with lines that are printed while the run goes on */
	bool lacks_warnings; /* it has no place for warnings: the caller prints them */
	bool tells_failure;  /* in words, as an error on a terminal would */
	/* Writes the whole report of a series (one run or --repeat). 0 or -errno of the stream. */
	int (*write)(const struct nm_runs *series, FILE *out);
};

extern const struct nm_report *const nm_reports[]; /* ends with NULL */

const struct nm_report *nm_report_find(const char *name); /* NULL when unknown */
/* "text, json, kv (key=value) or csv (intervals)": each with its help. Returns buf. */
char *nm_report_choices(char *buf, size_t size);

/* The options of a run that has not begun and how long it is to take, as neper prints them. */
void nm_report_neper_options(const struct nm_result *asked, const struct nm_view *view, FILE *out);

/* One line for a terminal while a run goes on, without a line end. Fields that do not fit are left
 * out, from the end. */
void nm_report_live_line(const struct nm_result_interval *row, char *buf, size_t size);

/* One line about a window (--windows), an interval of the result so far: its number, rate, success,
 * and the percentiles that were asked for. */
#define NM_WINDOW_LINE_BYTES (2 * NM_RESULT_MAX_PERCENTILES * 24 + 512)
void nm_report_window_line(const struct nm_result *so_far, const struct nm_result_interval *row,
			   char *buf, size_t size);

/* Writes the schema of the result document as it is published (docs/netmodel-result.schema.json). 0
 * or -errno. */
int nm_result_schema_write(FILE *out);

/* Writes the table of figures that have names (docs/metrics.md). 0 or -errno. */
int nm_named_write(FILE *out);

#endif
