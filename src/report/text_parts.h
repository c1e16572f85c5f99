/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the summary for people, each in a file of its own; width as of a table. */
#ifndef NM_REPORT_TEXT_PARTS_H
#define NM_REPORT_TEXT_PARTS_H

#include <stdio.h>

#include "result/runs.h"

/* Behind the name of times that depend on the length of the run: a mark that the totals explain. */
const char *nm_text_mark(const struct nm_window *window, enum nm_time time);
/* The lines of the totals. */
void nm_text_totals_print(const struct nm_result *result, unsigned width, FILE *out);
/* A table of the intervals of each transaction, and an empty line behind it. */
void nm_text_intervals_print(const struct nm_result *result, unsigned width, FILE *out);
/* A table of the verbs with their outcomes, and one of their times; nothing where nothing asks. */
void nm_text_verbs_print(const struct nm_result *result, unsigned width, FILE *out);
/* A table of the steps of each transaction whose arrivals have some, of several runs all together;
 * nothing where there is none. */
void nm_text_steps_print(const struct nm_runs *series, unsigned width, FILE *out);
/* A table of completion times and slowdowns by size; nothing when no flows were measured. */
void nm_text_flows_print(const struct nm_result *result, unsigned width, FILE *out);
/* The tables that were asked for, each behind an empty line. */
void nm_text_tables_print(const struct nm_result *result, unsigned width, FILE *out);
/* A table of the counters of all hosts, behind `indent` spaces. */
void nm_text_counters_print(const struct nm_result *result, unsigned width, unsigned indent,
			    FILE *out);

#endif
