/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the trials of a search as sweep.c has written them. Nothing of the document is trusted. */
#include "report/sweep_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/common.h"
#include "report/figures.h"

#define MOST_TRIALS 10000
#define NAME_SIZE   64

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* NaN: there is no such number. */
static double real_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool read_count(const json_t *value, uint64_t *ret)
{
	json_int_t number = json_integer_value(value);

	*ret = number > 0 ? (uint64_t)number : 0;
	return json_is_integer(value) && number >= 0;
}

static bool read_real(const json_t *value, double *ret)
{
	*ret = json_number_value(value);
	return json_is_number(value);
}

/* What latency_json of figure.c has written. */
static bool read_latency(const json_t *value, const struct nm_percentiles *percentiles,
			 struct nm_latency *ret)
{
	*ret = (struct nm_latency){.count = 0};
	if (!value || json_is_null(value))
		return true;
	bool read = read_count(json_object_get(value, "count"), &ret->count) &&
		    read_real(json_object_get(value, "min"), &ret->min_s) &&
		    read_real(json_object_get(value, "mean"), &ret->mean_s) &&
		    read_real(json_object_get(value, "max"), &ret->max_s) &&
		    read_real(json_object_get(value, "stddev"), &ret->stddev_s);

	for (size_t i = 0; read && i < percentiles->count; i++) {
		char name[NAME_SIZE];

		nm_percentile_name(percentiles->pct[i], name, sizeof name);
		read = read_real(json_object_get(value, name), &ret->pct_s[i]);
	}
	return read;
}

/* Where the value of a figure is; NULL: there is no memory for it. */
static void *place_of(const struct nm_figure *figure, struct nm_window *window)
{
	if (!figure->behind)
		return (char *)window + figure->offset;
	if (!window->sized)
		window->sized = calloc(NM_SIZED__COUNT, sizeof *window->sized);
	return window->sized ? (char *)window->sized + figure->offset : NULL;
}

/* The figures of a window from which all others follow. False, with the name of one that is wrong,
 * or no name when out of memory. */
static bool read_window(const json_t *object, const struct nm_percentiles *percentiles,
			struct nm_window *ret, const char **ret_wrong)
{
	for (const struct nm_figure *at = nm_window_figures; !nm_figure_is_end(at); at++) {
		const json_t *value = json_object_get(object, at->json);
		bool is_times = at->kind == NM_FIGURE_LATENCY || at->kind == NM_FIGURE_RATIOS;

		if (is_times ? !value : at->kind != NM_FIGURE_COUNT && at->kind != NM_FIGURE_REAL)
			continue;
		void *place = place_of(at, ret);

		*ret_wrong = place ? at->json : NULL;
		if (!place || !(is_times ? read_latency(value, percentiles, place)
				: at->kind == NM_FIGURE_COUNT ? read_count(value, place)
							      : read_real(value, place)))
			return false;
	}
	return true;
}

/* The first of the members without which a search cannot go on, and which may be null; NULL: it has
 * all. Documents of older versions lack them. */
static const char *lacking(const json_t *object)
{
	static const char *const names[] = {"typical", "typical_limit", "reached", "percentile_of"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!json_object_get(object, names[i]))
			return names[i];
	return NULL;
}

/* Reads a trial, with texts of its own: 0, -ENOMEM, or -EINVAL with the name of what is wrong. */
static int read_trial(const json_t *object, const struct nm_percentiles *percentiles,
		      struct nm_trial *ret, const char **ret_wrong)
{
	const char *value = text_of(object, "value"), *reason = text_of(object, "reason");
	const char *percentile_of = text_of(object, "percentile_of");
	const char *verdict = text_of(object, "verdict");
	uint64_t n_runs;

	*ret = (struct nm_trial){.step = text_of(object, "step"),
				 .judged = verdict,
				 .pass = !reason,
				 .limit = nm_limit_find(text_of(object, "limit")),
				 .load = text_of(object, "load"),
				 .offered_per_s = real_of(object, "offered_per_s"),
				 .achieved_per_s = real_of(object, "achieved_per_s"),
				 .typical = real_of(object, "typical"),
				 .typical_limit = real_of(object, "typical_limit"),
				 .reached = real_of(object, "reached"),
				 .percentile = real_of(object, "percentile"),
				 .percentile_low = real_of(object, "percentile_low"),
				 .percentile_high = real_of(object, "percentile_high"),
				 .beyond = NAN,
				 .in_doubt = json_is_true(json_object_get(object, "in_doubt"))};
	*ret_wrong = !ret->step || (verdict && (strcmp(verdict, "pass") == 0) != ret->pass)
			     ? (ret->step ? "verdict" : "step")
		     : !read_count(json_object_get(object, "seed"), &ret->seed) ? "seed"
		     : !read_count(json_object_get(object, "runs"), &n_runs) || n_runs > UINT32_MAX
			     ? "runs"
			     : lacking(object);
	if (*ret_wrong)
		return -EINVAL;
	ret->n_runs = (uint32_t)n_runs;
	if (!read_window(object, percentiles, &ret->totals, ret_wrong))
		return *ret_wrong ? -EINVAL : -ENOMEM;
	ret->value = value ? strdup(value) : NULL;
	ret->reason = reason ? strdup(reason) : NULL;
	ret->percentile_of = percentile_of ? strdup(percentile_of) : NULL;
	if ((!value || ret->value) && (!reason || ret->reason) &&
	    (!percentile_of || ret->percentile_of))
		return 0;
	nm_trial_fini(ret);
	return -ENOMEM;
}

