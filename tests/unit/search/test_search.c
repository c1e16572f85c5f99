/* SPDX-License-Identifier: Apache-2.0 */
/* The search, against systems whose answers are known. */
#include "search/search.h"

#include <check.h>
#include <math.h>

#include "../suite.h"

#define SERVICE_S 500e-6

/* A system under test: its figure at a value, and the median by which drift is seen. */
struct system {
	double (*figure)(double value, double *ret_typical);
	double limit;
	double slower; /* it gets slower by this factor with each trial; 0: it does not */
	/* a closed loop, where requests come together, does as many times as much; 0: as much */
	double together;
};

/* The 99th percentile of the response of an M/M/1 queue. */
static double queue(double rate, double *ret_typical)
{
	double spare = 1 / SERVICE_S - rate;

	*ret_typical = spare > 0 ? log(2) / spare : INFINITY;
	return spare > 0 ? log(100) / spare : INFINITY;
}

/* Stalls make up its high percentiles at any rate. */
static double stalling(double rate, double *ret_typical)
{
	(void)rate;
	*ret_typical = SERVICE_S;
	return 50e-3;
}

static double value_itself(double value, double *ret_typical)
{
	*ret_typical = value;
	return value;
}

static void run(struct nm_search *search, const struct nm_search_settings *settings,
		struct system system)
{
	struct nm_search_trial trial;
	double slowness = 1;

	nm_search_init(search, settings);
	while (nm_search_ask(search, &trial)) {
		struct nm_search_verdict verdict = {.limit = system.limit,
						    .reached = fmax(system.together, 1) * 0.99 /
							       SERVICE_S};
		double figure = system.figure(trial.value * slowness, &verdict.typical) * slowness;

		verdict.typical *= slowness;
		verdict.pass = figure <= system.limit;
		slowness *= system.slower > 0 ? system.slower : 1;
		nm_search_tell(search, &verdict);
	}
}

/* The last trial of a step; the search has one. */
static const struct nm_search_trial *last_of(const struct nm_search *search,
					     enum nm_search_step step)
{
	const struct nm_search_trial *trial = &search->trials[search->n_trials];

	while ((--trial)->step != step)
		ck_assert_ptr_ne(trial, search->trials);
	return trial;
}

static const struct nm_search_settings rates = {.from = 100, .to = 4000, .confirm = 3, .seed = 1};
static const struct nm_search_settings arrivals = {
	.from = 10, .to = 1e6, .confirm = 3, .seed = 1, .capacity = true};

START_TEST(a_queue_is_found_where_its_formula_says)
{
	const double limits[] = {10e-3, 5e-3}, expected[] = {1539.5, 1079.0};
	struct nm_search search;

	run(&search, _i / 2 ? &arrivals : &rates,
	    (struct system){.figure = queue, .limit = limits[_i % 2]});
	ck_assert_int_eq(search.outcome, NM_SEARCH_FOUND);
	ck_assert_double_le(search.low, expected[_i % 2]);
	ck_assert_double_ge(search.low, expected[_i % 2] * (1 - NM_SEARCH_TOLERANCE));
	ck_assert_uint_le(search.n_trials, 25);
	/* Half the value and the value in turns, at last the border. */
	for (size_t i = 1; i <= 6; i++)
		ck_assert_int_eq(search.trials[search.n_trials - 1 - i].step,
				 i % 2 ? NM_SEARCH_CONFIRM : NM_SEARCH_HALF);
	ck_assert_uint_eq(last_of(&search, NM_SEARCH_CONFIRM)->window, 2);
	ck_assert_double_eq(last_of(&search, NM_SEARCH_BORDER)->value, round(search.low * 1.05));
	for (size_t i = 0; i < search.n_trials; i++)
		ck_assert(!nm_search_is_out_of_order(&search, i));
}
END_TEST

START_TEST(the_capacity_bounds_what_is_tried)
{
	struct nm_search search;

	run(&search, &arrivals, (struct system){.figure = queue, .limit = 10e-3});
	ck_assert_int_eq(search.trials[0].step, NM_SEARCH_CAPACITY);
	ck_assert(isnan(search.trials[0].value));
	ck_assert_double_eq(search.trials[1].value, floor(0.1 * 0.99 / SERVICE_S));
	for (size_t i = 1; i < search.n_trials; i++)
		ck_assert_double_lt(search.trials[i].value, 1.05 * 0.99 / SERVICE_S);
}
END_TEST

