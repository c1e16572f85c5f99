/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of fields: differences of two readings. */
#include <check.h>

#include "../suite.h"
#include "base/field.h"

struct reading {
	uint64_t bytes, peak, wrapped;
	uint32_t cpus;
	char name[4];
};

static const struct nm_field fields[] = {
	NM_FIELD(U64, struct reading, bytes),
	NM_FIELD(U64, struct reading, peak, .unit = NM_UNIT_PEAK),
	NM_FIELD(U64, struct reading, wrapped),
	NM_FIELD(U32, struct reading, cpus),
	NM_FIELD_CHARS_OF(struct reading, name),
	NM_FIELD_END,
};

static const struct reading before = {10, 5, 9, 2, "old"}, after = {25, 7, 3, 4, "new"};

START_TEST(a_difference_is_of_counts_alone)
{
	struct reading difference = {.cpus = 8, .name = "own"};

	nm_fields_subtract(fields, &before, &after, &difference);
	ck_assert_uint_eq(difference.bytes, 15);
	ck_assert_uint_eq(difference.peak, 7);
	ck_assert_uint_eq(difference.wrapped, 0);
	ck_assert_uint_eq(difference.cpus, 8);
	ck_assert_str_eq(difference.name, "own");
}
END_TEST

START_TEST(a_difference_may_take_the_place_of_the_later_reading)
{
	struct reading reading = after;

	nm_fields_subtract(fields, &before, &reading, &reading);
	ck_assert_uint_eq(reading.bytes, 15);
	ck_assert_uint_eq(reading.peak, 7);
	ck_assert_str_eq(reading.name, "new");
}
END_TEST

START_TEST(a_table_knows_its_length_and_its_limits)
{
	ck_assert_uint_eq(nm_fields_count(fields), 5);
	ck_assert_uint_eq(fields[4].max, 3);
	ck_assert_str_eq(fields[3].name, "cpus");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("field");
	TCase *tc = tcase_create("field");

	tcase_add_test(tc, a_difference_is_of_counts_alone);
	tcase_add_test(tc, a_difference_may_take_the_place_of_the_later_reading);
	tcase_add_test(tc, a_table_knows_its_length_and_its_limits);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
