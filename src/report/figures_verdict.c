/* SPDX-License-Identifier: Apache-2.0 */
/* The document's parts about what was required of the runs, and about an earlier result. */
#include "report/compare.h"
#include "report/figures.h"
#include "report/requirement.h"

static const struct nm_figure requirement_figures[] = {
	NM_FIGURE(TEXT, struct nm_verdict, text, "text", .schema = NM_SCHEMA_TEXT,
		  .doc = "As it was written: of several terms that one was given, one each."),
	NM_FIGURE(TEXT, struct nm_verdict, origin, "from", .schema = NM_SCHEMA_TEXT,
		  .doc = "The option that gave it, or its place in the profile."),
	NM_FIGURE(BOOL, struct nm_verdict, negated, "negated",
		  .doc = "It is met when the text does not hold (--fail-if)."),
	NM_FIGURE(TEXT, struct nm_verdict, figure, "figure", .schema = NM_SCHEMA_TEXT,
		  .doc = "The figure that has decided, by its name; see docs/metrics.md."),
	NM_FIGURE(TEXT, struct nm_verdict, relation, "operator",
		  .schema = "{'enum': ['<', '<=', '>', '>=', '==', '!=']}"),
	NM_FIGURE(REAL, struct nm_verdict, limit, "limit", .schema = "{'type': 'number'}"),
	NM_FIGURE(
		REAL, struct nm_verdict, value, "value", NM_KNOWN_BY(struct nm_verdict, measured),
		.schema = "{'type': ['number', 'null']}",
		.doc = "With --repeat the mean over the complete runs; null: it was not measured."),
	NM_FIGURE(TEXT, struct nm_verdict, unit, "unit",
		  .schema = "{'enum': ['count', 'number', 'bytes', 'seconds', 'per_second', "
			    "'bits_per_second', 'share']}",
		  .doc = "Of limit and value; shares are 0 to 1."),
	NM_FIGURE(BOOL, struct nm_verdict, met, "met"),
	NM_FIGURE(TEXT, struct nm_verdict, reason, "reason", .doc = "Why not; null: it is met."),
	NM_FIGURE_END,
};

const struct nm_object nm_requirement_object = {
	.name = "requirement",
	.doc = "What was required of the runs. One whose figure was not measured is not met.",
	.figures = requirement_figures,
};

bool nm_has_requirements(const struct nm_at *at)
{
	return nm_runs_verdicts(at->runs) != NULL;
}

json_t *nm_requirements_json(const struct nm_at *at)
{
	const struct nm_verdicts *verdicts = nm_runs_verdicts(at->runs);

	return nm_objects_json(&nm_requirement_object, at, verdicts->items, verdicts->count,
			       sizeof(*verdicts->items));
}

/* --- an earlier result --- */

static bool has_change(const void *item)
{
	return ((const struct nm_compared *)item)->has_change;
}

#define NUMBER_OR_NULL "{'type': ['number', 'null']}"

static const struct nm_figure compared_figures[] = {
	NM_FIGURE(TEXT, struct nm_compared, figure, "figure", .schema = NM_SCHEMA_TEXT,
		  .doc = "By its name; see docs/metrics.md."),
	NM_FIGURE(TEXT, struct nm_compared, unit, "unit", .schema = NM_SCHEMA_TEXT),
	NM_FIGURE(REAL, struct nm_compared, before, "before",
		  NM_KNOWN_BY(struct nm_compared, has_before), .schema = NUMBER_OR_NULL,
		  .doc = "Of several complete runs the mean, where the document has it of each."),
	NM_FIGURE(REAL, struct nm_compared, before_ci95, "before_ci95",
		  NM_KNOWN_BY(struct nm_compared, has_before_ci), .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "Half the width of the 95 % confidence interval of that mean."),
	NM_FIGURE(REAL, struct nm_compared, now, "now", NM_KNOWN_BY(struct nm_compared, has_now),
		  .schema = NUMBER_OR_NULL),
	NM_FIGURE(REAL, struct nm_compared, now_ci95, "now_ci95",
		  NM_KNOWN_BY(struct nm_compared, has_now_ci), .schema = NM_SCHEMA_REAL_OR_NULL),
	NM_FIGURE(REAL, struct nm_compared, change, "change_percent", .known = has_change,
		  .schema = NUMBER_OR_NULL,
		  .doc = "Of the value before; null: that is 0, or not known."),
	NM_FIGURE(BOOL, struct nm_compared, overlap, "intervals_overlap",
		  .doc = "Both have intervals, and these overlap: the change may be chance."),
	NM_FIGURE_END,
};

static const struct nm_object compared_object = {.figures = compared_figures};

static json_t *make_notes(const struct nm_at *at)
{
	const struct nm_comparison *comparison = at->item;
	json_t *notes = json_array();

	for (size_t i = 0; notes && i < comparison->n_notes; i++)
		if (json_array_append_new(notes, nm_json_text(comparison->notes[i])) != 0) {
			json_decref(notes);
			return NULL;
		}
	return notes;
}

static json_t *make_n_before(const struct nm_at *at)
{
	return nm_json_count(((const struct nm_comparison *)at->item)->n_before);
}

static json_t *make_n_now(const struct nm_at *at)
{
	return nm_json_count(((const struct nm_comparison *)at->item)->n_now);
}

static const struct nm_figure comparison_figures[] = {
	NM_FIGURE(TEXT, struct nm_comparison, path, "file", .schema = NM_SCHEMA_TEXT),
	NM_FIGURE(TEXT, struct nm_comparison, version, "version"),
	NM_FIGURE(TEXT, struct nm_comparison, run_id, "run_id"),
	NM_FIGURE(TEXT, struct nm_comparison, start, "start"),
	NM_MADE("runs_before", make_n_before, "count"),
	NM_MADE("runs_now", make_n_now, "count"),
	NM_MADE("notes", make_notes, "{'type': 'array', 'items': {'type': 'string'}}",
		.doc = "In what the profiles, their parameters and the ends of the runs differ."),
	NM_FIGURE(LIST, struct nm_comparison, figures, "figures", .object = &compared_object,
		  .count_offset = offsetof(struct nm_comparison, n_figures),
		  .item_size = sizeof(struct nm_compared)),
	NM_FIGURE_END,
};

const struct nm_object nm_comparison_object = {
	.name = "comparison",
	.doc = "With --compare: each figure beside that of an earlier result.",
	.figures = comparison_figures,
};

bool nm_has_comparison(const struct nm_at *at)
{
	return nm_runs_comparison(at->runs) != NULL;
}

json_t *nm_comparison_json(const struct nm_at *at)
{
	struct nm_at item = nm_at_item(at, nm_runs_comparison(at->runs), 0);

	return nm_object_json(&nm_comparison_object, &item);
}
