/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a percentile of each part of the runs, as requirements name it. */
#include "report/confidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"
#include "report/figures.h"
#include "report/named.h"

#define LEAST_PARTS 5 /* fewer do not tell how far they scatter */

/* The figure in each part. */
struct parts {
	double *values; /* owned */
	size_t n, room;
	double beyond;
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

/* The parts of all runs that count: rows have only the figures of whole runs by these names. */
static int read_parts(struct parts *parts, const char *figure, const struct nm_runs *series)
{
	struct nm_named_series documents;
	struct nm_named_at at;
	int error = nm_named_series_read(series, &documents);
	char why[512];

	for (size_t i = 0, k = 0; i < series->n_runs && k < documents.count && !error; i++) {
		if (!series->runs[i]->complete)
			continue;
		error = nm_named_find(&documents.list, documents.items[k++], figure, &at, why,
				      sizeof(why));
		if (error)
			continue;
		parts->beyond += count_of(&at) * (1 - at.percentile / 100);
		if (at.named.scope == NM_SCOPE_RUN)
			error = add_rows(parts, series, series->runs[i], at);
	}
	nm_named_series_fini(&documents);
	return error == -ENOMEM ? error : 0;
}

static bool is_between(const struct nm_requirement_term *term, double low, double high)
{
	switch (term->relation) {
	case NM_RELATION_LESS:
	case NM_RELATION_AT_LEAST:
		return low < term->limit && high >= term->limit;
	case NM_RELATION_AT_MOST:
	case NM_RELATION_MORE:
		return low <= term->limit && high > term->limit;
	case NM_RELATION_EQUAL:
	case NM_RELATION_UNEQUAL:
		break;
	}
	return false;
}

int nm_confidence_of(const struct nm_requirement *requirement, const struct nm_verdict *verdict,
		     const struct nm_runs *series, struct nm_confidence *ret)
{
	const struct nm_requirement_term *term = &requirement->terms[0];
	struct parts parts = {.n = 0};
	int error = 0;

	*ret = (struct nm_confidence){.value = NAN, .low = NAN, .high = NAN};
	if (requirement->negated || isnan(term->percentile) || !verdict->measured)
		return 0;
	error = read_parts(&parts, term->figure, series);
	ret->quantity = verdict->quantity;
	ret->value = verdict->value;
	/* Above the greatest of all there is nothing. */
	ret->beyond = term->percentile < 100 ? parts.beyond : NAN;
	if (parts.n >= LEAST_PARTS)
		nm_confidence(verdict->value, parts.values, parts.n, &ret->low, &ret->high);
	if (ret->low < 0) /* a time, or a slowdown */
		ret->low = 0;
	ret->in_doubt = is_between(term, ret->low, ret->high);
	free(parts.values);
	return error;
}