/* With pipelines the other end takes many requests at a time from a closed loop, and each for
 * itself from open arrivals. */
START_TEST(a_capacity_of_pipelines_is_far_above_what_arrivals_reach)
{
	const double together[] = {2, 16, 256};
	struct nm_search search;

	run(&search, &arrivals,
	    (struct system){.figure = queue, .limit = 10e-3, .together = together[_i]});
	ck_assert_int_eq(search.outcome, NM_SEARCH_FOUND);
	ck_assert_double_le(search.low, 1539.5);
	ck_assert_double_ge(search.low, 1539.5 * (1 - NM_SEARCH_TOLERANCE));
	ck_assert_uint_le(search.n_trials, 25);
	/* Down by tenths to one that passes, and up from there, not from what has failed. */
	const struct nm_search_trial *low = last_of(&search, NM_SEARCH_LOW);

	ck_assert_double_eq_tol(low->value, search.capacity * pow(0.1, _i + 1), 1);
	ck_assert(low->pass && low[1].step == NM_SEARCH_BRACKET && low[1].value > low->value);
}
END_TEST

START_TEST(an_objective_that_no_value_meets_takes_few_trials)
{
	struct nm_search search;

	run(&search, _i ? &arrivals : &rates, (struct system){.figure = stalling, .limit = 10e-3});
	ck_assert_int_eq(search.outcome, NM_SEARCH_NOT_MET);
	ck_assert_uint_le(search.n_trials, 4);
	ck_assert_double_eq(search.trials[search.n_trials - 1].value, _i ? 10 : 100);
}
END_TEST

START_TEST(an_objective_that_every_value_meets_gives_the_last_one)
{
	struct nm_search_settings settings = {.from = _i ? 7 : 1, .to = 7, .confirm = 2};
	struct nm_search search;

	run(&search, &settings, (struct system){.figure = value_itself, .limit = 1e9});
	ck_assert_int_eq(search.outcome, NM_SEARCH_FOUND);
	ck_assert_double_eq(search.low, 7);
	ck_assert_int_eq(search.trials[search.n_trials - 1].step, NM_SEARCH_CONFIRM);
}
END_TEST

START_TEST(small_numbers_end_at_neighbours)
{
	struct nm_search_settings settings = {.from = 1, .to = 1000, .confirm = 1};
	struct nm_search search;

	for (double limit = 1; limit < 1000; limit = floor(limit * 1.3 + 1)) {
		run(&search, &settings, (struct system){.figure = value_itself, .limit = limit});
		ck_assert_int_eq(search.outcome, NM_SEARCH_FOUND);
		ck_assert_double_le(search.low, limit);
		ck_assert_double_ge(search.low, fmin(limit, limit / (1 + NM_SEARCH_TOLERANCE)));
	}
}
END_TEST

START_TEST(a_server_that_degrades_is_unstable)
{
	struct nm_search search;

	run(&search, _i ? &arrivals : &rates,
	    (struct system){.figure = queue, .limit = 10e-3, .slower = 1.06});
	ck_assert_int_eq(search.outcome, NM_SEARCH_UNSTABLE);
}
END_TEST

/* Tells verdicts in order: p passes, f fails. */
static void play(struct nm_search *search, const char *verdicts, double typical, double limit)
{
	for (; *verdicts; verdicts++)
		nm_search_tell(search, &(struct nm_search_verdict){.pass = *verdicts == 'p',
								   .typical = typical,
								   .limit = limit});
}

START_TEST(drift_counts_where_it_matters)
{
	struct nm_search_settings settings = {.from = 100, .to = 160, .confirm = 2};
	struct nm_search search;

	nm_search_init(&search, &settings);
	play(&search, "pppp", 20e-6, _i ? 1e-3 : 50e-6); /* low, bracket, half, confirm */
	ck_assert_int_eq(search.step, NM_SEARCH_HALF);
	play(&search, "p", 30e-6, _i ? 1e-3 : 50e-6); /* 10 us more, of 1 ms or of 50 us */
	ck_assert_int_eq(search.step, _i ? NM_SEARCH_CONFIRM : NM_SEARCH_LOW);
	ck_assert_int_eq(search.outcome, NM_SEARCH_GOES_ON);
}
END_TEST

