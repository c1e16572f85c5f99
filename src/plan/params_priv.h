/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a profile while they are read: what their declaration (params.c) and their use
 * (substitute.c) need of each other. A function that runs out of memory notes that in `failed`. */
#ifndef NM_PLAN_PARAMS_PRIV_H
#define NM_PLAN_PARAMS_PRIV_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

#include "plan/params.h"

struct nm_attr;
struct nm_diags;
struct nm_node;

#define NM_PARAM_NAME_LENGTH 63
#define NM_PARAM_STAND_IN    "1"  /* a value of almost every type */
#define NM_PARAM_MAX	     4096 /* in a profile, declared or only used */

/* A name that is used and has no value. */
struct nm_param_missing {
	char *name;
	char *message; /* for the first, in case it is the only one; NULL for others */
	unsigned line; /* of the first use */
};

struct nm_params_context {
	const char *file;
	const struct nm_define *defines;
	size_t n_defines;
	nm_lookup_fn lookup;
	void *lookup_arg;
	struct nm_params *params;
	struct nm_diags *diags;
	bool as_uperf;
	bool *used;			  /* by define */
	struct nm_param_missing *missing; /* in the order of their first use */
	size_t n_missing;
	size_t total; /* bytes of all values with parameters, after these are put in */
	/* Values are too large or parameters too many, as reported: no more are put in. */
	bool gave_up;
	bool apply;  /* missing values are errors */
	bool failed; /* out of memory */
};

static inline bool nm_is_param_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether a parameter may have that name. */
static inline bool nm_param_is_name(const char *text)
{
	size_t n = 0;

	while (nm_is_param_name_char(text[n]))
		n++;
	return n && !text[n] && n <= NM_PARAM_NAME_LENGTH && !isdigit((unsigned char)*text);
}

/* param.c. NULL when there is none. A define that is found counts as used; of several the last one
 * wins. */
struct nm_param *nm_param_find(const struct nm_params *params, const char *name);
const char *nm_param_define(struct nm_params_context *c, const char *name);
/* Adds a name without a value, for an element at the line, and declares nothing yet. NULL when out
 * of memory, or when there are NM_PARAM_MAX already, which is reported once. */
struct nm_param *nm_param_add(struct nm_params_context *c, const char *name, unsigned line);
/* Where a value comes from, in messages. */
const char *nm_param_source_text(enum nm_param_source source);
/* `line`: of the element that asks for the value, in messages. */
void nm_param_set(struct nm_params_context *c, struct nm_param *param, const char *value,
		  enum nm_param_source source, unsigned line);

/* substitute.c: the value with all names replaced, owned by the caller; NULL when out of memory.
 * NM_NO_VALUE instead of one that would be longer than NM_PROFILE_MAX_VALUE, or with all others
 * longer than NM_PROFILE_MAX_BYTES. */
char *nm_param_expand(struct nm_params_context *c, const struct nm_node *node,
		      const struct nm_attr *attr);
/* Puts the expanded value in place of the old one. */
void nm_param_substitute(struct nm_params_context *c, const struct nm_node *node,
			 struct nm_attr *attr);
/* Reports the names that are used and have no value. */
void nm_param_tell_missing(struct nm_params_context *c);
void nm_param_forget_missing(struct nm_params_context *c);

#endif
