/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a profile as UTF-8: the code behind this knows no other encoding, libxml2 least of
 * all (its converters write their errors to stderr). */
#ifndef NM_PROFILE_ENCODING_H
#define NM_PROFILE_ENCODING_H

#include <stdbool.h>
#include <stddef.h>

struct nm_diags;

/* The first character that is no blank, or end. */
const char *nm_skip_blanks(const char *text, const char *end);
/* The encoding that an XML declaration names, within the text; NULL: none. */
const char *nm_encoding_find(const char *text, size_t length, size_t *ret_length);
bool nm_encoding_is_known(const char *name, size_t length);
/* A text that is declared as ISO-8859-1 becomes UTF-8; in comments of any other text a byte that is
 * no UTF-8 becomes "?", with a warning. 1 with an owned *ret_text, 0 when nothing is to be changed,
 * -ENOMEM, or -EINVAL with an error in diags. */
int nm_encoding_convert(const char *file, const char *text, size_t length, char **ret_text,
			size_t *ret_length, struct nm_diags *diags);

#endif
