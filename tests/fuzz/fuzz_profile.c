/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: any bytes give a plan or at least one error, and what was made can be printed and read
 * again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "plan/params.h"
#include "plan/plan.h"
#include "profile/legacy/normalise.h"
#include "profile/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
	if (!holds)
		abort();
}

/* What goes to a slave: the substituted profile as text. It must be read as the same again. */
static void print_and_read(const struct nm_node *root)
{
	struct nm_diags diags = {0};
	char *text = nm_profile_print(root);

	demand(text != NULL);
	struct nm_node *again = nm_profile_parse("again", text, strlen(text), &diags);
	/* The only reason to refuse what we wrote: escapes made it longer than what is read. */
	demand(again != NULL || strlen(text) > NM_PROFILE_MAX_BYTES);
	if (again) {
		char *same = nm_profile_print(again);

		demand(same && strcmp(text, same) == 0);
		free(same);
	}
	nm_node_free(again);
	nm_diags_fini(&diags);
	free(text);
}

static size_t count_lines(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

/* What was mended has a warning, the same lines, and nothing left to mend. */
static void mend_twice(const char *text, size_t size)
{
	struct nm_diags diags = {0}, none = {0};
	char *mended = NULL, *again = NULL;
	size_t length = 0;
	int r = nm_profile_normalise("fuzz", text, size, &mended, &length, &diags);

	demand(r == (diags.count > 0) && diags.n_errors == 0);
	if (r) {
		demand(count_lines(text, size) == count_lines(mended, length));
		demand(nm_profile_normalise("again", mended, length, &again, &length, &none) == 0);
	}
	free(mended);
	free(again);
	nm_diags_fini(&diags);
	nm_diags_fini(&none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct nm_param_values defaults = {.lookup = NULL};
	struct nm_params params = {0};
	struct nm_diags diags = {0};

	if (size && !memchr(data, '\0', size))
		mend_twice((const char *)data, size);
	struct nm_node *root = nm_profile_parse("fuzz", (const char *)data, size, &diags);

	demand(root != NULL || diags.n_errors > 0);
	if (root) {
		nm_params_apply(root, "fuzz", &defaults, &params, &diags);
		print_and_read(root);
		struct nm_plan *plan = nm_plan_compile(root, "fuzz", &diags);
		demand(plan != NULL || diags.n_errors > 0);
		free(plan ? nm_plan_dump(plan) : NULL);
		nm_plan_free(plan);
	}
	nm_params_fini(&params);
	nm_node_free(root);
	nm_diags_fini(&diags);
	return 0;
}
