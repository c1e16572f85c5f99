/* SPDX-License-Identifier: Apache-2.0 */
/* The two passes of normalise.c, and the parts that they share (rewriting.c). */
#ifndef NM_PROFILE_LEGACY_NORMALISE_PRIV_H
#define NM_PROFILE_LEGACY_NORMALISE_PRIV_H

#include <stdbool.h>
#include <stddef.h>

/* Text that grows. */
struct nm_text {
	char *data; /* owned */
	size_t used, capacity;
	bool failed; /* out of memory; further additions do nothing */
};

/* Frees it, which may have the password of a key in it. */
void nm_text_fini(struct nm_text *text);
/* Appends bytes; out of memory is noted in `failed`. */
void nm_text_put(struct nm_text *text, const char *data, size_t length);
/* Appends a text that ends with a zero. */
void nm_text_put_word(struct nm_text *text, const char *word);
/* Appends only the line ends of data: text that is left out keeps its lines. */
void nm_text_put_lines(struct nm_text *text, const char *data, size_t length);

#define NM_MAX_REMARKS 64 /* of a pass; more are only counted */

struct nm_remark {
	unsigned line;
	char *text; /* owned; NULL when out of memory */
};

struct nm_remarks {
	struct nm_remark items[NM_MAX_REMARKS]; /* by line */
	size_t count;				/* all, also those that are not in items */
};

/* Notes a warning about a line, in the format of printf. */
void nm_remark(struct nm_remarks *remarks, unsigned line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The elements whose order is known, by how deep they are. Only elements in this order can be
 * mended. */
struct nm_known {
	const char *name;
	int level;
};
extern const struct nm_known nm_known_elements[];
#define NM_N_KNOWN   6
#define NM_NOT_KNOWN NM_N_KNOWN

enum nm_tag_kind { NM_TAG_OPEN, NM_TAG_EMPTY, NM_TAG_CLOSE };

struct nm_tag {
	enum nm_tag_kind kind;
	size_t element; /* of nm_known_elements, or NM_NOT_KNOWN */
	size_t at, end; /* in the text of the first pass: its '<', and behind its '>' */
	size_t name, name_length;
	unsigned line;
};

/* The result of the first pass. */
struct nm_tags {
	struct nm_text text;
	struct nm_tag *items; /* owned */
	size_t count, capacity;
	unsigned last_line; /* that is not blank */
	bool broken;	    /* the text behind the last of the tags is not understood */
	struct nm_remarks remarks;
};

/* The first pass (tags.c): mends the inside of tags, comments and declarations. */
void nm_tags_scan(struct nm_tags *tags, const char *text, size_t length);
/* The second pass (nesting.c): mends the nesting of tags, unless it is right as it is. Returns
 * whether it made ret_text. */
bool nm_nesting_mend(const struct nm_tags *tags, struct nm_text *ret_text,
		     struct nm_remarks *ret_remarks);

#endif
