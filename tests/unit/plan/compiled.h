/* SPDX-License-Identifier: Apache-2.0 */
/* A profile text compiled, with what was said about it. */
#ifndef NM_TESTS_UNIT_PLAN_COMPILED_H
#define NM_TESTS_UNIT_PLAN_COMPILED_H

#include "base/diag.h"
#include "plan/plan.h"
#include "profile/tree.h"

struct compiled {
	struct nm_diags diags;
	struct nm_node *root; /* owned; NULL when the text is no XML */
	struct nm_plan *plan; /* owned; NULL when there are errors */
};

/* Line 1 holds the beginning, so the body begins in line 2. */
#define GROUP(body)  "<profile><group>\n" body "</group></profile>\n"
#define GROUPS(body) "<profile>\n" body "</profile>\n"

/* Compiles the master's side; the file is called t.xml. */
struct compiled compile(const char *text);
/* The same; the test fails unless it is right, without a warning. */
struct compiled compile_good(const char *text);
/* The mirror on a host, owned by the caller; the test fails unless there is one. */
struct nm_plan *mirror(const struct compiled *compiled, const char *host);
void compiled_fini(struct compiled *compiled);

/* All that was said, a line each; owned by the caller. */
char *said(const struct nm_diags *diags);

const struct nm_instr *instr_at(const struct nm_plan *plan, uint32_t group, uint32_t index);
/* The names of a phase's flowops: "write read", "" for none; owned by the caller. */
char *program(const struct nm_plan *plan, uint32_t group, uint32_t phase);
void assert_program(const struct nm_plan *plan, uint32_t group, uint32_t phase,
		    const char *expected);

#endif
