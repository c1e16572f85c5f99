/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: any bytes give a plan or at least one error, and what was made can be printed and read
 * again. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "fuzz.h"
#include "flowop/flowop.h"
#include "plan/elements.h"
#include "plan/params.h"
#include "plan/plan.h"
#include "profile/legacy/normalise.h"
#include "profile/tree.h"

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
		/* With an error it goes nowhere, and may hold what stands for a missing value. */
		if (!diags.n_errors)
			fuzz_print_and_read(root);
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

/* --- changes that leave it a profile --- */

/* The tag that a place is in or before, if there is one. */
static size_t find_tag(const uint8_t *data, size_t size, size_t at, size_t *ret_length)
{
	while (at < size && data[at] != '<')
		at++;
	const uint8_t *end = at < size ? memchr(data + at, '>', size - at) : NULL;

	*ret_length = end ? (size_t)(end - (data + at)) + 1 : 0;
	return at;
}

static size_t copy_tag(uint8_t *data, size_t size, size_t max_size, unsigned *seed)
{
	size_t length, at = find_tag(data, size, pick(seed, size), &length);
	char *tag = strndup((const char *)data + at, length);

	if (tag)
		size = fuzz_splice(data, size, max_size,
				   find_tag(data, size, pick(seed, size), &at), 0, tag,
				   strlen(tag));
	free(tag);
	return size;
}

static const char *any_attribute(unsigned *seed)
{
	size_t n = 0, n_attrs = 0;

	while (nm_elements[n].name)
		n++;
	const struct nm_opt *attrs = nm_elements[pick(seed, n)].attrs;

	while (attrs[n_attrs].name)
		n_attrs++;
	return n_attrs ? attrs[pick(seed, n_attrs)].name : "none";
}

/* Into a tag, so that it becomes one of its attributes or options. */
static size_t add_attribute(uint8_t *data, size_t size, size_t max_size, unsigned *seed)
{
	static const char *const values[] = {
		"1",  "0",    "2",	  "1k",	     "10ms", "99999999999",
		"$a", "spin", "io_uring", "poisson", "yes",  "rand(1,3)",
	};
	char text[128];
	size_t length, at = find_tag(data, size, pick(seed, size), &length);
	size_t blank = at;

	while (blank < at + length && data[blank] != ' ')
		blank++;
	if (blank == at + length)
		return size;
	snprintf(text, sizeof text, " %s=\"%s\"", any_attribute(seed),
		 values[pick(seed, sizeof values / sizeof *values)]);
	return fuzz_splice(data, size, max_size, blank, 0, text, strlen(text));
}

static size_t add_element(uint8_t *data, size_t size, size_t max_size, unsigned *seed)
{
	static const char *const around[][2] = {
		{"", ""},
		{"<mix>", "</mix>"},
		{"<sequence count=\"2\">", "</sequence>"},
		{"</transaction><transaction>", ""},
	};
	const char *const *in = around[pick(seed, sizeof around / sizeof *around)];
	char text[128];
	size_t n = 0, length, at = find_tag(data, size, pick(seed, size), &length);

	while (nm_flowops[n])
		n++;
	const char *flowop = nm_flowops[pick(seed, n)]->name;

	snprintf(text, sizeof text, "%s<flowop type=\"%s\" options=\"size=1 remotehost=local\"/>%s",
		 in[0], flowop, in[1]);
	return fuzz_splice(data, size, max_size, at, 0, text, strlen(text));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size_t length, at;

	if (size == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	switch (pick(&seed, 8)) {
	case 0:
		return copy_tag(data, size, max_size, &seed);
	case 1:
		at = find_tag(data, size, pick(&seed, size), &length);
		return fuzz_splice(data, size, max_size, at, length, "", 0);
	case 2:
	case 3:
		return add_attribute(data, size, max_size, &seed);
	case 4:
		return add_element(data, size, max_size, &seed);
	default:
		return LLVMFuzzerMutate(data, size, max_size);
	}
}
