/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of text that are as wide as their longest cell. */
#include "report/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

#define MAX_COLUMNS 64

void nm_table_cell(struct nm_table *table, const char *fmt, ...)
{
	va_list args;

	if (table->n_cells == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 64;
		char **cells = realloc(table->cells, capacity * sizeof(*cells));
		if (!cells)
			return;
		table->cells = cells;
		table->capacity = capacity;
	}
	char *cell;
	va_start(args, fmt);
	if (vasprintf(&cell, fmt, args) < 0)
		cell = NULL;
	va_end(args);
	if (cell)
		nm_make_plain(cell);
	table->cells[table->n_cells++] = cell;
}

static const char *cell_at(const struct nm_table *table, size_t index)
{
	return index < table->n_cells && table->cells[index] ? table->cells[index] : "";
}

static void print_row(const struct nm_table *table, size_t first, const int *widths, size_t columns,
		      FILE *out)
{
	size_t last = columns;

	while (last > 0 && cell_at(table, first + last - 1)[0] == '\0')
		last--;
	for (size_t c = 0; c < last; c++) {
		bool left = table->align[c] == 'l';
		const char *cell = cell_at(table, first + c);
		if (c)
			fputs("  ", out);
		if (left && c + 1 == last)
			fputs(cell, out);
		else
			fprintf(out, "%*s", left ? -widths[c] : widths[c], cell);
	}
	fputc('\n', out);
}

void nm_table_print(const struct nm_table *table, unsigned indent, FILE *out)
{
	size_t columns = strlen(table->align);
	int widths[MAX_COLUMNS] = {0};

	if (columns == 0 || columns > MAX_COLUMNS)
		return;
	for (size_t i = 0; i < table->n_cells; i++) {
		int length = (int)strlen(cell_at(table, i));
		if (length > widths[i % columns])
			widths[i % columns] = length;
	}
	for (size_t i = 0; i < table->n_cells; i += columns) {
		fprintf(out, "%*s", (int)indent, "");
		print_row(table, i, widths, columns, out);
	}
}

void nm_table_fini(struct nm_table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->n_cells = table->capacity = 0;
}
