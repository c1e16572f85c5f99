/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/word.h"

#define MAX_WORD 64

size_t nm_control_length(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (*c == '\0')
		return 0;
	if (*c < ' ' || *c == 0x7f)
		return 1;
	return *c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0; /* U+0080 to U+009F, in UTF-8 */
}

void nm_make_plain(char *text)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	while (*text) {
		size_t control = nm_control_length(text);

		if (control)
			memset(text, ' ', control);
		text += control ? control : 1;
	}
}

static void add(struct nm_diags *d, enum nm_severity severity, const char *file, unsigned line,
		const char *fmt, va_list args)
{
	struct nm_diag diag = {.severity = severity, .line = line};

	if (severity == NM_SEV_ERROR)
		d->n_errors++;
	if (vasprintf(&diag.text, fmt, args) < 0)
		return;
	nm_make_plain(diag.text);
	if (file)
		diag.file = strdup(file);
	if (d->count == d->capacity) {
		size_t capacity = d->capacity ? 2 * d->capacity : 8;
		struct nm_diag *items = realloc(d->items, capacity * sizeof(*items));

		if (!items) {
			free(diag.text);
			free(diag.file);
			return;
		}
		d->items = items;
		d->capacity = capacity;
	}
	d->items[d->count++] = diag;
}

void nm_diag_error(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(d, NM_SEV_ERROR, file, line, fmt, args);
	va_end(args);
}

void nm_diag_unknown(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(d, d->lenient ? NM_SEV_WARNING : NM_SEV_ERROR, file, line, fmt, args);
	va_end(args);
}

void nm_diag_warn(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(d, NM_SEV_WARNING, file, line, fmt, args);
	va_end(args);
}

void nm_diags_fini(struct nm_diags *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->items[i].text);
		free(d->items[i].file);
	}
	free(d->items);
	*d = (struct nm_diags){.lenient = d->lenient};
}

void nm_diag_format(const struct nm_diag *diag, char *buf, size_t size)
{
	const char *kind = diag->severity == NM_SEV_ERROR ? "error" : "warning";

	if (diag->file && diag->line)
		snprintf(buf, size, "%s:%u: %s: %s", diag->file, diag->line, kind, diag->text);
	else if (diag->file)
		snprintf(buf, size, "%s: %s: %s", diag->file, kind, diag->text);
	else
		snprintf(buf, size, "%s: %s", kind, diag->text);
	nm_make_plain(buf); /* files may have any name */
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

static bool same_letter(char a, char b)
{
	return nm_lower(a) == nm_lower(b);
}

/* Optimal string alignment: insertions, deletions, replacements and swaps of neighbours. */
static unsigned distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned rows[3][MAX_WORD + 1];

	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *now = rows[i % 3];
		const unsigned *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned cost = !same_letter(a[i - 1], b[j - 1]);

			now[j] = min3(before[j] + 1, now[j - 1] + 1, before[j - 1] + cost);
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) && earlier[j - 2] + 1 < now[j])
				now[j] = earlier[j - 2] + 1;
		}
	}
	return rows[la % 3][lb];
}

const char *nm_nearest(const char *word, const char *const *candidates, size_t count)
{
	size_t length = strlen(word);
	unsigned allowed = length <= 4 ? 1 : length <= 8 ? 2 : 3;
	unsigned best = allowed + 1;
	size_t best_same = 0;
	const char *nearest = NULL;

	if (length > MAX_WORD)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t other = strlen(candidates[i]);
		unsigned d =
			other <= MAX_WORD ? distance(word, length, candidates[i], other) : best;

		size_t same = 0;

		while (same < length && same < other &&
		       nm_lower(word[same]) == nm_lower(candidates[i][same]))
			same++;
		/* A word changed in every letter is another word. Of two that are as near, mistakes come late. */
		if ((d < best || (d == best && d <= allowed && same > best_same)) &&
		    d < (length > other ? length : other)) {
			best = d;
			best_same = same;
			nearest = candidates[i];
		}
	}
	return nearest;
}
