/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps diagnostics with their subjects, and prints them; finds the nearest of several words. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

#define MAX_WORD 64
#define MAX_TEXT 4096 /* of one diagnostic */

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

/* A place for one more, or NULL. */
static struct nm_diag *append(struct nm_diags *d)
{
	if (d->count == d->capacity) {
		size_t capacity = d->capacity ? 2 * d->capacity : 8;
		struct nm_diag *items = realloc(d->items, capacity * sizeof(*items));

		if (!items)
			return NULL;
		d->items = items;
		d->capacity = capacity;
	}
	struct nm_diag *diag = &d->items[d->count++];

	*diag = (struct nm_diag){.severity = NM_SEV_ERROR};
	return diag;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* Without memory the subject is left out: the text names it nevertheless. */
static void add_subject(struct nm_diag *diag, const struct nm_diag_subject *subject)
{
	struct nm_diag_subject *subjects =
		realloc(diag->subjects, (diag->n_subjects + 1) * sizeof(*subjects));

	if (!subjects)
		return;
	diag->subjects = subjects;
	subjects[diag->n_subjects] = *subject;
	subjects[diag->n_subjects].name = copy_text(subject->name);
	subjects[diag->n_subjects].value = copy_text(subject->value);
	diag->n_subjects++;
}

void nm_subject_print(enum nm_subject_kind kind, const char *name, const char *value, char *buf,
		      size_t size)
{
	name = name ? name : "";
	switch (kind) {
	case NM_SUBJECT_OPTION:
		snprintf(buf, size, "--%s%s%s", name, value ? " " : "", value ? value : "");
		break;
	case NM_SUBJECT_DEFINE:
		snprintf(buf, size, "-D %s=%s", name, value ? value : "");
		break;
	case NM_SUBJECT_ENVIRONMENT:
		snprintf(buf, size, "the environment, %s=%s", name, value ? value : "");
		break;
	case NM_SUBJECT_NONE:
	case NM_SUBJECT_ELEMENT:
	case NM_SUBJECT_HOST:
	case NM_SUBJECT_FILE:
		snprintf(buf, size, "%s", name);
		break;
	}
}

/* Makes a text no longer than MAX_TEXT bytes, at a whole character. */
static void cut(char *text)
{
	static const char mark[] = "...";
	size_t end = MAX_TEXT - sizeof mark + 1;

	if (strlen(text) <= MAX_TEXT)
		return;
	while (((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, mark, sizeof mark);
}

/* The text with the words of the subject in their place, owned; NULL when out of memory. */
static char *make_text(const char *words, const char *fmt, va_list args, size_t *ret_at)
{
	const char *mark = strchr(fmt, *NM_THE_SUBJECT);
	char *form = NULL, *text = NULL, *whole = NULL;
	int before = 0;

	if (mark) { /* what stands before it takes the first arguments */
		char *head = strndup(fmt, (size_t)(mark - fmt));
		va_list copy;

		va_copy(copy, args);
		before = head ? vsnprintf(NULL, 0, head, copy) : -1;
		va_end(copy);
		free(head);
	}
	*ret_at = before > 0 ? (size_t)before : 0;
	if (before < 0 ||
	    asprintf(&form, "%.*s%s", mark ? (int)(mark - fmt) : 0, fmt, mark ? mark + 1 : fmt) < 0)
		return NULL;
	if (vasprintf(&text, form, args) < 0)
		text = NULL;
	free(form);
	if (text && asprintf(&whole, "%.*s%s%s", before, text, words, text + before) < 0)
		whole = NULL;
	free(text);
	if (whole)
		cut(whole);
	return whole;
}

/* Counts one more. Whether it is kept. */
static bool count_one(struct nm_diags *d, enum nm_severity severity)
{
	bool is_error = severity == NM_SEV_ERROR;
	size_t count = is_error ? ++d->n_errors : ++d->n_warnings;
	char text[80];

	if (count != NM_DIAGS_MAX + 1)
		return count <= NM_DIAGS_MAX;
	struct nm_diag *last = append(d);

	snprintf(text, sizeof text, "more than %d %s: the others are not told", NM_DIAGS_MAX,
		 is_error ? "errors" : "warnings");
	char *copy = last ? strdup(text) : NULL;

	if (copy)
		*last = (struct nm_diag){.severity = severity, .text = copy, .complaint = copy};
	else if (last)
		d->count--;
	return false;
}

struct nm_diag *nm_diag_vadd(struct nm_diags *d, enum nm_severity severity, const char *file,
			     unsigned line, const struct nm_subject *subject, const char *fmt,
			     va_list args)
{
	const struct nm_subject none = {.words = ""};
	char usual[4096];
	struct nm_diag_subject kept = {.kind = NM_SUBJECT_NONE};

	if (!count_one(d, severity))
		return NULL;
	subject = subject ? subject : &none;
	if (!subject->words)
		nm_subject_print(subject->kind, subject->name, subject->value, usual,
				 sizeof(usual));
	const char *words = subject->words ? subject->words : usual;
	char *text = make_text(words, fmt, args, &kept.at);
	struct nm_diag *diag = text ? append(d) : NULL;

	if (!diag) {
		free(text);
		return NULL;
	}
	nm_make_plain(text);
	*diag = (struct nm_diag){
		.severity = severity,
		.line = line,
		.file = copy_text(file),
		.text = text,
		.complaint = text,
	};
	kept.kind = subject->kind;
	kept.name = (char *)(uintptr_t)subject->name; /* copied below */
	kept.value = (char *)(uintptr_t)subject->value;
	kept.length = strlen(words);
	if (kept.at + kept.length > strlen(text))
		return diag;
	diag->complaint = text + kept.at + kept.length;
	if (kept.kind && kept.length)
		add_subject(diag, &kept);
	return diag;
}

struct nm_diag *nm_diag_add(struct nm_diags *d, enum nm_severity severity, const char *file,
			    unsigned line, const struct nm_subject *subject, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct nm_diag *diag = nm_diag_vadd(d, severity, file, line, subject, fmt, args);

	va_end(args);
	return diag;
}

void nm_diag_error(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)nm_diag_vadd(d, NM_SEV_ERROR, file, line, NULL, fmt, args);
	va_end(args);
}

void nm_diag_warn(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)nm_diag_vadd(d, NM_SEV_WARNING, file, line, NULL, fmt, args);
	va_end(args);
}

void nm_diag_add_origin(struct nm_diag *diag, const struct nm_subject *origin)
{
	const struct nm_diag_subject kept = {
		.kind = origin->kind,
		.name = (char *)(uintptr_t)origin->name, /* copied */
		.value = (char *)(uintptr_t)origin->value,
	};

	if (diag)
		add_subject(diag, &kept);
}

void nm_diag_copy(struct nm_diags *d, const struct nm_diag *diag)
{
	struct nm_diag *copy =
		nm_diag_add(d, diag->severity, diag->file, diag->line, NULL, "%s", diag->text);

	if (copy)
		copy->complaint = copy->text + (diag->complaint - diag->text);
	for (size_t i = 0; copy && i < diag->n_subjects; i++)
		add_subject(copy, &diag->subjects[i]);
}

void nm_diags_fini(struct nm_diags *d)
{
	for (size_t i = 0; i < d->count; i++) {
		struct nm_diag *diag = &d->items[i];

		for (size_t k = 0; k < diag->n_subjects; k++) {
			free(diag->subjects[k].name);
			free(diag->subjects[k].value);
		}
		free(diag->subjects);
		free(diag->text);
		free(diag->file);
	}
	free(d->items);
	*d = (struct nm_diags){.lenient = d->lenient, .form_told = d->form_told};
}

const struct nm_diag_subject *nm_diag_find_subject(const struct nm_diag *diag,
						   enum nm_subject_kind kind)
{
	for (size_t i = 0; i < diag->n_subjects; i++)
		if (diag->subjects[i].kind == kind)
			return &diag->subjects[i];
	return NULL;
}

/* Whether it stands nowhere in the text. */
static bool is_origin(const struct nm_diag_subject *subject)
{
	return subject->length == 0;
}

/* The next origin from *index on, or NULL. */
static const struct nm_diag_subject *next_origin(const struct nm_diag *diag, size_t *index)
{
	while (*index < diag->n_subjects) {
		const struct nm_diag_subject *subject = &diag->subjects[(*index)++];

		if (is_origin(subject))
			return subject;
	}
	return NULL;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has_same_origins(const struct nm_diag *a, const struct nm_diag *b)
{
	size_t i = 0, k = 0;
	const struct nm_diag_subject *one = next_origin(a, &i), *other = next_origin(b, &k);

	if (!one)
		return false;
	while (one && other && one->kind == other->kind && is_same_text(one->name, other->name) &&
	       is_same_text(one->value, other->value)) {
		one = next_origin(a, &i);
		other = next_origin(b, &k);
	}
	return !one && !other;
}

bool nm_diag_is_repeated(const struct nm_diag *diag, const struct nm_diag *earlier)
{
	const struct nm_diag_subject *here = nm_diag_find_subject(diag, NM_SUBJECT_ELEMENT);
	const struct nm_diag_subject *there = nm_diag_find_subject(earlier, NM_SUBJECT_ELEMENT);

	return here && there && is_same_text(diag->file, earlier->file) &&
	       has_same_origins(diag, earlier) && is_same_text(diag->complaint, earlier->complaint);
}

/* A buffer that texts are put behind each other in; what does not fit is cut off. */
struct sink {
	char *buf;
	size_t size, used;
};

static void put(struct sink *sink, const char *text, size_t length)
{
	size_t room = sink->size - sink->used - 1;

	length = length < room ? length : room;
	memcpy(sink->buf + sink->used, text, length);
	sink->used += length;
	sink->buf[sink->used] = '\0';
}

/* Puts the words for one subject into the text; usual: its own words. */
static void put_words(struct sink *sink, const struct nm_diag_subject *subject,
		      const struct nm_wording *wording, const char *usual, size_t length)
{
	char words[2048];

	if (wording && wording->words &&
	    wording->words(subject, wording->arg, words, sizeof(words)))
		put(sink, words, strlen(words));
	else
		put(sink, usual, length);
}

static void put_origins(struct sink *sink, const struct nm_diag *diag,
			const struct nm_wording *wording)
{
	const char *before = " (from ";

	for (size_t i = 0; i < diag->n_subjects; i++) {
		const struct nm_diag_subject *subject = &diag->subjects[i];
		char usual[2048];

		if (!is_origin(subject))
			continue;
		nm_subject_print(subject->kind, subject->name, subject->value, usual,
				 sizeof(usual));
		put(sink, before, strlen(before));
		put_words(sink, subject, wording, usual, strlen(usual));
		before = ", ";
	}
	if (*before == ',')
		put(sink, ")", 1);
}

void nm_diag_print(const struct nm_diag *diag, const struct nm_wording *wording, char *buf,
		   size_t size)
{
	struct sink sink = {.buf = buf, .size = size};
	const char *text = diag->text;
	size_t at = 0;

	*buf = '\0';
	for (size_t i = 0; i < diag->n_subjects; i++) {
		const struct nm_diag_subject *subject = &diag->subjects[i];

		if (is_origin(subject))
			continue;
		put(&sink, text + at, subject->at - at);
		put_words(&sink, subject, wording, text + subject->at, subject->length);
		at = subject->at + subject->length;
	}
	put(&sink, text + at, strlen(text + at));
	put_origins(&sink, diag, wording);
	nm_make_plain(buf); /* values may have anything */
}

void nm_diag_format_in(const struct nm_diag *diag, const struct nm_wording *wording, char *buf,
		       size_t size)
{
	const char *kind = diag->severity == NM_SEV_ERROR ? "error" : "warning";
	int used;

	if (diag->file && diag->line)
		used = snprintf(buf, size, "%s:%u: %s: ", diag->file, diag->line, kind);
	else if (diag->file)
		used = snprintf(buf, size, "%s: %s: ", diag->file, kind);
	else
		used = snprintf(buf, size, "%s: ", kind);
	if (used >= 0 && (size_t)used < size)
		nm_diag_print(diag, wording, buf + used, size - (size_t)used);
	nm_make_plain(buf); /* files may have any name */
}

void nm_diag_format(const struct nm_diag *diag, char *buf, size_t size)
{
	nm_diag_format_in(diag, NULL, buf, size);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

static bool same_letter(char a, char b)
{
	return nm_ascii_lower(a) == nm_ascii_lower(b);
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
		size_t more = other > length ? other - length : length - other;
		unsigned d = other <= MAX_WORD && more <= allowed
				     ? distance(word, length, candidates[i], other)
				     : allowed + 1;
		size_t same = 0;

		while (same < length && same < other &&
		       nm_ascii_lower(word[same]) == nm_ascii_lower(candidates[i][same]))
			same++;
		/* A word changed in every letter is another word. Of two candidates at one
		 * distance, the one with the longer equal beginning is nearer: mistakes come
		 * late. */
		if ((d < best || (d == best && d <= allowed && same > best_same)) &&
		    d < (length > other ? length : other)) {
			best = d;
			best_same = same;
			nearest = candidates[i];
		}
	}
	return nearest;
}
