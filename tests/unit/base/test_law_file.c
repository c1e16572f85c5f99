/* SPDX-License-Identifier: Apache-2.0 */
#include "base/law_file.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static const struct {
	const char *text, *unit, *points;
} good[] = {
	{"0 0\n10000 .15\n30000 1\n", "", "0:0,10000:0.15,30000:1"},
	{"# ns-2\n\n1 1 0\n1 2 0.5 # half\r\n2.5 3 1", "1460", "1460:0,1460:0.5,3650:1"},
	{"1\t50\n7 100\n", "1us", "1us:50,7us:100"},
	{"0.25 100\n", "", "0.25:100"},
};

static int read_points(const char *text, const char *unit, char *buf, size_t size, unsigned *line,
		       char *why, size_t why_size)
{
	char copy[256];

	snprintf(copy, sizeof copy, "%s", text);
	return nm_law_file_points(copy, unit, buf, size, line, why, why_size);
}

START_TEST(points_of_files)
{
	char buf[128], why[256] = "";
	unsigned line;
	int error =
		read_points(good[_i].text, good[_i].unit, buf, sizeof buf, &line, why, sizeof why);

	ck_assert_msg(error == 0, "%s", why);
	ck_assert_str_eq(buf, good[_i].points);
}
END_TEST

static const struct {
	const char *text, *unit;
	unsigned line;
	const char *why;
} bad[] = {
	{"0 0\nabc 1\n", "", 2, "\"abc\": not a number that can be a value"},
	{"0 0\n-5 1\n", "", 2, "\"-5\": not a number that can be a value"},
	{"1\n", "", 1, "\"1\": not two or three columns: a value, and last its probability"},
	{"1 2 3 4\n", "", 1, "\"1\": not two or three columns: a value, and last its probability"},
	{"1 p\n", "", 1, "\"p\": not a probability: from 0 to 1, or to 100"},
	{"1 101\n", "", 1, "\"101\": not a probability: from 0 to 1, or to 100"},
	{"5 0.5\n4 1\n", "", 2, "\"4\": less than the value before; values must not fall"},
	{"5 0.5\n\n6 0.4\n7 1", "", 3,
	 "\"0.4\": less than the probability before; they must not fall"},
	{"5 0.5\n6 0.9\n", "", 0, "the last probability must be 1 or 100"},
	{"# nothing\n", "", 0, "has no points"},
	{"", "", 0, "has no points"},
	{"1 1", "0", 0, "\"0\": not a unit: a number with or without a suffix"},
	{"2000000000000 1", "", 1, "\"2000000000000\": not a number that can be a value"},
	{"1 0.5\n100000000000 0.75\n200000000000 1", "", 3,
	 "the points before it are too many already: at most 31 bytes"},
};

START_TEST(what_is_wrong_with_files)
{
	char buf[32], why[256] = "";
	unsigned line = 77;

	ck_assert_int_eq(
		read_points(bad[_i].text, bad[_i].unit, buf, sizeof buf, &line, why, sizeof why),
		-EINVAL);
	ck_assert_str_eq(why, bad[_i].why);
	ck_assert_uint_eq(line, bad[_i].line);
}
END_TEST

START_TEST(a_file_may_have_many_points)
{
	static char text[65536], buf[65536];
	char why[256];
	unsigned line, count;

	for (unsigned most = 4096; most <= 4097; most++) {
		size_t used = 0;

		for (count = 0; count < most; count++)
			used += (size_t)snprintf(text + used, sizeof text - used, "%u %u\n", count,
						 count == most - 1);
		ck_assert_int_eq(
			nm_law_file_points(text, "", buf, sizeof buf, &line, why, sizeof why),
			most == 4096 ? 0 : -EINVAL);
	}
	ck_assert_uint_eq(line, 4097);
	ck_assert_str_eq(why, "more points than 4096");
}
END_TEST

START_TEST(names_of_files)
{
	ck_assert(!nm_law_names_file("vl2", 3));
	ck_assert(!nm_law_names_file("websearch;step)", 9));
	ck_assert(!nm_law_names_file("0:0,5:1", 7));
	ck_assert(nm_law_names_file("VL2", 3));
	ck_assert(nm_law_names_file("./vl2", 5));
	ck_assert(nm_law_names_file("0.cdf", 5));
	ck_assert(nm_law_names_file("a/very/long/path/to/some/file.cdf", 33));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("files of laws");
	TCase *tc = tcase_create("files");

	tcase_add_loop_test(tc, points_of_files, 0, COUNT_OF(good));
	tcase_add_loop_test(tc, what_is_wrong_with_files, 0, COUNT_OF(bad));
	tcase_add_test(tc, a_file_may_have_many_points);
	tcase_add_test(tc, names_of_files);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
