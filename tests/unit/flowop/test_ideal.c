/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/ideal.h"

#include <check.h>
#include <string.h>

#include "../suite.h"

static struct nm_ideal ideal_of(const char *text)
{
	struct nm_ideal ideal = {.kind = NM_IDEAL_NONE};
	char why[256];

	ck_assert_msg(nm_ideal_parse(text, NM_READING_NETMODEL, &ideal, why, sizeof why) == 0,
		      "%s: %s", text, why);
	return ideal;
}

START_TEST(link_and_base_come_in_any_order)
{
	const struct nm_ideal a = ideal_of("link=10Gb/s base=30us"),
			      b = ideal_of("  base=0\n\tlink=1000 ");
	char text[64];

	ck_assert_double_eq(a.link_bps, 1e10);
	ck_assert_uint_eq(a.base_ns, 30000);
	ck_assert_str_eq(nm_ideal_text(&a, text, sizeof text), "link=10000000000b/s base=30000ns");
	ck_assert_double_eq(b.link_bps, 1000);
	ck_assert_uint_eq(b.base_ns, 0);
}
END_TEST

START_TEST(a_text_is_read_as_what_was_written)
{
	static const char *const texts[] = {"link=2000Gb/s base=0", "link=999999.5Gb/s base=1ms",
					    "link=1000000Gb/s base=1ms", "link=33.3Mb/s base=1s"};
	char text[64];

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const struct nm_ideal ideal = ideal_of(texts[i]);
		const struct nm_ideal again = ideal_of(nm_ideal_text(&ideal, text, sizeof text));

		ck_assert_double_eq(again.link_bps, ideal.link_bps);
		ck_assert_uint_eq(again.base_ns, ideal.base_ns);
	}
}
END_TEST

START_TEST(words_stand_for_what_is_measured)
{
	char text[64];

	ck_assert_int_eq(ideal_of("auto").kind, NM_IDEAL_MEASURED);
	ck_assert_int_eq(ideal_of("Probe").kind, NM_IDEAL_PROBE);
	for (enum nm_ideal_kind kind = NM_IDEAL_MEASURED; kind <= NM_IDEAL_PROBE; kind++) {
		const struct nm_ideal ideal = {.kind = kind};

		ck_assert_int_eq(ideal_of(nm_ideal_text(&ideal, text, sizeof text)).kind, kind);
	}
}
END_TEST

START_TEST(mistakes_are_named)
{
	static const char *const bad[][2] = {
		{"10Gb/s", "must be auto, or link=BITRATE base=DURATION, as link=10Gb/s base=30us"},
		{"", "must be auto, or link="},
		{"auto base=3us", "must be auto"},
		{"link=10Gb/s", "must be auto, or link="},
		{"base=3us", "must be auto, or link="},
		{"link=10Gb/s base=3us base=3us", "must be auto, or link="},
		{"link=10Gb/s base=3us mtu=9000", "must be auto, or link="},
		{"link=0 base=3us", "link=\"0\": "},
		{"link=fast base=3us", "link=\"fast\": "},
		{"link=1Gb/s base=-1us", "base=\"-1us\": "}};
	struct nm_ideal ideal = {.link_bps = 7};
	char why[256];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		ck_assert_int_lt(
			nm_ideal_parse(bad[i][0], NM_READING_NETMODEL, &ideal, why, sizeof why), 0);
		ck_assert_msg(strstr(why, bad[i][1]), "%s: %s", bad[i][0], why);
		ck_assert_double_eq(ideal.link_bps, 7);
	}
}
END_TEST

/* 90 bytes for each packet of up to 1448. */
START_TEST(a_link_carries_packets)
{
	const struct nm_ideal ideal = ideal_of("link=1Gb/s base=100us");

	ck_assert_double_eq_tol(nm_ideal_ns(&ideal, 1), 100000 + 8 * 91, 1e-6);
	ck_assert_double_eq_tol(nm_ideal_ns(&ideal, 1448), 100000 + 8 * 1538, 1e-6);
	ck_assert_double_eq_tol(nm_ideal_ns(&ideal, 1449), 100000 + 8 * (1449 + 180), 1e-6);
	ck_assert_double_eq_tol(nm_ideal_ns(&ideal, 1448000), 100000 + 8 * 1538000, 1e-6);
}
END_TEST

START_TEST(a_slowdown_is_a_multiple_of_the_ideal)
{
	const struct nm_ideal ideal = ideal_of("link=1Gb/s base=100us"),
			      none = ideal_of("link=1000000Gb/s base=0");

	ck_assert_uint_eq(nm_ideal_slowdown(nm_ideal_ns(&ideal, 1448), 112304), 1000000000);
	ck_assert_uint_eq(nm_ideal_slowdown(nm_ideal_ns(&ideal, 1448), 3 * 112304), 3000000000);
	ck_assert_uint_eq(nm_ideal_slowdown(nm_ideal_ns(&ideal, 1448), 56152), 500000000);
	ck_assert_uint_eq(nm_ideal_slowdown(nm_ideal_ns(&none, 1), UINT64_MAX), INT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ideal");
	TCase *tc = tcase_create("ideal");

	tcase_add_test(tc, link_and_base_come_in_any_order);
	tcase_add_test(tc, a_text_is_read_as_what_was_written);
	tcase_add_test(tc, words_stand_for_what_is_measured);
	tcase_add_test(tc, mistakes_are_named);
	tcase_add_test(tc, a_link_carries_packets);
	tcase_add_test(tc, a_slowdown_is_a_multiple_of_the_ideal);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
