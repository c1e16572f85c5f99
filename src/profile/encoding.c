/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding of a profile: UTF-8 as it is, ISO-8859-1 made into UTF-8, others refused. */
#include "profile/encoding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/ascii.h"

static const char *const latin1_names[] = {"ISO-8859-1", "ISO_8859-1", "latin1", NULL};
static const char *const known_names[] = {"UTF-8", "US-ASCII", NULL};

static bool is_one_of(const char *const *names, const char *name, size_t length)
{
	for (; *names; names++)
		if (strlen(*names) == length && strncasecmp(*names, name, length) == 0)
			return true;
	return false;
}

bool nm_encoding_is_known(const char *name, size_t length)
{
	return is_one_of(known_names, name, length) || is_one_of(latin1_names, name, length);
}

const char *nm_skip_blanks(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n'))
		text++;
	return text;
}

const char *nm_encoding_find(const char *text, size_t length, size_t *ret_length)
{
	const char *end = text + length;

	if (length < 6 || memcmp(text, "<?xml", 5) != 0 ||
	    nm_skip_blanks(text + 5, end) == text + 5)
		return NULL;
	end = memmem(text, length, "?>", 2);
	text = end ? memmem(text, (size_t)(end - text), "encoding", 8) : NULL;
	if (!text)
		return NULL;
	text = nm_skip_blanks(text + 8, end);
	if (text == end || *text != '=')
		return NULL;
	text = nm_skip_blanks(text + 1, end);
	if (text == end || (*text != '"' && *text != '\''))
		return NULL;
	const char *close = memchr(text + 1, *text, (size_t)(end - text - 1));

	if (!close)
		return NULL;
	*ret_length = (size_t)(close - text - 1);
	return text + 1;
}

/* The characters of ISO-8859-1 are the first 256 of Unicode. to: room for twice the length. */
static size_t from_latin1(const char *text, size_t length, char *to)
{
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x80)
			to[used++] = (char)(0xc0 | c >> 6);
		to[used++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	return used;
}

/* Whether the text goes on with the word. */
static bool has(const char *text, size_t length, const char *word)
{
	return length >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* to: a copy of the text, of the same length. 1 when something was changed, 0, or -EINVAL. */
static int mend_comments(const char *file, size_t length, char *to, struct nm_diags *diags)
{
	unsigned line = 1;
	bool comment = false, changed = false;

	for (size_t at = 0; at < length;) {
		const unsigned char *s = (const unsigned char *)to + at;
		size_t n = nm_utf8_length(s, length - at);

		if (!n && !comment) {
			nm_diag_error(diags, file, line,
				      "not well-formed XML: byte 0x%02x is not UTF-8 text", *s);
			return -EINVAL;
		}
		if (!n) {
			if (!changed)
				nm_diag_warn(diags, file, line,
					     "byte 0x%02x in a comment is not UTF-8 text, but read "
					     "all the same",
					     *s);
			to[at] = '?';
			changed = true;
			n = 1;
		}
		comment = comment ? !has(to + at, length - at, "-->")
				  : has(to + at, length - at, "<!--");
		line += to[at] == '\n';
		at += n;
	}
	return changed;
}

int nm_encoding_convert(const char *file, const char *text, size_t length, char **ret_text,
			size_t *ret_length, struct nm_diags *diags)
{
	size_t name_length = 0;
	const char *name = nm_encoding_find(text, length, &name_length);
	char *to = malloc(2 * length + 1);
	int r = 1;

	if (!to)
		return -ENOMEM;
	if (name && is_one_of(latin1_names, name, name_length)) {
		length = from_latin1(text, length, to);
	} else {
		memcpy(to, text, length);
		r = mend_comments(file, length, to, diags);
	}
	to[length] = '\0';
	if (r > 0) {
		*ret_text = to;
		*ret_length = length;
	} else {
		explicit_bzero(to, length); /* a password may be in it */
		free(to);
	}
	return r;
}
