/* SPDX-License-Identifier: Apache-2.0 */
/* Words of netmodel's own languages: their case is that of ASCII, in every locale. */
#ifndef NM_BASE_ASCII_H
#define NM_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

/* The small letter for one of A to Z; any other byte as it is. */
char nm_ascii_lower(char c);
/* Whether a text is there, and not empty: an option that is empty counts as not given. */
static inline bool nm_is_given(const char *text)
{
	return text && *text;
}
/* Whether two words are equal but for their case. */
bool nm_ascii_equals(const char *a, const char *b);
/* Whether n bytes, of which any may be zero, are the word in any case; `word` is in lower case. */
bool nm_ascii_is(const char *text, size_t n, const char *word);
/* The value of a hexadecimal digit, of any case; -1: it is none. */
int nm_ascii_hex(char c);
/* The length of the character at s, 0 if it is not one of UTF-8 (or is the character zero). `left`:
 * bytes from s on. */
size_t nm_utf8_length(const unsigned char *s, size_t left);
/* The first byte that cannot stand in an XML 1.0 document, however it is written (its section 2.2,
 * Char); NULL when all can. */
const char *nm_find_invalid_xml_char(const char *text);

#endif
