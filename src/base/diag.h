/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics: what is wrong with an input, where, and what is allowed.
 * Library rooms never print; they add to a list that the caller owns. */
#ifndef NM_BASE_DIAG_H
#define NM_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>

enum nm_severity { NM_SEV_ERROR, NM_SEV_WARNING };

struct nm_diag {
	enum nm_severity severity;
	unsigned line; /* 0: not about a line */
	char *file;    /* owned; NULL: not about a file */
	char *text;    /* owned; one line, no final newline */
};

/* Zero-initialised is empty. One thread at a time. */
struct nm_diags {
	struct nm_diag *items;
	size_t count;
	size_t capacity;
	size_t n_errors;
	bool lenient; /* set by the owner: what nobody knows is left out with a warning */
};

void nm_diags_fini(struct nm_diags *d); /* empty again; `lenient` stays */

/* Adds one; `file` may be NULL. Running out of memory counts the error and drops its text. */
void nm_diag_error(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* About a word that nobody knows: an error, or with `lenient` a warning, and then the word is left out. */
void nm_diag_unknown(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void nm_diag_warn(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Writes "file:line: error: text" into buf (always terminated). */
void nm_diag_format(const struct nm_diag *diag, char *buf, size_t size);

/* Bytes of the control character that the text begins with, 0 when it begins with none. */
size_t nm_control_length(const char *text);
/* Makes one line of a text that may hold anything: nothing in it ends the line or steers a terminal. Line ends at the
 * end are cut, all other control characters become spaces. */
void nm_make_plain(char *text);

/* The candidate nearest to `word` (edit distance small enough to be a typing mistake), or NULL. */
const char *nm_nearest(const char *word, const char *const *candidates, size_t count);

#endif
