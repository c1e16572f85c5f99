/* SPDX-License-Identifier: Apache-2.0 */
/* When a figure has settled, and what is wrong with the text that says so. */
#include "plan/plateau.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "../suite.h"

static struct nm_plateau plateau_of(const char *text)
{
	struct nm_plateau plateau;
	char why[256];

	ck_assert_msg(nm_plateau_parse(text, &plateau, why, sizeof why) == 0, "%s: %s", text, why);
	return plateau;
}

START_TEST(figures_are_read)
{
	struct nm_plateau plateau = plateau_of("plateau(latency.p99.9,5%)");

	ck_assert_int_eq(plateau.figure, NM_PLATEAU_LATENCY);
	ck_assert_double_eq(plateau.percentile, 99.9);
	ck_assert_double_eq(plateau.share, 0.05);
	ck_assert_str_eq(plateau.name, "latency.p99.9");
	plateau = plateau_of("plateau(response.mean,0.5%)");
	ck_assert_int_eq(plateau.figure, NM_PLATEAU_RESPONSE);
	ck_assert(isnan(plateau.percentile));
	ck_assert_int_eq(plateau_of("plateau(bits_per_s,1%)").figure, NM_PLATEAU_BITS);
	ck_assert_int_eq(plateau_of("plateau(transactions_per_s,100%)").figure,
			 NM_PLATEAU_TRANSACTIONS);
}
END_TEST

START_TEST(mistakes_are_named)
{
	static const char *const bad[][2] = {
		{"", "must be plateau(FIGURE,SHARE), as plateau(latency.p50,5%)"},
		{"plateau", "must be"},
		{"plateau(latency.p50)", "must be"},
		{"plateau(latency.p50,5%", "must be"},
		{"plateau(latency.p50,5%) ", "must be"},
		{"plateau(latency.p50,5%,6%)", "must be"},
		{"plateau(latency.p101,5%)", "must be"},
		{"plateau(latency.p,5%)", "must be"},
		{"plateau(latency,5%)", "must be"},
		{"plateau(bits_per_s2,5%)", "must be"},
		{"plateau(latency.p50,5)", "\"5\" is no share above 0"},
		{"plateau(latency.p50,0%)", "\"0%\" is no share above 0"},
		{"plateau(latency.p50,-1%)", "\"-1%\" is no share"},
		{"plateau(latency.p50,101%)", "\"101%\" is no share"},
		{"plateau(latency.p5000000000000000000000000000000000000,5%)", "must be"},
	};
	struct nm_plateau plateau;
	char why[256];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ck_assert_int_lt(nm_plateau_parse(bad[i][0], &plateau, why, sizeof why), 0);
		ck_assert_msg(strstr(why, bad[i][1]), "%s: %s", bad[i][0], why);
	}
}
END_TEST

/* Of the last five values none is further from their mean than the share. */
START_TEST(a_figure_settles)
{
	static const struct {
		double value;
		bool settled;
	} of[] = {{100, false}, {100, false}, {100, false}, {100, false}, {126, false},
		  {100, false}, {100, false}, {100, false}, {100, false}, {104, true},
		  {96, true},	{NAN, false}, {100, false}, {100, false}, {100, false},
		  {100, false}, {100, true},  {0, false}};
	struct nm_plateau plateau = plateau_of("plateau(latency.p50,5%)");
	struct nm_plateau_seen seen = {.count = 0};

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		ck_assert_msg(nm_plateau_add(&plateau, &seen, of[i].value) == of[i].settled,
			      "value %zu", i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plateau");
	TCase *tcase = tcase_create("plateau");

	tcase_add_test(tcase, figures_are_read);
	tcase_add_test(tcase, mistakes_are_named);
	tcase_add_test(tcase, a_figure_settles);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
