/* SPDX-License-Identifier: Apache-2.0 */
/* Judges requirements by the figures of a series of runs, and shows the verdicts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"
#include "report/confidence.h"
#include "report/named.h"
#include "report/requirement.h"
#include "report/table.h"
#include "report/view.h"

#define TEXT 64
#define WHY  160

/* --- values --- */

/* The named figures, and a document that has some. */
struct source {
	const struct nm_named_list *list;
	const json_t *document;
};

/* A figure of one document; false: it has not measured it, for the reason in why, if known. */
static bool value_of(const struct source *source, const char *figure, double *ret_value,
		     char why[WHY])
{
	struct nm_named_at at;
	char unused[512];

	/* The run has other groups than its plan: it ended before it had any. */
	return nm_named_find(source->list, source->document, figure, &at, unused, sizeof(unused)) ==
		       0 &&
	       nm_named_judged(&at, ret_value, why, WHY);
}

/* Makes a number of errors their share of all passes. A pass that failed counts as a transaction,
 * one without its answer does not. */
static bool make_share(const struct source *source, const struct nm_requirement_term *term,
		       double *value, char why[WHY])
{
	double passes, unanswered;

	if (!value_of(source, term->passes, &passes, why))
		return false;
	/* Only where messages may be lost. */
	if (!value_of(source, term->unanswered, &unanswered, why))
		unanswered = 0;
	if (*value + passes + unanswered == 0) {
		snprintf(why, WHY, "nothing was done");
		return false;
	}
	*value = fmin((*value + unanswered) / (passes + unanswered), 1);
	return true;
}

/* The mean over the runs, or of a percentile that of all their times. False: some run has not
 * measured it, for the reason in why, if known. */
static bool measure(const struct nm_named_series *documents, const struct nm_requirement_term *term,
		    double *ret_value, char why[WHY])
{
	struct source source = {.list = &documents->list};
	double sum = 0, value;

	*why = '\0';
	for (size_t i = 0; i < documents->count; i++) {
		source.document = documents->items[i];
		if (!value_of(&source, term->figure, &value, why) ||
		    (term->passes && !make_share(&source, term, &value, why)))
			return false;
		sum += value;
	}
	*ret_value = sum / (double)documents->count;
	source.document = documents->pooled;
	return documents->count > 0 &&
	       (isnan(term->percentile) || value_of(&source, term->figure, ret_value, why));
}

/* --- verdicts --- */

static void take_term(struct nm_verdict *verdict, const struct nm_requirement_term *term,
		      bool measured, double value)
{
	verdict->figure = term->figure;
	verdict->relation = nm_relation_text(term->relation);
	verdict->quantity = term->quantity;
	verdict->unit = nm_quantity_unit(term->quantity);
	verdict->limit = term->limit;
	verdict->measured = measured;
	verdict->value = measured ? value : 0;
}

static char *reason_of(const struct nm_verdict *verdict, const char *why)
{
	char value[TEXT], *reason = NULL;
	int length;

	if (verdict->measured && isinf(verdict->value))
		length = asprintf(&reason, "%s is infinite: it lies among what was never answered",
				  verdict->figure);
	else if (verdict->measured)
		length = asprintf(&reason, "%s is %s", verdict->figure,
				  nm_quantity_format(verdict->quantity, verdict->value, value,
						     sizeof(value)));
	else
		length = asprintf(&reason, "%s was not measured%s%s", verdict->figure,
				  *why ? ": " : "", why);
	return length < 0 ? NULL : reason;
}

/* Without negation a requirement has one term. Negated it is met when one of its terms was measured
 * and does not hold. */
static int judge(const struct nm_requirement *requirement, const struct nm_named_series *documents,
		 struct nm_verdict *ret_verdict)
{
	struct nm_verdict verdict = {.text = requirement->text,
				     .origin = requirement->origin,
				     .negated = requirement->negated};
	char why[WHY] = "", found[WHY];

