/* SPDX-License-Identifier: Apache-2.0 */
/* A table of text whose columns are as wide as their widest cell. */
#ifndef NM_REPORT_TABLE_H
#define NM_REPORT_TABLE_H

#include <stddef.h>
#include <stdio.h>

/* Begins as {.align = "lrr"}: a letter for each column, l left or r right. */
struct nm_table {
	const char *align; /* borrowed */
	char **cells;	   /* row by row; NULL: out of memory, printed as nothing */
	size_t n_cells, capacity;
};

/* Adds the next cell, with spaces for control characters; a row is full after as many as there are
 * letters. */
void nm_table_cell(struct nm_table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints every row behind `indent` spaces, two between columns, none at the end of a line. */
void nm_table_print(const struct nm_table *table, unsigned indent, FILE *out);
void nm_table_fini(struct nm_table *table);

#endif
