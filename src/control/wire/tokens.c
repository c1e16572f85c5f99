/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the bytes: a value begins where a list, an object or a text opens, and where a
 * number or a word begins. */
#include "control/wire/tokens.h"

#include <string.h>

/* Where the text that begins after `at` ends: behind its quote, or at the end of all. */
static size_t skip_text(const char *text, size_t size, size_t at)
{
	while (at < size && text[at] != '"')
		at += text[at] == '\\' ? 2 : 1;
	return at < size ? at + 1 : size;
}

static size_t skip_word(const char *text, size_t size, size_t at)
{
	while (at < size && !strchr("[]{}\",: \t\r\n", text[at]))
		at++;
	return at;
}

size_t nm_tokens_count(const char *text, size_t size, size_t most)
{
	size_t count = 0, at = 0;

	while (at < size && count <= most) {
		switch (text[at]) {
		case '[':
		case '{':
			count++;
			at++;
			break;
		case '"':
			count++;
			at = skip_text(text, size, at + 1);
			break;
		case ']':
		case '}':
		case ',':
		case ':':
		case ' ':
		case '\t':
		case '\r':
		case '\n':
		case '\0':
			at++;
			break;
		default:
			count++;
			at = skip_word(text, size, at);
		}
	}
	return count;
}