static int read_trials(const json_t *list, const struct nm_percentiles *percentiles,
		       struct nm_sweep *ret, char *why, size_t why_size)
{
	size_t count = json_array_size(list);

	if (count > MOST_TRIALS) {
		snprintf(why, why_size, "it has more than %d trials", MOST_TRIALS);
		return -EINVAL;
	}
	for (size_t i = 0; i < count; i++) {
		struct nm_trial trial;
		const char *wrong = NULL;
		int error = read_trial(json_array_get(list, i), percentiles, &trial, &wrong);

		if (!error)
			error = nm_sweep_add(ret, &trial);
		nm_window_fini(&trial.totals);
		if (error && wrong)
			snprintf(why, why_size,
				 "its trial %zu lacks \"%s\", or a percentile of it that this line "
				 "asks for",
				 i + 1, wrong);
		else if (error)
			snprintf(why, why_size, "out of memory");
		if (error)
			return -EINVAL;
	}
	return 0;
}

/* As nm_earlier_search_read, of a document that is in the search. */
static int read_document(struct nm_earlier_search *search, const struct nm_percentiles *percentiles,
			 char *why, size_t why_size)
{
	const json_t *sweep = json_object_get(search->document.document, "sweep");
	const json_t *end = json_object_get(sweep, "search");
	struct nm_sweep *told = &search->sweep;

	told->parameter = text_of(sweep, "parameter");
	told->range = text_of(sweep, "range");
	told->objective = text_of(end, "objective");
	told->outcome = text_of(end, "outcome");
	const json_t *trials = json_object_get(sweep, "trials");

	if (told->parameter && told->range && told->objective && told->outcome &&
	    json_is_array(trials))
		return read_trials(trials, percentiles, told, why, why_size);
	snprintf(why, why_size, "it is not of a search");
	return -EINVAL;
}

int nm_earlier_search_read(const char *path, const struct nm_percentiles *percentiles,
			   struct nm_earlier_search *ret_search, char *why, size_t why_size)
{
	*ret_search = (struct nm_earlier_search){.document = {.path = NULL}};
	if (nm_baseline_read(path, &ret_search->document, why, why_size) != 0)
		return -EINVAL;
	return read_document(ret_search, percentiles, why, why_size);
}

int nm_earlier_search_parse(const char *path, const char *text, size_t length,
			    const struct nm_percentiles *percentiles,
			    struct nm_earlier_search *ret_search, char *why, size_t why_size)
{
	*ret_search = (struct nm_earlier_search){.document = {.path = NULL}};
	if (nm_baseline_parse(path, text, length, &ret_search->document, why, why_size) != 0)
		return -EINVAL;
	return read_document(ret_search, percentiles, why, why_size);
}

const char *nm_earlier_search_profile(const struct nm_earlier_search *search)
{
	return text_of(json_object_get(search->document.document, "profile"), "name");
}

const char *nm_earlier_search_param(const struct nm_earlier_search *search, const char *name)
{
	const json_t *profile = json_object_get(search->document.document, "profile");

	return text_of(json_object_get(profile, "params"), name);
}

double nm_earlier_search_run(const struct nm_earlier_search *search, const char *name)
{
	return real_of(json_object_get(search->document.document, "run"), name);
}

const char *nm_earlier_search_warmup(const struct nm_earlier_search *search)
{
	const json_t *run = json_object_get(search->document.document, "run");
	const char *text = text_of(run, "warmup_until");

	return text ? text : "";
}

/* Whether it is one of the command line, which are the same for all values; the objective is
 * compared by itself. */
static bool is_of_line(const char *origin)
{
	return origin && (strcmp(origin, "--require") == 0 || strcmp(origin, "--fail-if") == 0);
}

const char *nm_earlier_search_unlike(const struct nm_earlier_search *search,
				     const struct nm_requirements *now)
{
	const json_t *list = json_object_get(search->document.document, "requirements");
	size_t n = json_array_size(list), k = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct nm_requirement *own = &now->items[i];
		const char *required = own->text;

		if (!is_of_line(own->origin))
			continue;
		while (k < n && !is_of_line(text_of(json_array_get(list, k), "from")))
			k++;
		const json_t *then = json_array_get(list, k++);
		const char *text = text_of(then, "text"), *from = text_of(then, "from");

		if (!text || !from || strcmp(text, required) != 0 || strcmp(from, own->origin) != 0)
			return required;
	}
	for (; k < n; k++)
		if (is_of_line(text_of(json_array_get(list, k), "from")))
			return text_of(json_array_get(list, k), "text");
	return NULL;
}

void nm_earlier_search_fini(struct nm_earlier_search *search)
{
	nm_sweep_fini(&search->sweep);
	nm_baseline_fini(&search->document);
}
