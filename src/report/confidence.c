/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a percentile of each part of the runs, as requirements name it. */
#include "report/confidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"
#include "report/figures.h"

#define LEAST_PARTS 5 /* fewer do not tell how far they scatter */

/* The figure in each part. */
struct parts {
	double *values; /* owned */
	size_t n, room;
};

static int add_value(struct parts *parts, double value)
{
	if (parts->n == parts->room) {
		size_t room = parts->room ? 2 * parts->room : 64;
		double *values = realloc(parts->values, room * sizeof(*values));

		if (!values)
			return -ENOMEM;
		parts->values = values;
		parts->room = room;
	}
	parts->values[parts->n++] = value;
	return 0;
}

/* How many times were measured in the distribution of the percentile. */
static double count_of(const struct nm_named_at *at)
{
	char member[NM_NAMED_MEMBER];

	snprintf(member, sizeof(member), "%.*s", (int)strcspn(at->named.member, "."),
		 at->named.member);
	return (double)json_integer_value(
		json_object_get(json_object_get(at->object, member), "count"));
}

/* Rows at an end of what is measured may be short ones. */
static bool is_whole_row(const struct nm_result *result, const struct nm_result_interval *row)
{
	return row->part == NM_PART_MEASURED &&
	       row->to_s - row->from_s > 0.9 * result->grid.interval_s;
}

static int add_rows(struct parts *parts, const struct nm_runs *series,
		    const struct nm_result *result, struct nm_named_at at)
{
	const struct nm_at run = {.runs = series, .result = result, .item = result};
	char why[160];
	int error = 0;

	for (size_t i = 0; i < result->n_intervals && !error; i++) {
		const struct nm_result_interval *row = &result->intervals[i];
		const struct nm_at item = nm_at_item(&run, &row->window, i);
		double value;

		if (!is_whole_row(result, row))
			continue;
		json_t *window = nm_object_json(&nm_window_object, &item);

		at.object = window;
		if (!window)
			error = -ENOMEM;
		else if (nm_named_judged(&at, &value, why, sizeof(why)))
			error = add_value(parts, value);
		json_decref(window);
	}
	return error;
}

/* Whether the limit may be on either side of the figure: another verdict at either end. An interval
 * about a limit that a figure must be, or must not be, tells nothing. */
static bool is_doubtful(const struct nm_requirement_term *term,
			const struct nm_confidence *confidence)
{
	return !isnan(confidence->low) && term->relation != NM_RELATION_EQUAL &&
	       term->relation != NM_RELATION_UNEQUAL &&
	       nm_requirement_holds(term, confidence->low) !=
		       nm_requirement_holds(term, confidence->high);
}

int nm_confidence_of(const struct nm_requirement *requirement, const struct nm_verdict *verdict,
		     const struct nm_runs *series, const struct nm_named_series *documents,
		     struct nm_confidence *ret)
{
	const struct nm_requirement_term *term = &requirement->terms[0];
	struct parts parts = {.n = 0};
	struct nm_named_at at;
	char why[512];
	int error = 0;

	*ret = (struct nm_confidence){.value = NAN, .low = NAN, .high = NAN, .beyond = NAN};
	if (requirement->negated || isnan(term->percentile) || !verdict->measured ||
	    nm_named_find(&documents->list, documents->pooled, term->figure, &at, why,
			  sizeof(why)) != 0)
		return 0;
	/* Rows have only the figures of whole runs by these names. */
	for (size_t i = 0; i < documents->count && at.named.scope == NM_SCOPE_RUN && !error; i++)
		error = add_rows(&parts, series, documents->runs[i], at);
	ret->quantity = verdict->quantity;
	ret->value = verdict->value;
	/* Above the greatest of all there is nothing. */
	if (term->percentile < 100)
		ret->beyond = count_of(&at) * (1 - at.percentile / 100);
	if (parts.n >= LEAST_PARTS)
		nm_confidence(verdict->value, parts.values, parts.n, &ret->low, &ret->high);
	if (ret->low < 0) /* a time, or a slowdown */
		ret->low = 0;
	ret->in_doubt = is_doubtful(term, ret);
	free(parts.values);
	return error;
}
