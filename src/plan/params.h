/* SPDX-License-Identifier: Apache-2.0 */
/* Declared parameters of a profile and the substitution of $name and ${name}. */
#ifndef NM_PLAN_PARAMS_H
#define NM_PLAN_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"

struct nm_diags;
struct nm_node;

/* One definition, -D name=value. */
struct nm_define {
	const char *name, *value; /* borrowed */
};

enum nm_param_source { NM_PARAM_DEFAULT, NM_PARAM_ENVIRONMENT, NM_PARAM_DEFINED };

struct nm_param {
	char *name;
	enum nm_type type;
	enum nm_reading reading; /* of its value */
	char *def;		 /* NULL: no default, a value must be given */
	char *help;		 /* may be NULL */
	char *value;		 /* the value in force; NULL while there is none */
	/* stands in for a wrong value, which is so reported once; NULL: the value is right */
	char *stand_in;
	enum nm_param_source source;
	unsigned line; /* 0: not declared, only used */
	bool used;     /* something in the profile refers to it */
	bool missing;  /* used without a value */
};

/* Stands in the tree for a value that is missing, which has been reported: no XML text can have it,
 * and no other error is reported about a value with it. */
#define NM_NO_VALUE "\x01"

struct nm_params {
	struct nm_param *items;
	size_t count;
	enum nm_reading reading; /* of the whole profile */
};

/* Looks a name up outside the profile; returns a borrowed value or NULL. cli passes one over
 * getenv. */
typedef const char *(*nm_lookup_fn)(const char *name, void *arg);

/* Where values come from; all borrowed during a call. */
struct nm_param_values {
	const struct nm_define *defines;
	size_t n_defines;
	nm_lookup_fn lookup; /* may be NULL */
	void *arg;	     /* of lookup */
	bool as_uperf;	     /* values are read as uperf reads them, whatever the profile says */
};

/* Reads <param> elements, finds values (defines, then lookup, then default), checks them by type,
 * and replaces every $name and ${name} in the attribute values of the tree ("$$" is a dollar sign).
 * Elements <param> are taken out of the tree, so what remains is the substituted profile. All
 * problems go to diags (also defines that nothing uses, with a hint). Undeclared names are looked
 * up too (uperf's profiles declare nothing), with uperf's rules beside ours: among the defines as
 * written, then in lower case, and outside in lower case, then as written.
 *
 * A profile without any declaration is uperf's, unless it says otherwise (units="..."): the root
 * then gets units="uperf", for whoever reads what remains. */
void nm_params_apply(struct nm_node *root, const char *file, const struct nm_param_values *values,
		     struct nm_params *ret_params, struct nm_diags *diags);
/* Only the declarations with the values in force, missing ones allowed: for --params. Short forms
 * in the tree are written out (shorthand.h); nm_params_apply does that, too. */
void nm_params_list(struct nm_node *root, const char *file, const struct nm_param_values *values,
		    struct nm_params *ret_params, struct nm_diags *diags);
/* One phrase: the profile has no parameter of that name, and which one is near. */
void nm_params_unknown(const struct nm_params *params, const char *name, char *why,
		       size_t why_size);
void nm_params_fini(struct nm_params *params);

#endif
