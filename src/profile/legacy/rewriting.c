/* SPDX-License-Identifier: Apache-2.0 */
/* What both passes write, text and remarks, and the elements that both know. */
#include "profile/legacy/normalise_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct nm_known nm_known_elements[NM_N_KNOWN] = {{"profile", 0},	   {"group", 1},
						       {"param", 1},	   {"params", 1},
						       {"transaction", 2}, {"flowop", 3}};

void nm_text_fini(struct nm_text *text)
{
	if (text->data)
		explicit_bzero(text->data, text->used);
	free(text->data);
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
		nm_text_fini(text);
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
