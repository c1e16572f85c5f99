/* SPDX-License-Identifier: Apache-2.0 */
/* Judges trials, and how sure that is. */
#include "cli/trial.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"
#include "report/confidence.h"
#include "result/load.h"

#define BEYOND 100 /* times above a percentile that it rests on */

const char *nm_trial_why_incomplete(const struct nm_result *result)
{
	const char *why = result->verdict.incomplete_why;

	return why ? why : "the reason is not known";
}

/* Without memory for the reason there is a limit alone. */
static void fail(struct nm_trial *trial, enum nm_limit limit, const char *reason)
{
	trial->limit = limit;
	trial->reason = strdup(reason);
}

/* The worst load of the runs, unless more than half of them are ok: by chance one of many ends
 * while more passes than usual are under way. Of failures one run is enough. False: there is no
 * load. */
static bool load_of(const struct nm_runs *series, struct nm_load *ret)
{
	struct nm_load load, best = {.name = NULL}, worst = best;
	size_t n = 0, n_missed = 0;

	for (size_t i = 0; i < series->n_runs; i++) {
		if (!nm_result_load(series->runs[i], &load))
			continue;
		if (!n || load.verdict < best.verdict)
			best = load;
		if (!n || load.verdict > worst.verdict)
			worst = load;
		n_missed += load.verdict != NM_LOAD_OK;
		n++;
	}
	*ret = worst.verdict != NM_LOAD_ERRORS && 2 * n_missed < n ? best : worst;
	return n > 0;
}

/* What is wrong with the runs. load: of all of them; NULL: they have none. */
static void find_fault(const struct nm_runs *series, const struct nm_load *load,
		       struct nm_trial *trial)
{
	char text[64];

	for (size_t i = 0; i < series->n_runs && !trial->limit; i++) {
		const struct nm_result *run = series->runs[i];

		if (!run->complete)
			fail(trial, NM_LIMIT_RUN, nm_trial_why_incomplete(run));
		else if (run->verdict.reconciled == NM_RECONCILED_NO)
			fail(trial, NM_LIMIT_RUN, "the counts of both ends differ");
	}
	if (trial->limit || !load || load->verdict == NM_LOAD_OK)
		return;
	(void)snprintf(text, sizeof(text), "load: %s", load->name);
	fail(trial, nm_limit_find(load->name), text);
}

static enum nm_limit limit_of(const struct nm_requirement *requirement)
{
	return requirement->terms[0].is_of_errors ? NM_LIMIT_ERRORS : NM_LIMIT_OBJECTIVE;
}

/* Why the trial has not passed, without a doubt. */
static void find_reason(const struct nm_runner *runner, const struct nm_runs *series,
			struct nm_trial *trial)
{
	const struct nm_judge *judge = &runner->judge;
	const struct nm_verdict *verdicts = judge->verdicts.items;

	for (size_t i = 0; i < judge->verdicts.count && !trial->limit; i++)
		if (!verdicts[i].met && !judge->confidence[i].in_doubt)
			fail(trial, limit_of(&judge->requirements.items[i]), verdicts[i].reason);
	for (size_t i = 0; i < series->n_runs && !trial->limit; i++)
		if (runner->args->run.judge.strict && series->runs[i]->warnings.count)
			fail(trial, NM_LIMIT_RUN, series->runs[i]->warnings.items[0]);
}

/* The reason of a trial with this requirement in doubt. */
static char *doubt_of(const struct nm_verdict *verdict, const struct nm_confidence *confidence)
{
	const enum nm_quantity quantity = verdict->quantity;
	char value[64], low[64], high[64], *reason = NULL;

	(void)nm_quantity_format(quantity, confidence->value, value, sizeof(value));
	(void)nm_quantity_format(quantity, confidence->low, low, sizeof(low));
	(void)nm_quantity_format(quantity, confidence->high, high, sizeof(high));
	if (asprintf(&reason, "in doubt: %s is %s (%s to %s)", verdict->figure, value, low,
		     isinf(confidence->high) ? "infinite" : high) < 0)
		return NULL;
	return reason;
}

/* The interval that is told: of what is in doubt, or else of the first percentile; and how many
 * times are above the percentile that has the fewest. */
static void take_confidence(struct nm_trial *trial, const struct nm_confidence *all,
			    const struct nm_verdicts *verdicts)
{
	const struct nm_confidence *told = NULL;

	for (size_t i = 0; i < verdicts->count; i++) {
		if (isnan(all[i].value))
			continue;
		if (!told || (all[i].in_doubt && !told->in_doubt))
			told = &all[i];
		trial->beyond = fmin(trial->beyond, all[i].beyond);
	}
	if (!told)
		return;
	trial->percentile_of = strdup(verdicts->items[told - all].figure);
	trial->quantity = told->quantity;
	trial->percentile = told->value;
	trial->percentile_low = told->low;
	trial->percentile_high = told->high;
}

