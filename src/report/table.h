/* SPDX-License-Identifier: Apache-2.0 */
/* A table of text whose columns are as wide as their widest cell. */
#ifndef NM_REPORT_TABLE_H
#define NM_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Begins as {.align = "lrrRr"}: a letter for each column, l left, r right or R right, with which a
 * block begins. The l at the front are labels, which each block has. */
struct nm_table {
	const char *align; /* borrowed */
	/* The characters of a line: what is wider is laid out in blocks, and a last column of text
	 * goes on in the next line. 0: lines may be of any length, and each R begins a block. */
	unsigned width;
	char **cells; /* row by row; NULL: out of memory, printed as nothing */
	size_t n_cells, capacity;
};

/* Adds the next cell, with spaces for control characters; a row is full after as many as there are
 * letters. */
void nm_table_cell(struct nm_table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A cell with a text, of anybody; NULL: an empty one. */
void nm_table_text(struct nm_table *table, const char *text);
/* A cell with a count, a time or a bit rate; "-" where it is not known. */
void nm_table_count(struct nm_table *table, bool known, uint64_t count);
void nm_table_time(struct nm_table *table, bool known, double seconds);
void nm_table_bitrate(struct nm_table *table, bool known, double bits_per_s);
/* So many cells of what is not known. */
void nm_table_dashes(struct nm_table *table, size_t count);
/* A cell for each of the names, between which there are bars. */
void nm_table_head(struct nm_table *table, const char *names);
/* A row of two cells, the first of which is a label. */
void nm_table_row(struct nm_table *table, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Prints every row behind `indent` spaces, two between columns, none at the end of a line, and an
 * empty line between blocks. */
void nm_table_print(const struct nm_table *table, unsigned indent, FILE *out);
/* Prints the table, frees it. */
void nm_table_end(struct nm_table *table, unsigned indent, FILE *out);
/* The same behind an empty line, as a section of a report, if there is anything to be shown. */
void nm_table_section(struct nm_table *table, bool any, FILE *out);
void nm_table_fini(struct nm_table *table);

#endif