	for (size_t i = 0; i < requirement->n_terms && !verdict.met; i++) {
		const struct nm_requirement_term *term = &requirement->terms[i];
		double value = 0;
		bool measured = measure(documents, term, &value, found);

		verdict.met = measured && nm_requirement_holds(term, value) != requirement->negated;
		/* A term that was not measured says more than one that was. */
		if (verdict.met || i == 0 || (verdict.measured && !measured)) {
			take_term(&verdict, term, measured, value);
			memcpy(why, found, sizeof(why));
		}
	}
	verdict.reason = verdict.met ? NULL : reason_of(&verdict, why);
	*ret_verdict = verdict;
	return verdict.met || verdict.reason ? 0 : -ENOMEM;
}

int nm_requirements_judge(const struct nm_requirements *requirements, const struct nm_runs *series,
			  struct nm_verdicts *ret_verdicts, struct nm_confidence *ret_confidence)
{
	struct nm_percentiles percentiles = {.count = 0};
	struct nm_named_series documents;
	int error = nm_named_series_read(series, &documents);

	(void)nm_requirements_percentiles(requirements, &percentiles);
	*ret_verdicts = (struct nm_verdicts){
		.items = calloc(requirements->count + 1, sizeof(*ret_verdicts->items))};
	if (!ret_verdicts->items)
		error = -ENOMEM;
	if (!error && percentiles.count)
		error = nm_named_series_pool(series, &documents);
	for (size_t i = 0; i < requirements->count && !error; i++) {
		const struct nm_requirement *one = &requirements->items[i];
		struct nm_verdict *verdict = &ret_verdicts->items[i];

		error = judge(one, &documents, verdict);
		ret_verdicts->count++;
		ret_verdicts->n_met += verdict->met;
		if (ret_confidence && !error)
			error = nm_confidence_of(one, verdict, series, &documents,
						 &ret_confidence[i]);
	}
	nm_named_series_fini(&documents);
	return error;
}

void nm_verdicts_fini(struct nm_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->count; i++)
		free(verdicts->items[i].reason);
	free(verdicts->items);
	*verdicts = (struct nm_verdicts){.items = NULL};
}

const struct nm_verdicts *nm_runs_verdicts(const struct nm_runs *series)
{
	return nm_runs_view(series)->verdicts;
}

/* --- for people and programs --- */

void nm_verdicts_print(const struct nm_runs *series, FILE *out)
{
	const struct nm_verdicts *verdicts = nm_runs_verdicts(series);
	struct nm_table table = {.align = "lll", .width = nm_runs_view(series)->width};
	char value[TEXT];

	if (!verdicts)
		return;
	fprintf(out, "\n  requirements: %zu of %zu met\n", verdicts->n_met, verdicts->count);
	if (series->n_runs > 1)
		fputs("  (percentiles of all runs' times, else means)\n", out);
	for (size_t i = 0; i < verdicts->count; i++) {
		const struct nm_verdict *verdict = &verdicts->items[i];

		nm_table_text(&table, verdict->met ? "met" : "NOT MET");
		nm_table_cell(&table, "%s%s", verdict->negated ? "not " : "", verdict->text);
		if (verdict->met && isinf(verdict->value))
			nm_table_cell(&table, "%s is infinite", verdict->figure);
		else if (verdict->met)
			nm_table_cell(&table, "%s is %s", verdict->figure,
				      nm_quantity_format(verdict->quantity, verdict->value, value,
							 sizeof(value)));
		else
			nm_table_text(&table, verdict->reason);
	}
	nm_table_end(&table, 4, out);
}

void nm_verdicts_keys(const struct nm_runs *series, FILE *out)
{
	const struct nm_verdicts *verdicts = nm_runs_verdicts(series);

	if (!verdicts)
		return;
	fprintf(out, "requirements=%zu\nrequirements_met=%zu\n", verdicts->count, verdicts->n_met);
	for (size_t i = 0; i < verdicts->count; i++) {
		const struct nm_verdict *verdict = &verdicts->items[i];
		char number[24] = "";

		if (i)
			snprintf(number, sizeof(number), "%zu", i + 1);
		nm_print_line(out, "requirement%s=%s%s", number, verdict->negated ? "not " : "",
			      verdict->text);
		fprintf(out, "requirement%s_met=%d\n", number, verdict->met);
		if (verdict->measured && isfinite(verdict->value))
			fprintf(out, "requirement%s_value=%.9g\n", number, verdict->value);
		if (!verdict->met)
			nm_print_line(out, "requirement%s_why=%s", number, verdict->reason);
	}
}
