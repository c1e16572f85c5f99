/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges: their values as a profile is given them, and what is refused. */
#include "search/range.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *text;
	enum nm_type type;
	const char *values;
} right[] = {
	{"1..64:*2", NM_TYPE_COUNT, "1 2 4 8 16 32 64"},
	{"1..10:*1.2", NM_TYPE_COUNT, "1 2 3 4 5 6 7 9"},
	{"1k..10k:3k", NM_TYPE_COUNT, "1000 4000 7000 10000"},
	{"512..2k:*2", NM_TYPE_SIZE, "512 1024 2048"},
	{"exp(1k..3k:1k)", NM_TYPE_SIZES, "exp(1024) exp(2048) exp(3072)"},
	{"1..7:3", NM_TYPE_INTEGER, "1 4 7"},
	{"5..5:1", NM_TYPE_COUNT, "5"},
	{"10..50:25", NM_TYPE_COUNT, "10 35"},
	{"100us..10ms:*10", NM_TYPE_DURATION, "100000ns 1000000ns 10000000ns"},
	{"lognormal(1ms..4ms:*2,1)", NM_TYPE_DURATIONS,
	 "lognormal(1000000ns,1) lognormal(2000000ns,1) lognormal(4000000ns,1)"},
	{"1k/s..2k/s:500/s", NM_TYPE_RATE, "1000/s 1500/s 2000/s"},
	{"1..2:1", NM_TYPE_RATE, "1 2"},
	{"1Gb/s..2Gb/s:500Mb/s", NM_TYPE_BITRATE, "1000000000b/s 1500000000b/s 2000000000b/s"},
	{"poisson(1k/s..11k/s:5k/s)", NM_TYPE_STRING,
	 "poisson(1000/s) poisson(6000/s) poisson(11000/s)"},
	{"rand(10,10..30:10)", NM_TYPE_STRING, "rand(10,10) rand(10,20) rand(10,30)"},
};

static const struct {
	const char *text, *why;
	enum nm_type type;
} wrong[] = {
	{"64", "must be FROM..TO", NM_TYPE_COUNT},
	{"..3:1", "must be FROM..TO", NM_TYPE_COUNT},
	{"1..3:", "must be FROM..TO", NM_TYPE_COUNT},
	{"f(1..3:1,1..2:1)", "must be FROM..TO", NM_TYPE_STRING},
	{"1...3:1", "1...3: must be two whole values of the type count", NM_TYPE_COUNT},
	{"3..1:1", "3..1: must be two whole values of the type count", NM_TYPE_COUNT},
	{"0..1:1", "0..1: must be two whole values of the type count", NM_TYPE_COUNT},
	{"1..x:1", "1..x: must be two whole values of the type count", NM_TYPE_COUNT},
	{"1ms..1k:1", "1ms..1k: must be two whole values of the type duration", NM_TYPE_DURATION},
	{"0.5..2", "0.5..2: must be two whole values of the type rate", NM_TYPE_STRING},
	{"a..b", "a parameter of the type host has no range", NM_TYPE_HOST},
	{"1..9:*1", ":*1: a factor must be a number from 1.01 on", NM_TYPE_COUNT},
	{"1..9:*2k", ":*2k: a factor must be", NM_TYPE_COUNT},
	{"1..9:0", ":0: a step must be a whole value of the same type", NM_TYPE_COUNT},
	{"1ms..9ms:1k", ":1k: a step must be", NM_TYPE_DURATION},
	{"1..1001:1", "at most 1000 values, and these are more", NM_TYPE_COUNT},
};

START_TEST(a_range_has_these_values)
{
	struct nm_range range;
	char why[256] = "", values[512] = "";
	int error = nm_range_parse(right[_i].text, right[_i].type, NM_READING_NETMODEL, &range, why,
				   sizeof(why));

	ck_assert_msg(error == 0, "%s: %s", right[_i].text, why);
	for (size_t i = 0; i < nm_range_count(&range); i++) {
		char *text = nm_range_text(&range, nm_range_value(&range, i));
		size_t used = strlen(values);

		ck_assert_ptr_nonnull(text);
		snprintf(values + used, sizeof(values) - used, "%s%s", i ? " " : "", text);
		free(text);
	}
	ck_assert_str_eq(values, right[_i].values);
	nm_range_fini(&range);
}
END_TEST

START_TEST(other_texts_are_refused)
{
	struct nm_range range;
	char why[256] = "";
	int error = nm_range_parse(wrong[_i].text, wrong[_i].type, NM_READING_NETMODEL, &range, why,
				   sizeof(why));

	ck_assert_int_eq(error, -EINVAL);
	ck_assert_msg(strncmp(why, wrong[_i].why, strlen(wrong[_i].why)) == 0, "%s: %s",
		      wrong[_i].text, why);
	nm_range_fini(&range);
}
END_TEST

START_TEST(a_search_needs_no_step)
{
	struct nm_range range;
	char why[256];

	ck_assert_int_eq(nm_range_parse("const(1k/s..1M/s)", NM_TYPE_STRING, NM_READING_NETMODEL,
					&range, why, sizeof(why)),
			 0);
	ck_assert(!range.has_step);
	ck_assert_double_eq(range.from, 1e3);
	ck_assert_double_eq(range.to, 1e6);
	nm_range_fini(&range);
}
END_TEST

START_TEST(units_are_those_of_the_profile)
{
	struct nm_range range;
	char why[256];

	ck_assert_int_eq(
		nm_range_parse("1k..2k", NM_TYPE_COUNT, NM_READING_UPERF, &range, why, sizeof(why)),
		0);
	ck_assert_double_eq(range.from, 1024);
	nm_range_fini(&range);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("range");
	TCase *tc = tcase_create("range");

	tcase_add_loop_test(tc, a_range_has_these_values, 0, COUNT_OF(right));
	tcase_add_loop_test(tc, other_texts_are_refused, 0, COUNT_OF(wrong));
	tcase_add_test(tc, a_search_needs_no_step);
	tcase_add_test(tc, units_are_those_of_the_profile);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
