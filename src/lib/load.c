/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, parses and compiles a profile with the values of its parameters, for the command and the
 * library alike. */
#include "lib/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/ascii.h"
#include "host/cpus.h"
#include "lib/cdf_files.h"
#include "plan/diag.h"
#include "plan/probes.h"

static void drop_compiled(struct nm_loaded *loaded)
{
	loaded->plan = nm_plan_free(loaded->plan);
	loaded->root = nm_node_free(loaded->root);
	nm_params_fini(&loaded->params);
	loaded->params = (struct nm_params){.count = 0};
}

void nm_loaded_fini(struct nm_loaded *loaded)
{
	drop_compiled(loaded);
	free(loaded->name);
	free(loaded->path);
	free(loaded->text);
	*loaded = (struct nm_loaded){.length = 0};
}

int nm_loaded_read(struct nm_loaded *loaded, const char *path, struct nm_diags *diags)
{
	nm_loaded_fini(loaded);
	loaded->text = nm_profile_slurp(path, &loaded->length, diags);
	if (!loaded->text)
		return -EINVAL;
	loaded->name = strdup(path);
	loaded->path = strdup(path);
	if (loaded->name && loaded->path)
		return 0;
	nm_loaded_fini(loaded);
	nm_diag_error(diags, path, 0, "out of memory");
	return -ENOMEM;
}

int nm_loaded_copy(struct nm_loaded *loaded, const char *name, const char *text, size_t length,
		   struct nm_diags *diags)
{
	char *copied_name = strdup(name);
	char *copied_text = length < SIZE_MAX ? malloc(length + 1) : NULL;

	nm_loaded_fini(loaded);
	if (!copied_name || !copied_text) {
		free(copied_name);
		free(copied_text);
		nm_diag_error(diags, name, 0, "out of memory");
		return -ENOMEM;
	}
	if (length) /* then there may be no text */
		memcpy(copied_text, text, length);
	copied_text[length] = '\0';
	loaded->name = copied_name;
	loaded->text = copied_text;
	loaded->length = length;
	return 0;
}

static int parse(struct nm_loaded *loaded, struct nm_diags *diags)
{
	drop_compiled(loaded);
	loaded->root = nm_profile_parse(loaded->name, loaded->text, loaded->length, diags);
	return loaded->root ? 0 : -EINVAL;
}

/* Limits the workers of groups that give only their flows, as nthreads, as in profiles of uperf:
 * more threads than CPUs would just wait for each other. The slaves read the limit from the
 * tree. */
static int share_threads(const struct nm_node *profile, enum nm_reading reading)
{
	uint64_t n_cpus = nm_cpu_count(), nthreads;
	char workers[24];
	int error = 0;

	(void)snprintf(workers, sizeof workers, "%llu", (unsigned long long)n_cpus);
	for (size_t i = 0; i < profile->n_children && !error; i++) {
		struct nm_node *group = profile->children[i];
		const char *text = nm_node_attr(group, "nthreads");

		if (!nm_ascii_equals(group->name, "group") || !text ||
		    nm_node_attr(group, "nprocs") || nm_node_attr(group, "nflows") ||
		    nm_node_attr(group, "workers") || nm_parse_count(text, reading, &nthreads) != 0)
			continue;
		if (nthreads > n_cpus)
			error = nm_node_set_attr(group, "workers", workers);
	}
	return error;
}

/* Whether --windows has set the duration of something; `defined`: what -D says of that. */
static int check_windows(const struct nm_loaded *loaded, int count, const struct nm_piece *defined,
			 struct nm_diags *diags)
{
	char value[24];
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = "windows", .value = value};

	(void)snprintf(value, sizeof value, "%" PRIu64, loaded->windows);
	if (count < 0)
		nm_diag_error(diags, loaded->name, 0, "out of memory");
	else if (count == 0)
		nm_diag_add(
			diags, NM_SEV_ERROR, NULL, 0, &subject,
			": needs a transaction with a duration that is measured, and %s has none",
			loaded->name);
	else if (defined)
		nm_diag_add(diags, NM_SEV_ERROR, NULL, 0, &subject,
			    " and -D %s=%s: one at a time: both say how long to measure",
			    defined->name, defined->text);
	else
		return 0;
	return -EINVAL;
}

