/* SPDX-License-Identifier: Apache-2.0 */
/* Typed option tables. An option is declared once, beside the code that uses it; the parser, the
 * checks, --describe, the schema, the manual and the hints all walk these tables. */
#ifndef NM_BASE_OPT_H
#define NM_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/law.h"
#include "base/units.h"

struct nm_diags;

enum nm_type {
	NM_TYPE_FLAG,		/* bool; no value, or yes/no */
	NM_TYPE_COUNT,		/* uint64_t */
	NM_TYPE_COUNTS,		/* struct nm_law of counts: a count, or how to draw it */
	NM_TYPE_INTEGER,	/* uint64_t, written without a suffix */
	NM_TYPE_SIZE,		/* uint64_t bytes */
	NM_TYPE_SIZES,		/* struct nm_law of bytes: a size, or how to draw it */
	NM_TYPE_DURATION,	/* uint64_t ns */
	NM_TYPE_DURATIONS,	/* struct nm_law of ns: a duration, or how to draw it */
	NM_TYPE_DURATION_RANGE, /* struct nm_duration_range */
	NM_TYPE_RATE,		/* double, events per second */
	NM_TYPE_BITRATE,	/* double, bits per second */
	NM_TYPE_PORT,		/* uint64_t, 0..65535 */
	NM_TYPE_STRING,		/* char *, owned by the option struct */
	/* char *, owned: name, IPv4, IPv6, "local"; an address in brackets is kept without them,
	 * unless a port is behind it */
	NM_TYPE_HOST,
	NM_TYPE_ENUM, /* int, index into choices */
	NM_TYPE__COUNT
};

/* Ascending; one duration is both. */
struct nm_duration_range {
	uint64_t from_ns, to_ns;
};

#define NM_OPT_UNLESS 2u

struct nm_opt {
	const char *name;
	enum nm_type type;
	size_t offset; /* of the field in the option struct */
	/* COUNT(S), INTEGER, SIZE(S), DURATION(S) and its RANGE in ns, PORT; both 0: any. RATE,
	 * BITRATE: a min refuses 0. */
	uint64_t min, max;
	const char *def;	    /* default as text, NULL: unset (zero) */
	const char *alias;	    /* another accepted name, or NULL */
	const char *const *choices; /* ENUM: NULL-terminated words */
	const char *help;	    /* one sentence, lower case, no final dot */
	bool required;
	/* Other options of the table, strings: when one is given, this is not required. */
	const char *unless[NM_OPT_UNLESS];
	bool secret;	/* STRING: wiped as soon as nobody needs it any more */
	bool is_file;	/* STRING: the path of a file that is read */
	bool with_port; /* HOST: a port may stand behind it, and is kept (base/host_port.h) */
	/* FLAG: offset of a bool that tells whether it was given, where its default depends on
	 * other options: then an empty value is none. 0: nobody asks. */
	size_t given;
};
/* An entry of a table: its type, without NM_TYPE_, the option struct and its field, the option's
 * name, and what else there is to say. */
#define NM_OPT(kind, owner, field, word, ...)                                                      \
	{                                                                                          \
		.name = (word), .type = NM_TYPE_##kind, .offset = offsetof(owner, field),          \
		__VA_ARGS__                                                                        \
	}
/* A table ends with an entry whose name is NULL. */
#define NM_OPT_END                                                                                 \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* The word users see for a type: "size", "duration", ... and what is allowed, in one phrase. */
const char *nm_type_name(enum nm_type type);
const char *nm_type_allowed(enum nm_type type);
int nm_type_from_name(const char *name, enum nm_type *ret_type); /* 0 or -EINVAL */
/* Whether values of the type are laws, and then of what. */
bool nm_type_is_law(enum nm_type type, enum nm_law_of *ret_of);

/* Looks a name (or alias) up in a table, in any case; NULL if absent. */
const struct nm_opt *nm_opt_find(const struct nm_opt *table, const char *name);

/* Parses one value into base+offset, in netmodel's reading. On failure returns -EINVAL and writes
 * one phrase into why: the expected form or range, e.g. "not a size: a number and an optional k, m,
 * g or t" or "must be 1 to 65535". On success why is empty, or a phrase to warn with: the value was
 * taken, maybe not as its writer meant it. */
int nm_opt_set(const struct nm_opt *opt, void *base, const char *value, char *why, size_t why_size);

/* The same in the reading that the caller names. */
int nm_opt_read(const struct nm_opt *opt, enum nm_reading reading, void *base, const char *value,
		char *why, size_t why_size);

/* The complaint about several options that stand beside each other, and the one of them whose value
 * is wrong. */
struct nm_why {
	const char *option; /* static; NULL: none alone */
	char text[512];	    /* names the option, too */
};
/* Returns -EINVAL. */
int nm_why_set(struct nm_why *why, const char *option, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Checks a value against a type alone (used for declared parameters). Same contract as nm_opt_read.
 */
int nm_type_check(enum nm_type type, enum nm_reading reading, const char *value, char *why,
		  size_t why_size);

/* Sets all defaults of a table in base (which must be zeroed); -ENOMEM or 0. Table defaults are
 * valid by test. */
int nm_opts_defaults(const struct nm_opt *table, void *base);
/* Frees the strings and the laws of an option struct. */
void nm_opts_fini(const struct nm_opt *table, void *base);
/* Wipes the values of options that are secrets; they are empty then. */
void nm_opts_wipe_secrets(const struct nm_opt *table, void *base);

#endif
