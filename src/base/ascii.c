/* SPDX-License-Identifier: Apache-2.0 */
/* Compares words in any case, and finds the bytes of a text that are not UTF-8 or cannot stand in
 * XML. */
#include "base/ascii.h"

#include <string.h>

char nm_ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

int nm_ascii_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool nm_ascii_equals(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (nm_ascii_lower(*a) != nm_ascii_lower(*b))
			return false;
	return *a == *b;
}

bool nm_ascii_is(const char *text, size_t n, const char *word)
{
	size_t i = 0;

	while (i < n && word[i] && nm_ascii_lower(text[i]) == word[i])
		i++;
	return i == n && !word[i];
}

size_t nm_utf8_length(const unsigned char *s, size_t left)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (length <= 1)
		return s[0] ? length : 0;
	if (s[0] >= 0xf8 || length > left)
		return 0;
	unsigned code = s[0] & (0xffu >> (length + 1));

	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

const char *nm_find_invalid_xml_char(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strlen(text);

	while (*s) {
		size_t length = nm_utf8_length(s, left);
		/* U+FFFE and U+FFFF */
		bool no_character = length == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe;

		if (!length || no_character || (*s < ' ' && *s != '\t' && *s != '\n' && *s != '\r'))
			return (const char *)s;
		s += length;
		left -= length;
	}
	return NULL;
}
