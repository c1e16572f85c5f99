/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of text that are as wide as their longest cell. */
#include "report/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/units.h"

#define MAX_COLUMNS 160
#define TEXT_ROOM   16 /* characters in a line that a last column of text has at least */

static void add_cell(struct nm_table *table, const char *fmt, va_list args)
{
	char *cell;

	if (table->n_cells == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 64;
		char **cells = realloc(table->cells, capacity * sizeof(*cells));
		if (!cells)
			return;
		table->cells = cells;
		table->capacity = capacity;
	}
	if (vasprintf(&cell, fmt, args) < 0)
		cell = NULL;
	if (cell)
		nm_make_plain(cell);
	table->cells[table->n_cells++] = cell;
}

void nm_table_cell(struct nm_table *table, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_cell(table, fmt, args);
	va_end(args);
}

void nm_table_row(struct nm_table *table, const char *label, const char *fmt, ...)
{
	va_list args;

	nm_table_text(table, label);
	va_start(args, fmt);
	add_cell(table, fmt, args);
	va_end(args);
}

void nm_table_text(struct nm_table *table, const char *text)
{
	nm_table_cell(table, "%s", text ? text : "");
}

void nm_table_count(struct nm_table *table, bool known, uint64_t count)
{
	if (known)
		nm_table_cell(table, "%" PRIu64, count);
	else
		nm_table_dashes(table, 1);
}

void nm_table_time(struct nm_table *table, bool known, double seconds)
{
	char text[32];

	nm_table_text(table, known ? nm_format_duration(seconds, text, sizeof(text)) : "-");
}

void nm_table_bitrate(struct nm_table *table, bool known, double bits_per_s)
{
	char text[32];

	nm_table_text(table, known ? nm_format_bitrate(bits_per_s, text, sizeof(text)) : "-");
}

void nm_table_dashes(struct nm_table *table, size_t count)
{
	while (count--)
		nm_table_text(table, "-");
}

void nm_table_head(struct nm_table *table, const char *names)
{
	for (const char *bar; (bar = strchr(names, '|')); names = bar + 1)
		nm_table_cell(table, "%.*s", (int)(bar - names), names);
	nm_table_text(table, names);
}

static const char *cell_at(const struct nm_table *table, size_t index)
{
	return index < table->n_cells && table->cells[index] ? table->cells[index] : "";
}

/* How a table is laid out: the width of each column, and the labels, which each block begins
 * with. */
struct layout {
	size_t columns, labels;
	int widths[MAX_COLUMNS];
	unsigned indent;
};

/* False: the table has no columns, or too many. */
static bool lay_out(const struct nm_table *table, unsigned indent, struct layout *layout)
{
	*layout = (struct layout){.columns = strlen(table->align), .indent = indent};
	if (layout->columns == 0 || layout->columns > MAX_COLUMNS)
		return false;
	layout->labels = strspn(table->align, "l");
	if (layout->labels == layout->columns)
		layout->labels--;
	for (size_t i = 0; i < table->n_cells; i++) {
		int length = (int)strlen(cell_at(table, i));
		int *width = &layout->widths[i % layout->columns];

		*width = length > *width ? length : *width;
	}
	return true;
}

/* Whether the last column is text, which goes on in the next line where there is no room. */
static bool ends_in_text(const struct nm_table *table, size_t column)
{
	return table->align[column] == 'l' && table->align[column + 1] == '\0';
}

static size_t room_of(const struct nm_table *table, const struct layout *layout, size_t column)
{
	size_t width = (size_t)layout->widths[column];

	return 2 + (ends_in_text(table, column) && width > TEXT_ROOM ? TEXT_ROOM : width);
}

/* Behind the last column of the block that begins with `first`. */
static size_t block_end(const struct nm_table *table, const struct layout *layout, size_t first)
{
	size_t used = layout->indent, whole, c;

	for (c = 0; c < layout->labels; c++)
		used += room_of(table, layout, c);
	whole = used;
	for (c = first; c < layout->columns; c++)
		whole += room_of(table, layout, c);
	if (table->width && whole <= table->width + 2) /* none behind the last */
		return layout->columns;
	for (c = first; c < layout->columns; c++) {
		used += room_of(table, layout, c);
		if (c > first &&
		    (table->align[c] == 'R' || (table->width && used > table->width + 2)))
			break;
	}
	return c;
}

/* The part of a text that a line of so many characters takes, broken between two of its parts or
 * else between two words. */
static size_t line_of(const char *text, size_t room)
{
	size_t parts = 0, words = 0;

	if (strlen(text) <= room)
		return strlen(text);
	for (size_t i = 1; i <= room; i++) {
		if (text[i] != ' ')
			continue;
		words = i;
		if (text[i + 1] == ' ')
			parts = i;
	}
	return parts ? parts : words ? words : room;
}

static void print_text(const char *text, size_t at, unsigned width, FILE *out)
{
	size_t room = width > at + TEXT_ROOM ? width - at : TEXT_ROOM;

	while (width && strlen(text) > room) {
		size_t length = line_of(text, room);

		fprintf(out, "%.*s\n%*s", (int)length, text, (int)at, "");
		text += length;
		text += strspn(text, " ");
	}
	fputs(text, out);
}

/* Behind the last cell of a row that has something: of the block, or else of the labels. */
static size_t row_end(const struct nm_table *table, const struct layout *layout, size_t row,
		      size_t first, size_t end)
{
	while (end > first && cell_at(table, row + end - 1)[0] == '\0')
		end--;
	if (end > first)
		return end;
	for (end = layout->labels; end > 0 && cell_at(table, row + end - 1)[0] == '\0';)
		end--;
	return end;
}

/* The labels of the row, and its cells of a block. */
static void print_row(const struct nm_table *table, const struct layout *layout, size_t row,
		      size_t first, size_t end, FILE *out)
{
	size_t at = layout->indent, next;

	end = row_end(table, layout, row, first, end);
	fprintf(out, "%*s", (int)layout->indent, "");
	for (size_t c = layout->labels ? 0 : first; c < end; c = next) {
		const char *cell = cell_at(table, row + c);
		int width = layout->widths[c];

		next = c + 1 == layout->labels ? first : c + 1;
		if (table->align[c] != 'l')
			fprintf(out, "%*s", width, cell);
		else if (next >= end)
			print_text(cell, at, table->width, out);
		else
			fprintf(out, "%*s", -width, cell);
		if (next < end)
			fputs("  ", out);
		at += (size_t)width + 2;
	}
	fputc('\n', out);
}

void nm_table_print(const struct nm_table *table, unsigned indent, FILE *out)
{
	struct layout layout;

	if (!lay_out(table, indent, &layout))
		return;
	for (size_t first = layout.labels, end; first < layout.columns; first = end) {
		end = block_end(table, &layout, first);
		if (first > layout.labels)
			fputc('\n', out);
		for (size_t i = 0; i < table->n_cells; i += layout.columns)
			print_row(table, &layout, i, first, end, out);
	}
}

void nm_table_end(struct nm_table *table, unsigned indent, FILE *out)
{
	nm_table_print(table, indent, out);
	nm_table_fini(table);
}

void nm_table_section(struct nm_table *table, bool any, FILE *out)
{
	if (any) {
		fputc('\n', out);
		nm_table_print(table, 2, out);
	}
	nm_table_fini(table);
}

void nm_table_fini(struct nm_table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->n_cells = table->capacity = 0;
}
