/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters: NAME=VALUE lines as -D gives them, an empty line, and a profile. What comes out is
 * within the limits of what is read, and is read as the same again. */
#include <string.h>

#include "base/diag.h"
#include "fuzz.h"
#include "plan/params.h"
#include "plan/params_priv.h"
#include "plan/plan.h"
#include "profile/tree.h"

#define MAX_DEFINES 8

/* A variable of the environment has its own name as value; some have none. */
static const char *lookup(const char *name, void *arg)
{
	(void)arg;
	return name[0] >= 'A' && name[0] <= 'Z' ? name : NULL;
}

/* Cuts the lines before the first empty one into names and values. What follows it. */
static char *read_defines(char *text, struct nm_define *defines, size_t *ret_count)
{
	*ret_count = 0;
	while (*text && *text != '\n' && *text != '<') {
		char *end = strchr(text, '\n'), *value = strchr(text, '=');

		if (!end || !value || value > end || *ret_count == MAX_DEFINES)
			break;
		*end = *value = '\0';
		defines[(*ret_count)++] = (struct nm_define){.name = text, .value = value + 1};
		text = end + 1;
	}
	return text;
}

static void check_values(const struct nm_node *node)
{
	for (size_t i = 0; i < node->n_attrs; i++)
		demand(strlen(node->attrs[i].value) <= NM_PROFILE_MAX_VALUE);
	for (size_t i = 0; i < node->n_children; i++)
		check_values(node->children[i]);
}

static void apply(const char *profile, const struct nm_param_values *values, int lists)
{
	struct nm_params params = {0};
	struct nm_diags diags = {0};
	struct nm_node *root = nm_profile_parse("fuzz", profile, strlen(profile), &diags);

	if (root && lists)
		nm_params_list(root, "fuzz", values, &params, &diags);
	else if (root)
		nm_params_apply(root, "fuzz", values, &params, &diags);
	if (root) {
		check_values(root);
		demand(params.count <= NM_PARAM_MAX);
	}
	if (root && !lists && !diags.n_errors)
		fuzz_print_and_read(root);
	nm_params_fini(&params);
	nm_node_free(root);
	nm_diags_fini(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nm_define defines[MAX_DEFINES];
	char *text = strndup((const char *)data, size);
	struct nm_param_values values = {.defines = defines, .lookup = lookup};

	if (!text)
		return 0;
	const char *profile = read_defines(text, defines, &values.n_defines);

	apply(profile, &values, 0);
	apply(profile, &values, 1);
	values.as_uperf = true;
	apply(profile, &values, 0);
	free(text);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static const char *const parts[] = {
		"$a",
		"${a}",
		"$$",
		"$",
		"${",
		"a=1\n",
		"A=\n",
		"<param name=\"a\" default=\"$b\"/>",
		"<param name=\"b\" type=\"size\" default=\"1k\"/>",
		"<param name=\"c\" sets=\"write.size read.size\"/>",
		"<params names=\"nflows wait\"/>",
		"<group name=\"$a$a$a$a$a$a$a$a\">",
		"</group>",
		"type=\"enum\" choices=\"a b\" ",
		"<flowop type=\"write\" options=\"size=$a\"/>",
		"$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a$a",
	};

	if (pick(&seed, 2))
		return LLVMFuzzerMutate(data, size, max_size);
	const char *part = parts[pick(&seed, sizeof parts / sizeof *parts)];

	return fuzz_splice(data, size, max_size, pick(&seed, size + 1), 0, part, strlen(part));
}
