/* SPDX-License-Identifier: Apache-2.0 */
/* What diagnostics say, as the command prints it. */
#ifndef NM_TESTS_UNIT_CLI_SAID_H
#define NM_TESTS_UNIT_CLI_SAID_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

/* All of them, a line each, in these words; then there are none. */
static inline const char *said(struct nm_diags *diags, const struct nm_wording *wording)
{
	static char text[8192];
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < diags->count && used < sizeof text - 1; i++) {
		char line[2048];

		nm_diag_format_in(&diags->items[i], wording, line, sizeof line);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", line);
	}
	nm_diags_fini(diags);
	return text;
}

static inline int count_words(const char *const *words)
{
	int count = 0;

	while (words[count])
		count++;
	return count;
}

static inline void ck_assert_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in:\n%s", part, text);
}

#endif