/* Why it does not pass by what is required; only of a trial that may go on there is a doubt. */
static void decide(const struct nm_runner *runner, const struct nm_runs *series, bool doubts,
		   struct nm_trial *trial)
{
	const struct nm_verdicts *verdicts = &runner->judge.verdicts;
	struct nm_confidence *all = runner->judge.confidence;

	for (size_t i = 0; i < verdicts->count; i++)
		all[i].in_doubt &= doubts;
	take_confidence(trial, all, verdicts);
	find_reason(runner, series, trial);
	for (size_t i = 0; i < verdicts->count && !trial->limit; i++)
		if (all[i].in_doubt) {
			trial->in_doubt = true;
			trial->limit = NM_LIMIT_OBJECTIVE;
			trial->reason = doubt_of(&verdicts->items[i], &all[i]);
		}
}

/* What was required first by the objective, as it was judged. */
static const struct nm_verdict *objective_of(const struct nm_judge *judge)
{
	const struct nm_verdict *at = judge->verdicts.items;

	while (strcmp(at->origin, "--objective") != 0)
		at++;
	return at;
}

/* What a search compares. */
static void set_typical(struct nm_trial *trial, const struct nm_runner *runner, double per_value,
			const struct nm_runs *series)
{
	struct nm_runs_summary summary;
	const struct nm_verdict *first = objective_of(&runner->judge);

	nm_runs_summarise(series, &summary);
	trial->typical_limit = first->limit;
	/* The median is steadier than the percentiles that objectives are about. */
	if (first->quantity == NM_QUANTITY_SECONDS && summary.latency_p50_s.n)
		trial->typical = summary.latency_p50_s.mean;
	else if (first->quantity != NM_QUANTITY_SECONDS && first->measured)
		trial->typical = first->value;
	if (per_value > 0 && summary.transactions_per_s.n)
		trial->reached = summary.transactions_per_s.mean / per_value;
}

int nm_trial_judge(const struct nm_runner *runner, const struct nm_search_trial *asked,
		   const char *value, double per_value, const struct nm_runs *series,
		   struct nm_trial *ret_trial)
{
	const struct nm_result *last = nm_runs_last(series);
	const bool searches = runner->args->run.sweep.search;
	struct nm_load load, judged;
	bool has_load = nm_result_load(last, &load), any = load_of(series, &judged);

	*ret_trial = (struct nm_trial){
		.value = value ? strdup(value) : NULL,
		.step = searches ? nm_search_step_name(asked->step) : NULL,
		.judged = value && runner->judge.requirements.count,
		.seed = asked->seed,
		.n_runs = (uint32_t)series->n_runs,
		.offered_per_s = has_load ? load.offered_per_s : NAN,
		.achieved_per_s = has_load ? load.achieved_per_s : NAN,
		.load = any ? judged.name : NULL,
		.totals = last->totals,
		.typical = NAN,
		.typical_limit = NAN,
		.reached = NAN,
		.percentile = NAN,
		.percentile_low = NAN,
		.percentile_high = NAN,
		.beyond = NAN,
	};
	if (searches)
		set_typical(ret_trial, runner, per_value, series);
	find_fault(series, any ? &judged : NULL, ret_trial);
	if (value)
		decide(runner, series, asked->lengthens, ret_trial);
	ret_trial->pass = !ret_trial->limit;
	if ((ret_trial->limit && !ret_trial->reason) ||
	    (!isnan(ret_trial->percentile) && !ret_trial->percentile_of))
		return -ENOMEM;
	return 0;
}

struct nm_search_verdict nm_trial_decision(const struct nm_trial *trial)
{
	return (struct nm_search_verdict){.pass = trial->pass,
					  .typical = trial->typical,
					  .limit = trial->typical_limit,
					  .reached = isnan(trial->reached) ? 0 : trial->reached};
}

struct nm_search_verdict nm_trial_verdict(const struct nm_trial *trial, unsigned window)
{
	struct nm_search_verdict verdict = nm_trial_decision(trial);

	verdict.in_doubt = trial->in_doubt;
	/* What has failed without a doubt needs no more. Never true of NaN. */
	if ((trial->pass || trial->in_doubt) && trial->beyond < BEYOND)
		verdict.lengths = window * BEYOND / trial->beyond;
	return verdict;
}
