/* SPDX-License-Identifier: Apache-2.0 */
/* How much a text of JSON would become as a tree, found without making it. */
#ifndef NM_CONTROL_WIRE_TOKENS_H
#define NM_CONTROL_WIRE_TOKENS_H

#include <stddef.h>

/* Counts each list, object, text (names of members, too), number and word. In a text that is no
 * JSON it counts all values that a parser could have made before it noticed. Stops counting at most
 * + 1. Pure; any thread. */
size_t nm_tokens_count(const char *text, size_t size, size_t most);

#endif
