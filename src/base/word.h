/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a language of ours: case is that of ASCII, whatever the locale thinks. */
#ifndef NM_BASE_WORD_H
#define NM_BASE_WORD_H

#include <stdbool.h>

char nm_lower(char c);
/* Whether two words are the same in any case. */
bool nm_same_word(const char *a, const char *b);

#endif
