/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: their texts, the bijection, and the laws by which they are drawn. */
#include "app/keyspace.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

static void init(struct nm_keyspace *keyspace, const char *law, uint64_t count, uint64_t length)
{
	char why[256];

	ck_assert_int_eq(nm_keyspace_init(keyspace, law, "user:", count, length, why, sizeof why),
			 0);
}

START_TEST(each_key_has_a_text_of_its_own)
{
	struct nm_keyspace keyspace;
	char text[NM_KEY_MAX];

	init(&keyspace, "uniform", 1000, 12);
	for (uint64_t number = 0; number < 1000; number++) {
		nm_keyspace_put(&keyspace, number, text);
		ck_assert_uint_eq(nm_keyspace_number(&keyspace, text, 12), number);
	}
	nm_keyspace_put(&keyspace, 42, text);
	ck_assert_mem_eq(text, "user:0000042", 12);
	ck_assert_uint_eq(nm_keyspace_number(&keyspace, "user:0001000", 12), UINT64_MAX);
	ck_assert_uint_eq(nm_keyspace_number(&keyspace, "user:000042", 11), UINT64_MAX);
	ck_assert_uint_eq(nm_keyspace_number(&keyspace, "uzer:0000042", 12), UINT64_MAX);
	ck_assert_uint_eq(nm_keyspace_number(&keyspace, "user:00000x2", 12), UINT64_MAX);
	init(&keyspace, "uniform", 1000, 0);
	ck_assert_uint_eq(keyspace.length, 8);
	/* Zeros before more digits than a number of 64 bits has. */
	init(&keyspace, "uniform", 1000, 30);
	nm_keyspace_put(&keyspace, 999, text);
	ck_assert_uint_eq(nm_keyspace_number(&keyspace, text, 30), 999);
	text[6] = '1';
	ck_assert_uint_eq(nm_keyspace_number(&keyspace, text, 30), UINT64_MAX);
}
END_TEST

/* Each key has its own length, whatever it is asked for, and is found by its text. */
START_TEST(a_law_gives_each_key_its_length)
{
	struct nm_keyspace keyspace;
	struct nm_law law = {.kind = NM_LAW_CONST};
	char text[NM_KEY_MAX + 1], why[256];
	double sum = 0;

	init(&keyspace, "uniform", 10000, NM_KEY_MAX);
	ck_assert_int_eq(nm_law_parse("gev(30.7984,8.20449,0.078688;..250)", NM_LAW_OF_BYTES,
				      NM_READING_NETMODEL, 1, &law, why, sizeof why),
			 0);
	keyspace.lengths = &law;
	for (uint64_t number = 0; number < 10000; number++) {
		const uint32_t length = nm_keyspace_length(&keyspace, number);

		ck_assert_uint_ge(length, strlen("user:9999"));
		ck_assert_ptr_eq(nm_keyspace_put(&keyspace, number, text), text + length);
		ck_assert_uint_eq(nm_keyspace_number(&keyspace, text, length), number);
		memmove(text + 6, text + 5, length - 5);
		text[5] = '0';
		ck_assert_uint_eq(nm_keyspace_number(&keyspace, text, length + 1), UINT64_MAX);
		sum += length;
	}
	/* The mean of the law is 36.0, with a standard deviation of 11.7. */
	ck_assert_double_eq_tol(sum / 10000, nm_law_mean(&law), 5 * 11.7 / 100);
	nm_law_fini(&law);
}
END_TEST

