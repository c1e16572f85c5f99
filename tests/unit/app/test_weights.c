/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by weights. */
#include "app/weights.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define DRAWS 200000u

static const struct {
	size_t count;
	uint64_t weights[6];
} cases[] = {
	{1, {7}},
	{2, {1, 1}},
	{2, {1, 999999}},
	{3, {NM_WEIGHT_LARGEST, 1, NM_WEIGHT_LARGEST}},
	{6, {1, 2, 3, 4, 5, 85}},
	{6, {50, 1, 1, 1, 1, 46}},
};

/* What the table gives each weight, of total * count, is its share to the last bit. */
START_TEST(shares_are_exact)
{
	const size_t count = cases[_i].count;
	struct nm_weights *weights = nm_weights_new(cases[_i].weights, count);
	uint64_t given[6] = {0}, total = 0;

	ck_assert_ptr_nonnull(weights);
	for (size_t i = 0; i < count; i++) {
		total += cases[_i].weights[i];
		given[i] += weights->list[i].own;
		given[weights->list[i].other] += weights->total - weights->list[i].own;
	}
	ck_assert_uint_eq(weights->total, total);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(given[i], cases[_i].weights[i] * count);
	free(weights);
}
END_TEST

/* The draws of a stream are always the same, and have the shares: these hold for this key. */
START_TEST(draws_have_their_shares)
{
	const size_t count = cases[_i].count;
	struct nm_weights *weights = nm_weights_new(cases[_i].weights, count);
	uint64_t drawn[6] = {0};

	ck_assert_ptr_nonnull(weights);
	for (uint64_t n = 0; n < DRAWS; n++) {
		const uint64_t number = nm_weights_draw(weights, count, 42, n);

		ck_assert_uint_lt(number, count);
		ck_assert_uint_eq(number, nm_weights_draw(weights, count, 42, n));
		drawn[number]++;
	}
	for (size_t i = 0; i < count; i++) {
		double share = (double)cases[_i].weights[i] / (double)weights->total;

		ck_assert_double_eq_tol((double)drawn[i] / DRAWS, share, 0.005);
	}
	free(weights);
}
END_TEST

START_TEST(a_million_weights)
{
	const size_t count = 1000000;
	uint64_t *many = malloc(count * sizeof *many);

	ck_assert_ptr_nonnull(many);
	for (size_t i = 0; i < count; i++)
		many[i] = NM_WEIGHT_LARGEST - i % 7 * 1000;
	struct nm_weights *weights = nm_weights_new(many, count);

	ck_assert_ptr_nonnull(weights);
	for (size_t i = 0; i < count; i++)
		ck_assert(weights->list[i].own <= weights->total && weights->list[i].other < count);
	free(weights);
	free(many);
}
END_TEST

int main(void)
{
	const int n_cases = (int)(sizeof cases / sizeof *cases);
	Suite *suite = suite_create("weights");
	TCase *tests = tcase_create("weights");

	tcase_add_loop_test(tests, shares_are_exact, 0, n_cases);
	tcase_add_loop_test(tests, draws_have_their_shares, 0, n_cases);
	tcase_add_test(tests, a_million_weights);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
