/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of verbs: what has come of their requests, and how long these took. With failures a
 * row follows that has them as infinitely late. */
#include "report/text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/table.h"
#include "report/text_traffic.h"

#define TEXT 32

/* Of the classes those in which some verb has something. */
static void print_outcomes(const struct nm_window *totals, unsigned width, FILE *out)
{
	char align[NM_OUTCOMES__COUNT + 3] = "lr", text[TEXT], *next = align + 2;
	struct nm_table table = {.align = align, .width = width};
	bool has[NM_OUTCOMES__COUNT];

	nm_table_head(&table, "verb|rate");
#define HEAD(member, ...)                                                                          \
	if ((has[offsetof(struct nm_outcomes, member) / sizeof(uint64_t)] =                        \
		     totals->counts.member)) {                                                     \
		*next++ = 'r';                                                                     \
		nm_table_cell(&table, #member);                                                    \
	}
	NM_OUTCOMES(HEAD)
#undef HEAD
	for (size_t v = 0; v < totals->n_verbs; v++) {
		const struct nm_verb_window *verb = &totals->verbs[v];

		nm_table_text(&table, verb->name);
		nm_table_cell(&table, "%s/s",
			      nm_text_rate(verb->outcomes.requests, verb->seconds, text));
#define CELL(member, ...)                                                                          \
	if (has[offsetof(struct nm_outcomes, member) / sizeof(uint64_t)])                          \
		nm_table_count(&table, true, verb->outcomes.member);
		NM_OUTCOMES(CELL)
#undef CELL
	}
	nm_table_section(&table, true, out);
}

static void add_percentiles(struct nm_table *table, const double *pct_s, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (isinf(pct_s[i]))
			nm_table_text(table, "> timeout");
		else
			nm_table_time(table, true, pct_s[i]);
}

/* mark: of the times. */
static void add_times(struct nm_table *table, const struct nm_verb_window *verb, enum nm_time time,
		      const char *mark, size_t n_percentiles)
{
	const struct nm_latency *latency = verb->times[time];
	const struct nm_failing *failing = verb->failing[time];

	if (latency) {
		nm_table_text(table, verb->name);
		nm_table_cell(table, "%s%s", nm_time_labels[time], mark);
		nm_table_time(table, true, latency->mean_s);
		add_percentiles(table, latency->pct_s, n_percentiles);
		nm_table_time(table, true, latency->max_s);
	}
	if (failing) {
		nm_table_text(table, verb->name);
		nm_table_cell(table, "%s%s, with failures", nm_time_labels[time], mark);
		nm_table_text(table, "-");
		add_percentiles(table, failing->pct_s, n_percentiles);
		nm_table_text(table, "> timeout");
	}
}

static void print_times(const struct nm_result *result, unsigned width, FILE *out)
{
	const struct nm_percentiles *percentiles = &result->percentiles;
	char align[NM_RESULT_MAX_PERCENTILES + 5] = "llr";
	struct nm_table table = {.align = align, .width = width};

	memset(align + 3, 'r', percentiles->count + 1);
	nm_table_head(&table, "verb||mean");
	nm_text_percentiles(&table, percentiles);
	nm_table_text(&table, "max");
	for (size_t v = 0; v < result->totals.n_verbs; v++)
		for (unsigned t = 0; t < NM_TIME__SIZED; t++)
			add_times(&table, &result->totals.verbs[v], t,
				  nm_text_mark(&result->totals, t), percentiles->count);
	/* Whether there is more than the heads of its columns. */
	nm_table_section(&table, table.n_cells > strlen(align), out);
}

static bool has_unusual(const struct nm_verb_window *verb)
{
	bool any = false;

	for (size_t i = 0; i < verb->n_answers; i++)
		any |= !verb->answers[i].is_usual;
	return any;
}

/* The answers by name of each verb that had others than the usual ones. */
static void print_answers(const struct nm_window *totals, FILE *out)
{
	for (size_t v = 0; v < totals->n_verbs; v++) {
		const struct nm_verb_window *verb = &totals->verbs[v];

		if (!has_unusual(verb))
			continue;
		fprintf(out, "  answers to %s:", verb->name);
		for (size_t i = 0; i < verb->n_answers; i++)
			fprintf(out, "%s %s %" PRIu64, i ? "," : "", verb->answers[i].name,
				verb->answers[i].count);
		fputc('\n', out);
	}
}

void nm_text_verbs_print(const struct nm_result *result, unsigned width, FILE *out)
{
	if (!result->totals.n_verbs)
		return;
	print_outcomes(&result->totals, width, out);
	print_answers(&result->totals, out);
	print_times(result, width, out);
}