START_TEST(what_cannot_be_is_told)
{
	struct nm_keyspace keyspace;
	char why[256], prefix[256] = "";

	ck_assert_int_eq(nm_keyspace_init(&keyspace, "uniform", "user:", 1001, 8, why, sizeof why),
			 -ERANGE);
	ck_assert_ptr_nonnull(strstr(why, "must be 9 to 250"));
	memset(prefix, 'u', 248);
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "uniform", prefix, 100, 0, why, sizeof why),
			 0);
	ck_assert_uint_eq(keyspace.length, NM_KEY_MAX);
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "uniform", prefix, 101, 0, why, sizeof why),
			 -E2BIG);
	ck_assert_ptr_nonnull(strstr(why, "prefix has 248 bytes: must have 247 at most"));
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "zip", "", 10, 0, why, sizeof why), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "uniform, zipf(S)"));
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "zipf()", "", 10, 0, why, sizeof why),
			 -EINVAL);
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "zipf(1,2)", "", 10, 0, why, sizeof why),
			 -EINVAL);
	/* What the reader of laws has against it is told in the words of keyspaces. */
	ck_assert_int_eq(nm_keyspace_init(&keyspace, "zipf(x)", "", 10, 0, why, sizeof why),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "law=\"zipf(x)\": must be uniform, zipf(S)"));
}
END_TEST

START_TEST(the_bijection_is_one)
{
	static const uint64_t counts[] = {1, 2, 3, 4, 5, 16, 17, 1000, 65536, 65537};

	for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
		struct nm_keyspace keyspace;
		unsigned char *seen = calloc(counts[c], 1);

		init(&keyspace, "zipf(1)", counts[c], 0);
		for (uint64_t rank = 0; rank < counts[c]; rank++) {
			uint64_t number = nm_keyspace_scramble(&keyspace, rank);

			ck_assert_uint_lt(number, counts[c]);
			ck_assert_uint_eq(seen[number]++, 0);
		}
		free(seen);
		nm_keyspace_fini(&keyspace);
	}
}
END_TEST

/* H(10^4, 0.99) = 10.2244: the key that is drawn most has 9.78 % of the draws, and the hottest
 * hundredth 51.8 %. The seed is fixed. */
START_TEST(zipf_draws_as_it_should)
{
	enum { DRAWS = 200000, COUNT = 10000 };
	struct nm_keyspace keyspace;
	unsigned *drawn = calloc(COUNT, sizeof *drawn), hottest = 0;

	init(&keyspace, "zipf(0.99)", COUNT, 0);
	for (uint64_t n = 0; n < DRAWS; n++)
		drawn[nm_keyspace_draw(&keyspace, 7, n)]++;
	for (uint64_t rank = 0; rank < COUNT / 100; rank++)
		hottest += drawn[nm_keyspace_scramble(&keyspace, rank)];
	ck_assert(fabs(drawn[nm_keyspace_scramble(&keyspace, 0)] / (double)DRAWS - 0.0978) < 0.004);
	ck_assert(fabs(hottest / (double)DRAWS - 0.518) < 0.006);
	free(drawn);
	nm_keyspace_fini(&keyspace);
}
END_TEST

START_TEST(others_draw_each_key)
{
	struct nm_keyspace keyspace;
	unsigned drawn[10] = {0};

	init(&keyspace, "uniform", 10, 0);
	for (uint64_t n = 0; n < 100000; n++)
		drawn[nm_keyspace_draw(&keyspace, 7, n)]++;
	for (unsigned i = 0; i < 10; i++)
		ck_assert(abs((int)drawn[i] - 10000) < 500);
	init(&keyspace, "sequential", 10, 0);
	for (uint64_t turn = 0; turn < 30; turn++)
		ck_assert_uint_eq(nm_keyspace_turn(&keyspace, turn), turn % 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("keyspace");
	TCase *t = tcase_create("keyspace");

	tcase_add_test(t, a_law_gives_each_key_its_length);
	tcase_add_test(t, each_key_has_a_text_of_its_own);
	tcase_add_test(t, what_cannot_be_is_told);
	tcase_add_test(t, the_bijection_is_one);
	tcase_add_test(t, zipf_draws_as_it_should);
	tcase_add_test(t, others_draw_each_key);
	suite_add_tcase(s, t);
	return run_suite(s);
}
