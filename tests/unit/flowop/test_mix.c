/* SPDX-License-Identifier: Apache-2.0 */
/* The draws of mixes: how often each member, which pass draws which, and the two instructions. */
#include "flowop/mix.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "../suite.h"
#include "base/rng.h"
#include "transport/io.h"

#define DRAWS  200000u
#define MEMBER 6

/* Weights, and the most that the chi-square of 200000 draws may be: with n members that can be
 * drawn it is about n - 1, and this value is exceeded once in 10^9 times. */
static const struct {
	uint32_t n;
	double most;
	uint64_t weights[MEMBER];
} mixes[] = {
	{1, 0, {7}},
	{2, 38, {1, 1}},
	{2, 38, {99, 1}},
	{3, 42, {1, 0, 2}},
	{4, 48, {90, 5, 4, 1}},
	{6, 56, {NM_MIX_WEIGHT_MAX, 1000000, NM_MIX_WEIGHT_MAX - 1, 30000000, 500000000, 7000000}},
};

START_TEST(members_are_drawn_by_weight)
{
	struct nm_mix *mix = nm_mix_new(mixes[_i].weights, mixes[_i].n);
	unsigned drawn[MEMBER] = {0};
	double chi_square = 0;

	for (uint64_t n = 0; n < DRAWS; n++)
		drawn[nm_mix_draw(mix, nm_rng(17, n))]++;
	for (uint32_t i = 0; i < mixes[_i].n; i++) {
		double expected = DRAWS * (double)mix->members[i].weight / (double)mix->weight;

		if (expected > 0)
			chi_square += pow(drawn[i] - expected, 2) / expected;
		else
			ck_assert_uint_eq(drawn[i], 0);
	}
	ck_assert_double_le(chi_square, mixes[_i].most);
	free(mix);
}
END_TEST

/* What the columns hold is exactly the weights: nothing is lost by rounding. */
START_TEST(columns_hold_the_weights)
{
	struct nm_mix *mix = nm_mix_new(mixes[_i].weights, mixes[_i].n);
	uint64_t held[MEMBER] = {0};

	for (uint32_t i = 0; i < mix->n_members; i++) {
		ck_assert_uint_le(mix->members[i].cut, mix->weight);
		held[i] += mix->members[i].cut;
		held[mix->members[i].alias] += mix->weight - mix->members[i].cut;
	}
	for (uint32_t i = 0; i < mix->n_members; i++)
		ck_assert_uint_eq(held[i], mixes[_i].weights[i] * mix->n_members);
	free(mix);
}
END_TEST

/* The member that an instruction draws for a pass of a flow. */
static uint32_t drawn(struct nm_mix *mix, uint64_t seed, uint32_t site, uint32_t flow_index,
		      uint64_t pass)
{
	const struct nm_instr instr = {.op = &nm_pseudo_mix, .opts = mix, .site = site};
	struct nm_io io = {.seed = seed};
	struct nm_flow flow = {.index = flow_index, .iterations_left = pass};

	for (uint32_t i = 0; i < mix->n_members; i++)
		mix->members[i].at = 1 + i;
	ck_assert_int_eq(nm_pseudo_mix.step(&io, &flow, &instr), NM_STEP_JUMP);
	return (uint32_t)(flow.at - &instr) - 1;
}

/* Two hosts agree on the draws: another version may not draw others. */
START_TEST(the_draws_are_these)
{
	const uint32_t expected[] = {1, 2, 1, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 2, 0};
	struct nm_mix *mix = nm_mix_new((const uint64_t[]){40, 35, 25}, 3);

	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		ck_assert_uint_eq(drawn(mix, 42, 5, 3, 1000 - i), expected[i]);
	free(mix);
}
END_TEST

/* How many of 1000 passes draw alike with another seed, in another mix, or in another flow. */
static unsigned alike(uint64_t seed, uint32_t site, uint32_t flow_index)
{
	struct nm_mix *mix = nm_mix_new((const uint64_t[]){1, 1}, 2);
	unsigned same = 0;

	for (unsigned i = 0; i < 1000; i++)
		same += drawn(mix, 1, 0, 0, i) == drawn(mix, seed, site, flow_index, i);
	free(mix);
	return same;
}

START_TEST(streams_are_apart)
{
	const unsigned same[] = {alike(2, 0, 0), alike(1, 1, 0), alike(1, 0, 1)};

	ck_assert_uint_eq(alike(1, 0, 0), 1000);
	for (size_t i = 0; i < 3; i++)
		ck_assert(same[i] > 400 && same[i] < 600);
}
END_TEST

START_TEST(jumps_lead_on)
{
	struct nm_instr instrs[4] = {[1] = {.op = &nm_pseudo_jump, .count = 2}};
	struct nm_mix *mix = nm_mix_new((const uint64_t[]){1}, 1);
	const struct nm_instr draws = {.op = &nm_pseudo_mix, .opts = mix};
	struct nm_io io = {.count = NULL};
	struct nm_flow flow = {.at = instrs};

	ck_assert_int_eq(nm_pseudo_jump.step(&io, &flow, &instrs[1]), NM_STEP_JUMP);
	ck_assert_ptr_eq(flow.at, &instrs[3]);
	ck_assert_ptr_null(nm_instr_mix(&instrs[1]));
	ck_assert_ptr_eq(nm_instr_mix(&draws), mix);
	free(mix);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mix");
	TCase *tc = tcase_create("mix");
	const int n_mixes = sizeof mixes / sizeof *mixes;

	tcase_add_loop_test(tc, members_are_drawn_by_weight, 0, n_mixes);
	tcase_add_loop_test(tc, columns_hold_the_weights, 0, n_mixes);
	tcase_add_test(tc, the_draws_are_these);
	tcase_add_test(tc, streams_are_apart);
	tcase_add_test(tc, jumps_lead_on);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
