/* SPDX-License-Identifier: Apache-2.0 */
/* The standard parameters, declared once: choices that many profiles leave to their users. A
 * profile asks for them by name, in <params names="...">. */
#ifndef NM_PLAN_STANDARD_H
#define NM_PLAN_STANDARD_H

#include "base/opt.h"

struct nm_standard_param {
	const char *name;
	/* The options that it sets, as in <param sets="...">; NULL: none, a profile writes $name
	 * where it wants it. */
	const char *option;
	enum nm_type type;   /* without an option, which has a type of its own */
	const char *choices; /* of an enum without an option */
	const char *def, *help;
	const char *flag; /* without which it has no effect; NULL: it always has */
};

extern const struct nm_standard_param nm_standard_params[]; /* ends with a NULL name */

/* NULL when there is none of that name. */
const struct nm_standard_param *nm_standard_param_find(const char *name);

#endif
