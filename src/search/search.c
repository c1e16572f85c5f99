/* SPDX-License-Identifier: Apache-2.0 */
/* Brackets from below, bisects, confirms, and looks just above: for each step a function takes the
 * verdict and chooses the next trial. */
#include "search/search.h"

#include <math.h>

#include "base/rng.h"

#define LOW_SHARE     0.1  /* of the capacity */
#define OVER_CAPACITY 1.05 /* times the capacity counts as a value that fails */
#define CLIMB	      1.6  /* from one value of the bracket to the next */
#define CLIMBS	      12   /* steps in which a wide range is climbed */
#define BISECTIONS    12
#define LOWERED	      0.97 /* after a trial that did not confirm */
#define LOWERINGS     5
#define HALF	      0.5
#define DRIFT	      1.10
#define DRIFT_SHARE   0.05 /* of the limit: less does not matter */
#define BORDER	      1.05
#define DOUBLINGS     2 /* of a trial in doubt */

static double within(const struct nm_search *search, double value)
{
	return fmin(fmax(round(value), search->settings.from), search->settings.to);
}

static void try(struct nm_search *search, enum nm_search_step step, double value)
{
	search->step = step;
	search->next = value;
}

/* The lowest value above `value` that the capacity rules out. */
static double bound(const struct nm_search *search, double value)
{
	double over = search->capacity * OVER_CAPACITY;

	return over > value ? over : INFINITY;
}

static void begin_bracket(struct nm_search *search)
{
	search->low = 0;
	search->high = bound(search, search->settings.from);
	search->n_lowered = 0;
	try(search, NM_SEARCH_LOW, within(search, floor(search->capacity * LOW_SHARE)));
}

void nm_search_init(struct nm_search *search, const struct nm_search_settings *settings)
{
	*search = (struct nm_search){.settings = *settings};
	begin_bracket(search);
	if (settings->capacity)
		try(search, NM_SEARCH_CAPACITY, NAN);
}

bool nm_search_ask(const struct nm_search *search, struct nm_search_trial *ret_trial)
{
	bool confirms = search->step == NM_SEARCH_CONFIRM || search->step == NM_SEARCH_HALF;

	if (search->outcome != NM_SEARCH_GOES_ON)
		return false;
	*ret_trial = (struct nm_search_trial){
		.value = search->next,
		.window = search->longer ? search->longer
			  : confirms	 ? 2
					 : 1,
		.done = search->done,
		.lengthens = search->step != NM_SEARCH_CAPACITY && search->step != NM_SEARCH_HALF,
		/* As large as documents keep. */
		.seed = nm_rng(search->settings.seed, search->n_trials) >> 1,
		.step = search->step,
	};
	return true;
}

/* --- steps --- */

/* The half stays the same when the value is lowered, so that drift can be told from that. */
static void confirm(struct nm_search *search)
{
	if (search->n_confirmed >= search->settings.confirm) {
		double above = within(search, fmax(search->low * BORDER, search->low + 1));

		if (search->settings.confirm == 0 || above <= search->low)
			search->outcome = NM_SEARCH_FOUND;
		else
			try(search, NM_SEARCH_BORDER, above);
		return;
	}
	if (search->half == 0)
		search->half = within(search, search->low * HALF);
	if (search->half < search->low)
		try(search, NM_SEARCH_HALF, search->half);
	else
		try(search, NM_SEARCH_CONFIRM, search->low);
}

/* Between low and high, in the middle of their logarithms. */
static void narrow(struct nm_search *search)
{
	double high = fmin(search->high, search->settings.to + 1);
	bool near = high <= search->low * (1 + NM_SEARCH_TOLERANCE) || high - search->low <= 1;
	double middle = round(sqrt(search->low * high));

	if (near || search->n_bisected >= BISECTIONS)
		confirm(search);
	else
		try(search, NM_SEARCH_BISECT, fmin(fmax(middle, search->low + 1), ceil(high) - 1));
}

/* Upward from low, as far as nothing is known to fail. */
static void climb(struct nm_search *search)
{
	double value = fmax(round(search->low * search->climb), search->low + 1);

	search->n_bisected = 0;
	search->n_confirmed = 0;
	search->half = 0;
	search->typical_least = search->typical_most = NAN;
	if (search->low >= search->settings.to)
		confirm(search);
	else if (value >= search->high)
		narrow(search);
	else
		try(search, NM_SEARCH_BRACKET, within(search, value));
}

static void tell_low(struct nm_search *search, bool pass)
{
	double end = fmin(search->high, search->settings.to);

	if (pass) {
		search->low = search->next;
		search->climb = fmax(CLIMB, pow(end / search->low, 1.0 / CLIMBS));
		climb(search);
	} else if (search->next > search->settings.from) {
		search->high = search->next;
		try(search, NM_SEARCH_LOW, within(search, floor(search->next * LOW_SHARE)));
	} else {
		search->outcome = search->drifted ? NM_SEARCH_UNSTABLE : NM_SEARCH_NOT_MET;
	}
}

