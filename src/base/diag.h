/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics: what is wrong with an input, where, and what is allowed.
 * Library rooms never print; they add to a list that the caller owns. */
#ifndef NM_BASE_DIAG_H
#define NM_BASE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum nm_severity { NM_SEV_ERROR, NM_SEV_WARNING };

enum nm_subject_kind {
	NM_SUBJECT_NONE,
	NM_SUBJECT_OPTION, /* of the command line: --name value */
	NM_SUBJECT_DEFINE, /* a parameter of the profile, set by -D name=value */
	/* a parameter of the profile, set by a variable of the environment */
	NM_SUBJECT_ENVIRONMENT,
	NM_SUBJECT_ELEMENT, /* of the profile; its words are "<flowop write>" or "<group>" */
	NM_SUBJECT_HOST,
	NM_SUBJECT_FILE,
};

/* The subject of a diagnostic. No code reads the text of a diagnostic: it finds here what the
 * diagnostic is about, and code that prints it may choose other words for the subject (struct
 * nm_wording). */
struct nm_subject {
	enum nm_subject_kind kind;
	const char *name, *value; /* either may be NULL */
	/* Its words in the text; NULL: those of nm_subject_print. */
	const char *words;
};

/* In a format: the words of the subject stand here. A format without it begins with them. */
#define NM_THE_SUBJECT "\x1f"

/* A subject as a diagnostic keeps it, with strings of its own. */
struct nm_diag_subject {
	enum nm_subject_kind kind;
	char *name, *value;
	size_t at, length; /* its words in the text; length 0: it is where a value comes from */
};

struct nm_diag {
	enum nm_severity severity;
	unsigned line;	       /* 0: not about a line */
	char *file;	       /* owned; NULL: not about a file */
	char *text;	       /* owned; one line, no final newline, without the origins */
	const char *complaint; /* in text: the complaint about the subject */
	struct nm_diag_subject *subjects;
	size_t n_subjects;
};

/* Chooses other words for subjects: into buf, and true; false: the usual ones do. NULL as a
 * wording: they all do. */
struct nm_wording {
	/* May be NULL. */
	bool (*words)(const struct nm_diag_subject *subject, void *arg, char *buf, size_t size);
	void *arg;
};

/* How many errors, and how many warnings, are kept: a hostile profile has one in each byte. */
#define NM_DIAGS_MAX 500

/* What is told of the places of a profile that are read although they are no XML. */
enum nm_form_told { NM_FORM_EACH, NM_FORM_NUMBER, NM_FORM_NOTHING };

/* Zero-initialised is empty. One thread at a time. */
struct nm_diags {
	struct nm_diag *items;
	size_t count;
	size_t capacity;
	size_t n_errors;   /* all errors, also those that are not kept */
	size_t n_warnings; /* all warnings, in the same way */
	bool lenient;	   /* set by the owner: unknown things are left out with a warning */
	enum nm_form_told form_told; /* set by the owner */
};

void nm_diags_fini(struct nm_diags *d); /* empty again; what its owner has set stays */

/* Adds a diagnostic; `file` may be NULL. Without memory it is counted, and its text dropped. In
 * place of the first one beyond NM_DIAGS_MAX stands one that says so; the others are only
 * counted. */
void nm_diag_error(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void nm_diag_warn(struct nm_diags *d, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds a diagnostic about a subject, which is copied. Returns the diagnostic, valid until the next
 * is added, or NULL when it is not kept. */
struct nm_diag *nm_diag_add(struct nm_diags *d, enum nm_severity severity, const char *file,
			    unsigned line, const struct nm_subject *subject, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
struct nm_diag *nm_diag_vadd(struct nm_diags *d, enum nm_severity severity, const char *file,
			     unsigned line, const struct nm_subject *subject, const char *fmt,
			     va_list args) __attribute__((format(printf, 6, 0)));
/* Adds the origin of a value that diag is about; diag may be NULL. Printed behind the text: "(from
 * -D a=1)". */
void nm_diag_add_origin(struct nm_diag *diag, const struct nm_subject *origin);
/* Adds a copy of a diagnostic of another list. */
void nm_diag_copy(struct nm_diags *d, const struct nm_diag *diag);
/* The first subject of that kind, or NULL. */
const struct nm_diag_subject *nm_diag_find_subject(const struct nm_diag *diag,
						   enum nm_subject_kind kind);
/* Whether both make one complaint about one value, at two elements of one file. */
bool nm_diag_is_repeated(const struct nm_diag *diag, const struct nm_diag *earlier);

/* The usual words: "--port 5", "-D size=1k", "the environment, size=1k"; of others the name. */
void nm_subject_print(enum nm_subject_kind kind, const char *name, const char *value, char *buf,
		      size_t size);

/* The text with its origins behind it, into buf (always terminated). */
void nm_diag_print(const struct nm_diag *diag, const struct nm_wording *wording, char *buf,
		   size_t size);
/* The place, and the text of nm_diag_print: "file:line: error: text" (always terminated). */
void nm_diag_format_in(const struct nm_diag *diag, const struct nm_wording *wording, char *buf,
		       size_t size);
/* In the usual words. */
void nm_diag_format(const struct nm_diag *diag, char *buf, size_t size);

/* Bytes of the control character that the text begins with, 0 when it begins with none. */
size_t nm_control_length(const char *text);
/* Makes one line of a text that may hold anything: nothing in it ends the line or steers a
 * terminal. Line ends at the end are cut, all other control characters become spaces. */
void nm_make_plain(char *text);

/* The candidate nearest to `word` (edit distance small enough to be a typing mistake), or NULL. */
const char *nm_nearest(const char *word, const char *const *candidates, size_t count);

#endif
