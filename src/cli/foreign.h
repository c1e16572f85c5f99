/* SPDX-License-Identifier: Apache-2.0 */
/* Words of other tools' command lines: what to type here instead. */
#ifndef NM_CLI_FOREIGN_H
#define NM_CLI_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"

/* The forms of a word's value, as bits. */
enum nm_foreign_form {
	NM_FOREIGN_NOTHING = 1 << 0,
	NM_FOREIGN_NUMBER = 1 << 1, /* "10" */
	NM_FOREIGN_UNIT = 1 << 2,   /* "30s" */
	NM_FOREIGN_TEXT = 1 << 3,
	NM_FOREIGN_ANY = (1 << 4) - 1,
};

struct nm_foreign_meaning {
	const char *words;   /* a noun: "the duration" */
	enum nm_type type;   /* of its value; FLAG: it has none here */
	const char *example; /* of a value */
	const char *here;    /* see foreign.def */
};

/* A row of the table: one word, and its meaning with values of some forms. */
struct nm_foreign {
	const char *word;  /* with its dashes */
	const char *tools; /* "": of no tool in particular */
	unsigned forms;
	const struct nm_foreign_meaning *meaning;
};

/* The rows of the table; NULL behind the last. */
const struct nm_foreign *nm_foreign_at(size_t index);
/* Whether the first `length` characters of a name, without its dashes, are a long word of the
 * table. */
bool nm_foreign_has_name(const char *name, size_t length);
/* Writes what to type instead of a word (with its dashes) and its value (NULL: none), as phrases
 * into buf; for the parameters of a profile (NULL: none is known). False: the word means nothing
 * with such a value. */
bool nm_foreign_hint(const char *word, const char *value, const char *profile, char *buf,
		     size_t size);

#endif