static void tell_half(struct nm_search *search, const struct nm_search_verdict *verdict)
{
	search->typical_least = fmin(search->typical_least, verdict->typical);
	search->typical_most = fmax(search->typical_most, verdict->typical);
	double moved = search->typical_most - search->typical_least;

	if (!(search->typical_most > search->typical_least * DRIFT) ||
	    moved < DRIFT_SHARE * fabs(verdict->limit)) {
		try(search, NM_SEARCH_CONFIRM, search->low);
	} else if (search->drifted) {
		search->outcome = NM_SEARCH_UNSTABLE;
	} else {
		search->drifted = true;
		begin_bracket(search);
	}
}

static void tell_confirm(struct nm_search *search, bool pass)
{
	double lower = within(search, fmin(round(search->low * LOWERED), search->low - 1));

	if (pass) {
		search->n_confirmed++;
		confirm(search);
	} else if (lower >= search->low || search->n_lowered == LOWERINGS) {
		search->outcome = NM_SEARCH_UNCONFIRMED;
	} else {
		search->n_lowered++;
		search->n_confirmed = 0;
		search->high = search->low;
		search->low = lower;
		confirm(search);
	}
}

static void tell_border(struct nm_search *search, bool pass)
{
	if (!pass) {
		search->outcome = NM_SEARCH_FOUND;
		return;
	}
	/* The bracket was wrong. */
	search->low = search->next;
	search->high = bound(search, search->low);
	climb(search);
}

static void go_on(struct nm_search *search, const struct nm_search_verdict *verdict)
{
	bool pass = verdict->pass;

	switch (search->step) {
	case NM_SEARCH_CAPACITY:
		search->capacity = verdict->reached;
		begin_bracket(search);
		break;
	case NM_SEARCH_LOW:
		tell_low(search, pass);
		break;
	case NM_SEARCH_BRACKET:
		*(pass ? &search->low : &search->high) = search->next;
		if (pass)
			climb(search);
		else
			narrow(search);
		break;
	case NM_SEARCH_BISECT:
		*(pass ? &search->low : &search->high) = search->next;
		search->n_bisected++;
		narrow(search);
		break;
	case NM_SEARCH_HALF:
		tell_half(search, verdict);
		break;
	case NM_SEARCH_CONFIRM:
		tell_confirm(search, pass);
		break;
	case NM_SEARCH_BORDER:
		tell_border(search, pass);
		break;
	}
}

/* Whether the trial is to be longer. */
static bool lengthen(struct nm_search *search, const struct nm_search_trial *trial,
		     const struct nm_search_verdict *verdict)
{
	unsigned longer = trial->window;

	if (!trial->lengthens)
		return false;
	if (verdict->lengths > longer)
		longer = (unsigned)ceil(fmin(verdict->lengths, NM_SEARCH_LONGEST));
	else if (verdict->in_doubt && search->n_doubled++ < DOUBLINGS)
		longer = longer < NM_SEARCH_LONGEST / 2 ? 2 * longer : NM_SEARCH_LONGEST;
	search->done = trial->window;
	search->longer = longer;
	return longer > trial->window;
}

bool nm_search_tell(struct nm_search *search, const struct nm_search_verdict *verdict)
{
	struct nm_search_verdict decided = *verdict;
	struct nm_search_trial trial;

	if (!nm_search_ask(search, &trial))
		return true;
	if (lengthen(search, &trial, verdict))
		return false;
	search->done = search->longer = search->n_doubled = 0;
	decided.pass = trial.pass = verdict->pass && !verdict->in_doubt;
	trial.done = trial.window;
	search->trials[search->n_trials++] = trial;
	go_on(search, &decided);
	if (search->n_trials == NM_SEARCH_MAX && search->outcome == NM_SEARCH_GOES_ON)
		search->outcome = NM_SEARCH_UNCONFIRMED;
	return true;
}

/* --- results --- */

bool nm_search_is_out_of_order(const struct nm_search *search, size_t index)
{
	const struct nm_search_trial *trial = &search->trials[index];

	for (size_t i = 0; i < search->n_trials && trial->pass; i++) {
		const struct nm_search_trial *other = &search->trials[i];

		/* Never true of NaN. */
		if (!other->pass && trial->value > other->value * (1 + NM_SEARCH_TOLERANCE))
			return true;
	}
	return false;
}

const char *nm_search_step_name(enum nm_search_step step)
{
	static const char *const names[] = {
		[NM_SEARCH_CAPACITY] = "capacity", [NM_SEARCH_LOW] = "low",
		[NM_SEARCH_BRACKET] = "bracket",   [NM_SEARCH_BISECT] = "bisect",
		[NM_SEARCH_HALF] = "half",	   [NM_SEARCH_CONFIRM] = "confirm",
		[NM_SEARCH_BORDER] = "border",
	};

	return names[step];
}

const char *nm_search_outcome_name(enum nm_search_outcome outcome)
{
	static const char *const names[] = {
		[NM_SEARCH_GOES_ON] = "interrupted",	 [NM_SEARCH_FOUND] = "found",
		[NM_SEARCH_NOT_MET] = "not met",	 [NM_SEARCH_UNSTABLE] = "unstable",
		[NM_SEARCH_UNCONFIRMED] = "unconfirmed",
	};

	return names[outcome];
}
