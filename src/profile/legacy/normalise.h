/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that uperf reads and XML does not allow, made into XML. */
#ifndef NM_PROFILE_LEGACY_NORMALISE_H
#define NM_PROFILE_LEGACY_NORMALISE_H

#include <stddef.h>

struct nm_diags;

/* Rewrites `text` (UTF-8 without zero bytes; borrowed) where its meaning is plain although it is no
 * well-formed XML: end tags missing or too many, no <profile>, values without quotes, and the like.
 * Each such place gets one warning with its line, which names the text found and its reading. The
 * text is not judged here: a place that cannot be mended is left as it is, for the parser to
 * refuse. No line moves.
 *
 * Returns 1 and the new text (terminated, owned by the caller: free), 0 when there is nothing to
 * change, or -ENOMEM. */
int nm_profile_normalise(const char *file, const char *text, size_t length, char **ret_text,
			 size_t *ret_length, struct nm_diags *diags);

#endif
