/* SPDX-License-Identifier: Apache-2.0 */
#include "base/word.h"

char nm_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool nm_same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (nm_lower(*a) != nm_lower(*b))
			return false;
	return *a == *b;
}
