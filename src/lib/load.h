/* SPDX-License-Identifier: Apache-2.0 */
/* A profile on its way from a file to a plan that can be run, for the command and the library
 * alike. */
#ifndef NM_LIB_LOAD_H
#define NM_LIB_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "control/master/run.h"
#include "plan/params.h"
#include "plan/plan.h"
#include "profile/tree.h"
#include "report/requirement.h"

/* Zero-initialised is empty. Owns everything in it. */
struct nm_loaded {
	char *name; /* in messages */
	char *path; /* NULL: from memory */
	char *text;
	size_t length;
	struct nm_node *root; /* substituted, once compiled */
	struct nm_params params;
	struct nm_plan *plan; /* the master's */
	/* Set by the caller once the profile is read: how many intervals measured transactions with
	 * a duration take (--windows). 0: the profile says how long. */
	uint64_t windows, interval_ns;
	struct nm_warmup warmup; /* set likewise */
	const char *warmup_text; /* as written; borrowed */
};

/* Reads a file, or copies a text. 0, or -errno with an error in diags. The profile that was loaded
 * before is gone. */
int nm_loaded_read(struct nm_loaded *loaded, const char *path, struct nm_diags *diags);
int nm_loaded_copy(struct nm_loaded *loaded, const char *name, const char *text, size_t length,
		   struct nm_diags *diags);
/* Parses, sets parameters, compiles. 0, or -EINVAL with errors in diags. May be called again with
 * other values. */
int nm_loaded_compile(struct nm_loaded *loaded, const struct nm_param_values *values,
		      struct nm_diags *diags);
/* Parses and finds the parameters only: 0, or -EINVAL with errors in diags. */
int nm_loaded_params(struct nm_loaded *loaded, const struct nm_param_values *values,
		     struct nm_diags *diags);
/* Adds what the compiled profile requires of its result (report/requirement.h). 0, or -EINVAL with
 * an error in diags for each <require> that is wrong. */
int nm_loaded_requirements(const struct nm_loaded *loaded, struct nm_requirements *requirements,
			   struct nm_diags *diags);
/* The compiled profile as nm_run takes it; borrows from loaded. */
struct nm_job nm_loaded_job(const struct nm_loaded *loaded);
void nm_loaded_fini(struct nm_loaded *loaded);

#endif