/* Whether --warmup has put a warm-up before something. */
static int check_warmup(const struct nm_loaded *loaded, int count, struct nm_diags *diags)
{
	if (count < 0)
		nm_diag_error(diags, loaded->name, 0, "out of memory");
	else if (count == 0)
		nm_diag_error(diags, NULL, 0,
			      "--warmup plateau(...): needs a transaction with a duration that is "
			      "measured, and %s has none",
			      loaded->name);
	return count > 0 ? 0 : -EINVAL;
}

int nm_loaded_compile(struct nm_loaded *loaded, const struct nm_param_values *values,
		      struct nm_diags *diags)
{
	const struct nm_piece *defined = NULL;
	int n_set = 0, n_warmups = 0, error = parse(loaded, diags);

	if (error)
		return error;
	nm_params_apply(loaded->root, loaded->name, values, &loaded->params, diags);
	nm_cdf_files_put_in(loaded->root, loaded->name, diags);
	error = share_threads(loaded->root, loaded->params.reading);
	if (!error)
		error = nm_plan_add_probes(loaded->root);
	if (error)
		nm_diag_error(diags, loaded->name, 0, "out of memory");
	/* Compiles also after an error in a parameter: the user is told all mistakes in one go. */
	if (loaded->windows)
		n_set = nm_plan_set_duration(loaded->root, loaded->windows * loaded->interval_ns,
					     &defined);
	if (loaded->warmup.max_ns)
		n_warmups = nm_plan_add_warmups(loaded->root, &loaded->warmup);
	loaded->plan = nm_plan_compile(loaded->root, loaded->name, diags);
	if (!loaded->plan || diags->n_errors)
		return -EINVAL;
	error = loaded->windows ? check_windows(loaded, n_set, defined, diags) : 0;
	if (loaded->warmup.max_ns && !error)
		error = check_warmup(loaded, n_warmups, diags);
	return error;
}

static int add_requirement(const struct nm_loaded *loaded, const struct nm_node *node,
			   struct nm_requirements *requirements, struct nm_diags *diags)
{
	const struct nm_attr *that = NULL;
	char origin[512], why[512];

	for (size_t i = 0; i < node->n_attrs; i++)
		if (nm_ascii_equals(node->attrs[i].name, "that"))
			that = &node->attrs[i];
	if (!that)
		return 0; /* as the compiler has told */
	snprintf(origin, sizeof(origin), "%s:%u", loaded->name, node->line);
	if (nm_requirements_add(requirements, that->value, origin, false, loaded->plan, why,
				sizeof(why)) == 0)
		return 0;
	nm_origin_attr(nm_diag_add(diags, NM_SEV_ERROR, loaded->name, node->line, NULL,
				   "<require> that=\"%s\": %s", that->value, why),
		       that);
	return -EINVAL;
}

int nm_loaded_requirements(const struct nm_loaded *loaded, struct nm_requirements *requirements,
			   struct nm_diags *diags)
{
	int error = 0;

	for (size_t i = 0; i < loaded->root->n_children; i++)
		if (nm_ascii_equals(loaded->root->children[i]->name, "require") &&
		    add_requirement(loaded, loaded->root->children[i], requirements, diags) != 0)
			error = -EINVAL;
	return error;
}

int nm_loaded_params(struct nm_loaded *loaded, const struct nm_param_values *values,
		     struct nm_diags *diags)
{
	int error = parse(loaded, diags);

	if (error)
		return error;
	nm_params_list(loaded->root, loaded->name, values, &loaded->params, diags);
	return diags->n_errors ? -EINVAL : 0;
}

struct nm_job nm_loaded_job(const struct nm_loaded *loaded)
{
	return (struct nm_job){
		.path = loaded->path,
		.text = loaded->text,
		.text_length = loaded->length,
		.root = loaded->root,
		.plan = loaded->plan,
		.params = &loaded->params,
		.warmup_until = loaded->warmup.max_ns ? loaded->warmup_text : NULL,
	};
}