START_TEST(a_value_that_fails_again_is_lowered_five_times)
{
	struct nm_search_settings settings = {.from = 100, .to = 160, .confirm = 3};
	struct nm_search search;

	nm_search_init(&search, &settings);
	play(&search, "pp", NAN, NAN); /* the whole range */
	for (int i = 0; i < 5; i++)
		play(&search, "pf", NAN, NAN); /* half, confirm */
	ck_assert_int_eq(search.outcome, NM_SEARCH_GOES_ON);
	ck_assert_double_lt(search.low, 160 * 0.9);
	play(&search, "pf", NAN, NAN);
	ck_assert_int_eq(search.outcome, NM_SEARCH_UNCONFIRMED);
}
END_TEST

START_TEST(a_border_that_passes_shows_that_the_bracket_was_wrong)
{
	struct nm_search_settings settings = {.from = 100, .to = 4000, .confirm = 1};
	struct nm_search search;

	nm_search_init(&search, &settings);
	play(&search, "pf", NAN, NAN); /* low; the first of the bracket */
	while (search.step == NM_SEARCH_BISECT)
		play(&search, "f", NAN, NAN);
	play(&search, "p", NAN, NAN);
	ck_assert_int_eq(search.step, NM_SEARCH_BORDER);
	play(&search, "p", NAN, NAN);
	ck_assert_int_eq(search.step, NM_SEARCH_BRACKET);
	ck_assert(nm_search_is_out_of_order(&search, search.n_trials - 1));
	ck_assert(!nm_search_is_out_of_order(&search, 0));
	ck_assert_double_gt(search.next, 105);
}
END_TEST

START_TEST(a_border_that_passes_is_still_below_the_capacity)
{
	struct nm_search_settings settings = {.from = 1, .to = 1e6, .confirm = 1, .capacity = true};
	struct nm_search search;

	nm_search_init(&search, &settings);
	nm_search_tell(&search, &(struct nm_search_verdict){.reached = 1000});
	play(&search, "pf", NAN, NAN); /* low: 100; the first of the bracket */
	while (search.step == NM_SEARCH_BISECT)
		play(&search, "f", NAN, NAN);
	play(&search, "pp", NAN, NAN); /* half, confirm */
	ck_assert_int_eq(search.step, NM_SEARCH_BORDER);
	while (search.step == NM_SEARCH_BORDER || search.step == NM_SEARCH_BRACKET)
		play(&search, "p", NAN, NAN);
	ck_assert_double_eq(search.high, 1050);
	ck_assert_double_lt(search.next, 1050);
}
END_TEST

/* Tells of the next trial that it has passed, but may as well have failed. */
static bool doubt(struct nm_search *search)
{
	return !nm_search_tell(search, &(struct nm_search_verdict){.pass = true, .in_doubt = true});
}

START_TEST(a_trial_in_doubt_goes_on_twice_and_then_fails)
{
	struct nm_search_settings settings = {.from = 100, .to = 160, .confirm = 2};
	struct nm_search_trial trial, first;
	struct nm_search search;

	nm_search_init(&search, &settings);
	nm_search_ask(&search, &first);
	for (unsigned done = 1; done <= 2; done *= 2) {
		ck_assert(doubt(&search));
		ck_assert(nm_search_ask(&search, &trial));
		ck_assert_uint_eq(trial.done, done);
		ck_assert_uint_eq(trial.window, 2 * done);
		ck_assert_double_eq(trial.value, first.value);
		ck_assert_uint_eq(trial.seed, first.seed);
	}
	if (_i) { /* it is still in doubt, or passes */
		ck_assert(!doubt(&search));
		ck_assert_int_eq(search.outcome, NM_SEARCH_NOT_MET);
	} else {
		play(&search, "p", NAN, NAN);
		ck_assert_int_eq(search.step, NM_SEARCH_BRACKET);
		ck_assert(nm_search_ask(&search, &trial));
		ck_assert_uint_eq(trial.done, 0);
		ck_assert_uint_eq(trial.window, 1);
	}
	ck_assert_uint_eq(search.n_trials, 1);
	ck_assert(search.trials[0].pass == !_i);
	ck_assert_uint_eq(search.trials[0].window, 4);
}
END_TEST

