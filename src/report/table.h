/* SPDX-License-Identifier: Apache-2.0 */
/* A table of text whose columns are as wide as their widest cell. */
#ifndef NM_REPORT_TABLE_H
#define NM_REPORT_TABLE_H

#include <stddef.h>
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
/* Prints every row behind `indent` spaces, two between columns, none at the end of a line, and an
 * empty line between blocks. */
void nm_table_print(const struct nm_table *table, unsigned indent, FILE *out);
void nm_table_fini(struct nm_table *table);

#endif
