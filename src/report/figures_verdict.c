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

json_t *nm_requirements_json(const struct nm_at *at)
{
	const struct nm_verdicts *verdicts = nm_runs_verdicts(at->runs);

	return verdicts ? nm_objects_json(&nm_requirement_object, at, verdicts->items,
					  verdicts->count, sizeof(*verdicts->items))
			: json_null();
}

/* --- an earlier result --- */

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
	NM_FIGURE(REAL, struct nm_compared, change, "change_percent",
		  NM_KNOWN_BY(struct nm_compared, has_change), .schema = NUMBER_OR_NULL,
		  .doc = "Of the value before; null: that is 0, or not known."),
	NM_FIGURE(BOOL, struct nm_compared, overlap, "intervals_overlap",
		  .doc = "Both have intervals, and these overlap: the change may be chance."),
	NM_FIGURE_END,
};

static const struct nm_object compared_object = {.figures = compared_figures};

static const struct nm_figure comparison_figures[] = {
	NM_FIGURE(TEXT, struct nm_comparison, path, "file", .schema = NM_SCHEMA_TEXT),
	NM_FIGURE(TEXT, struct nm_comparison, version, "version"),
	NM_FIGURE(TEXT, struct nm_comparison, run_id, "run_id"),
	NM_FIGURE(TEXT, struct nm_comparison, start, "start"),
	NM_FIGURE(SIZE, struct nm_comparison, n_before, "runs_before"),
	NM_FIGURE(SIZE, struct nm_comparison, n_now, "runs_now"),
	NM_FIGURE(TEXTS, struct nm_comparison, notes, "notes",
		  .count_offset = offsetof(struct nm_comparison, n_notes),
		  .doc = "In what the profiles, their parameters and the ends of the runs differ."),
	NM_LIST(struct nm_comparison, figures, n_figures, "figures", compared_object),
	NM_FIGURE_END,
};

const struct nm_object nm_comparison_object = {
	.name = "comparison",
	.doc = "With --compare: each figure beside that of an earlier result.",
	.figures = comparison_figures,
};

json_t *nm_comparison_json(const struct nm_at *at)
{
	struct nm_at item = nm_at_item(at, nm_runs_comparison(at->runs), 0);

	return item.item ? nm_object_json(&nm_comparison_object, &item) : json_null();
}