START_TEST(a_trial_is_as_long_as_its_figures_need)
{
	const double needed[] = {3.2, 1e9};
	const unsigned expected[] = {4, NM_SEARCH_LONGEST};
	struct nm_search_settings settings = {.from = 100, .to = 160, .confirm = 2};
	struct nm_search_trial trial;
	struct nm_search search;

	nm_search_init(&search, &settings);
	ck_assert(!nm_search_tell(
		&search, &(struct nm_search_verdict){.pass = true, .lengths = needed[_i]}));
	ck_assert(nm_search_ask(&search, &trial));
	ck_assert_uint_eq(trial.done, 1);
	ck_assert_uint_eq(trial.window, expected[_i]);
	/* The longest is told as it is. */
	ck_assert(nm_search_tell(
		&search, &(struct nm_search_verdict){.pass = true, .lengths = _i ? 1e9 : 0}));
	ck_assert_int_eq(search.step, NM_SEARCH_BRACKET);
	play(&search, "p", NAN, NAN);
	ck_assert_int_eq(search.step, NM_SEARCH_HALF);
	/* Half the value is compared by its median. */
	ck_assert(!doubt(&search));
}
END_TEST

START_TEST(seeds_differ_and_follow_from_the_first)
{
	struct nm_search search, again;

	run(&search, &rates, (struct system){.figure = queue, .limit = 10e-3});
	run(&again, &rates, (struct system){.figure = queue, .limit = 10e-3});
	for (size_t i = 0; i < search.n_trials; i++) {
		ck_assert_uint_eq(search.trials[i].seed, again.trials[i].seed);
		ck_assert(i == 0 || search.trials[i].seed != search.trials[i - 1].seed);
	}
}
END_TEST

/* The capacity is above the range, all of which passes. */
START_TEST(no_value_is_beyond_the_range)
{
	static const struct nm_search_settings narrow = {
		.from = 1200, .to = 2000, .confirm = 3, .seed = 1, .capacity = true};
	struct nm_search search;

	run(&search, &narrow, (struct system){.figure = stalling, .limit = 1});
	ck_assert_int_eq(search.outcome, NM_SEARCH_FOUND);
	ck_assert_double_eq(search.low, 2000);
	for (size_t i = 0; i < search.n_trials; i++)
		ck_assert(!(search.trials[i].value > 2000));
}
END_TEST

/* A value near the lowest one passes once; the lowest one always. */
START_TEST(at_last_the_lowest_value_is_confirmed)
{
	static const struct nm_search_settings settings = {
		.from = 1000, .to = 1010, .confirm = 2, .seed = 1};
	struct nm_search search;
	struct nm_search_trial trial;

	nm_search_init(&search, &settings);
	while (nm_search_ask(&search, &trial)) {
		struct nm_search_verdict verdict = {.typical = 1, .limit = 1};

		verdict.pass = trial.value <= 1000 || trial.step == NM_SEARCH_BRACKET;
		nm_search_tell(&search, &verdict);
	}
	ck_assert_int_eq(search.outcome, NM_SEARCH_FOUND);
	ck_assert_double_eq(search.low, 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("search");
	TCase *tc = tcase_create("search");

	tcase_add_loop_test(tc, a_queue_is_found_where_its_formula_says, 0, 4);
	tcase_add_test(tc, the_capacity_bounds_what_is_tried);
	tcase_add_loop_test(tc, a_capacity_of_pipelines_is_far_above_what_arrivals_reach, 0, 3);
	tcase_add_loop_test(tc, an_objective_that_no_value_meets_takes_few_trials, 0, 2);
	tcase_add_loop_test(tc, an_objective_that_every_value_meets_gives_the_last_one, 0, 2);
	tcase_add_test(tc, small_numbers_end_at_neighbours);
	tcase_add_loop_test(tc, a_server_that_degrades_is_unstable, 0, 2);
	tcase_add_loop_test(tc, drift_counts_where_it_matters, 0, 2);
	tcase_add_test(tc, a_value_that_fails_again_is_lowered_five_times);
	tcase_add_test(tc, a_border_that_passes_shows_that_the_bracket_was_wrong);
	tcase_add_test(tc, a_border_that_passes_is_still_below_the_capacity);
	tcase_add_loop_test(tc, a_trial_in_doubt_goes_on_twice_and_then_fails, 0, 2);
	tcase_add_loop_test(tc, a_trial_is_as_long_as_its_figures_need, 0, 2);
	tcase_add_test(tc, seeds_differ_and_follow_from_the_first);
	tcase_add_test(tc, no_value_is_beyond_the_range);
	tcase_add_test(tc, at_last_the_lowest_value_is_confirmed);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
