/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a substituted tree to the plan of one side: it is read, checked, and lowered when it is
 * right. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/ir.h"
#include "plan/plan.h"
#include "plan/posts.h"

/* The number of a host in the ir; NULL is the master: NM_NO_HOST. 0 or -ENOENT. */
static int find_host(const struct nm_ir *ir, const char *host, uint32_t *ret_number)
{
	*ret_number = NM_NO_HOST;
	if (!host)
		return 0;
	for (uint32_t h = 0; h < ir->n_hosts; h++) {
		if (strcmp(ir->hosts[h], host) == 0) {
			*ret_number = h;
			return 0;
		}
	}
	return -ENOENT;
}

static struct nm_plan *compile(const struct nm_node *root, const char *file, const char *host,
			       struct nm_diags *diags)
{
	size_t errors = diags->n_errors;
	struct nm_plan *plan = calloc(1, sizeof(*plan));
	struct nm_ir ir = {.file = file, .diags = diags, .arena = nm_arena_new()};
	uint32_t number;

	if (!plan || !ir.arena) {
		nm_diag_error(diags, file, 0, "out of memory");
		free(plan);
		nm_arena_free(ir.arena);
		return NULL;
	}
	plan->arena = ir.arena;
	nm_ir_read(&ir, root);
	nm_ir_check(&ir);
	bool right = diags->n_errors == errors && !ir.lacks_values;

	/* Only the master has the files, and only a plan that is right otherwise is worth the
	 * search. */
	if (!host && right)
		nm_ir_find_files(&ir);
	right &= diags->n_errors == errors;
	if (right) {
		if (find_host(&ir, host, &number) < 0)
			nm_diag_error(diags, file, 0, "the profile names no host \"%s\"", host);
		else if (nm_ir_lower(&ir, number, plan) < 0)
			nm_diag_error(diags, file, 0, "out of memory");
		else if (!host)
			nm_plan_check_posts(plan, &ir);
		if (!host)
			plan->apart = nm_ir_tell_apart(&ir, &plan->apart_line);
	}
	nm_ir_fini(&ir);
	return right && diags->n_errors == errors ? plan : nm_plan_free(plan);
}

struct nm_plan *nm_plan_compile(const struct nm_node *root, const char *file,
				struct nm_diags *diags)
{
	return compile(root, file, NULL, diags);
}

struct nm_plan *nm_plan_compile_mirror(const struct nm_node *root, const char *file,
				       const char *host, struct nm_diags *diags)
{
	struct nm_diags own = {.lenient = diags->lenient};
	struct nm_plan *plan = compile(root, file, host, &own);

	/* Warnings are about the profile: the master's plan has given them already. */
	for (size_t i = 0; i < own.count; i++)
		if (own.items[i].severity == NM_SEV_ERROR)
			nm_diag_error(diags, own.items[i].file, own.items[i].line, "%s",
				      own.items[i].text);
	if (!plan && !own.count)
		nm_diag_error(diags, file, 0, "out of memory");
	nm_diags_fini(&own);
	return plan;
}
