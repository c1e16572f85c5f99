/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes. The first goes through the characters and mends the inside of tags, comments and
 * declarations; it keeps a list of the tags. The second goes through that list and mends the
 * nesting, unless it is right as it is. */
#include "profile/legacy/normalise.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "profile/legacy/normalise_priv.h"

const struct nm_known nm_known_elements[NM_N_KNOWN] = {{"profile", 0},	   {"group", 1},
						       {"param", 1},	   {"params", 1},
						       {"transaction", 2}, {"flowop", 3}};

/* Frees a text that may have the password of a key in it. */
static void wipe(char *text, size_t size)
{
	if (text)
		explicit_bzero(text, size);
	free(text);
}

void nm_text_put(struct nm_text *text, const char *data, size_t length)
{
	if (length > text->capacity - text->used) {
		size_t capacity = 2 * (text->used + length);
		char *grown = text->failed ? NULL : malloc(capacity);

		if (!grown) {
			text->failed = true;
			return;
		}
		if (text->used)
			memcpy(grown, text->data, text->used);
		wipe(text->data, text->used);
		text->data = grown;
		text->capacity = capacity;
	}
	if (length)
		memcpy(text->data + text->used, data, length);
	text->used += length;
}

void nm_text_put_word(struct nm_text *text, const char *word)
{
	nm_text_put(text, word, strlen(word));
}

void nm_text_put_lines(struct nm_text *text, const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (data[i] == '\n')
			nm_text_put(text, "\n", 1);
}

void nm_remark(struct nm_remarks *remarks, unsigned line, const char *format, ...)
{
	struct nm_remark made = {.line = line};
	va_list args;

	if (remarks->count++ >= NM_MAX_REMARKS)
		return;
	va_start(args, format);
	if (vasprintf(&made.text, format, args) < 0)
		made.text = NULL;
	va_end(args);
	remarks->items[remarks->count - 1] = made;
}

static size_t kept(const struct nm_remarks *remarks)
{
	return remarks->count < NM_MAX_REMARKS ? remarks->count : NM_MAX_REMARKS;
}

/* Adds the remarks of both passes to diags, by line, as far as its owner wants to have them. */
static void tell(const char *file, const struct nm_remarks *a, const struct nm_remarks *b,
		 struct nm_diags *diags)
{
	size_t i = 0, k = 0;

	if (diags->form_told == NM_FORM_NOTHING)
		return;
	if (diags->form_told == NM_FORM_NUMBER && a->count + b->count > 1) {
		nm_diag_warn(
			diags, file, 0,
			"%zu places are not well-formed XML, read as uperf reads them; --check "
			"lists them",
			a->count + b->count);
		return;
	}
	while (i < kept(a) || k < kept(b)) {
		bool first = i < kept(a) && (k == kept(b) || a->items[i].line <= b->items[k].line);
		const struct nm_remark *next = first ? &a->items[i++] : &b->items[k++];

		nm_diag_warn(diags, file, next->line, "%s",
			     next->text ? next->text
					: "not well-formed XML, but read all the same");
	}
	if (a->count + b->count > i + k)
		nm_diag_warn(diags, file, 0,
			     "%zu more places are not well-formed XML, but read all the same",
			     a->count + b->count - i - k);
}

static void remarks_fini(struct nm_remarks *remarks)
{
	for (size_t i = 0; i < kept(remarks); i++)
		free(remarks->items[i].text);
}

int nm_profile_normalise(const char *file, const char *text, size_t length, char **ret_text,
			 size_t *ret_length, struct nm_diags *diags)
{
	struct nm_tags tags = {.count = 0};
	struct nm_remarks remarks = {.count = 0};
	struct nm_text nested = {.data = NULL}, *made = NULL;
	int r = 0;

	nm_tags_scan(&tags, text, length);
	if (!tags.text.failed && nm_nesting_mend(&tags, &nested, &remarks))
		made = &nested;
	else if (tags.remarks.count)
		made = &tags.text;
	/* Terminated, and there also when nothing is left. */
	if (made)
		nm_text_put(made, "", 1);
	if (tags.text.failed || nested.failed) {
		r = -ENOMEM;
	} else if (made) {
		tell(file, &tags.remarks, &remarks, diags);
		*ret_text = made->data;
		*ret_length = made->used - 1;
		made->data = NULL;
		r = 1;
	}
	remarks_fini(&tags.remarks);
	remarks_fini(&remarks);
	wipe(tags.text.data, tags.text.used);
	free(tags.items);
	wipe(nested.data, nested.used);
	return r;
}
