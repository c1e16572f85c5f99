/* SPDX-License-Identifier: Apache-2.0 */
/* uperf's own form: the lines that it prints while a run goes on. The report of that name
 * (--format uperf) has the same lines when nobody has printed them, and uperf's tables below. */
#ifndef NM_REPORT_UPERF_H
#define NM_REPORT_UPERF_H

#include <stdbool.h>
#include <stdio.h>

#include "result/result.h"

/* What a transaction, a group, a strand or the run has done. */
struct nm_uperf_line {
	const char *name; /* may come from the profile */
	uint64_t wall_ns; /* of its end; of raw lines only */
	double seconds;	  /* of the others only */
	uint64_t bytes, operations;
};

/* The first line of a run. */
void nm_uperf_print_start(FILE *out, uint64_t threads, uint64_t processes, const char *profile);
/* Prints a line without its end, for programs (raw: -R) or for people. */
void nm_uperf_print_line(FILE *out, const struct nm_uperf_line *line, bool raw);
/* The same, for people over what stands in the line of a terminal. */
void nm_uperf_print_over(FILE *out, const struct nm_uperf_line *line, bool raw);
void nm_uperf_print_rule(FILE *out);
/* A line for each group and each strand of the master. */
void nm_uperf_print_groups(FILE *out, const struct nm_result *result, bool raw);
void nm_uperf_print_strands(FILE *out, const struct nm_result *result, bool raw);

#endif
