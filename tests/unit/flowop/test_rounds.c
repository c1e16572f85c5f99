/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences: how many rounds there are, and what is drawn in each. */
#include "flowop/rounds.h"

#include <check.h>

#include "../suite.h"
#include "flowop/message.h"
#include "flowop/pseudo_ops.h"
#include "transport/io.h"

/* A sequence of two flowops, of which the second is repeated, and the instruction behind them. */
static struct nm_instr instrs[4];
static struct nm_law law;
static struct nm_io io;

static void setup(void)
{
	law = (struct nm_law){.kind = NM_LAW_UNIFORM, .min = 2, .max = 300};
	instrs[2] = (struct nm_instr){.op = &nm_pseudo_repeat_in_round, .count = 3};
	instrs[3] = (struct nm_instr){.op = &nm_pseudo_rounds, .opts = &law, .count = 3};
	io = (struct nm_io){.seed = 7};
}

/* How many rounds the pass has; yields: how often it lets others have their turn. */
static unsigned rounds_of(uint64_t pass, unsigned *ret_yields)
{
	struct nm_flow flow = {.iterations_left = pass};
	unsigned rounds = 1;

	*ret_yields = 0;
	for (;;) {
		enum nm_step answer = nm_pseudo_rounds.step(&io, &flow, &instrs[3]);

		if (answer == NM_STEP_NEXT)
			break;
		*ret_yields += answer == NM_STEP_YIELD;
		rounds += answer == NM_STEP_JUMP;
		ck_assert(answer != NM_STEP_JUMP || flow.at == instrs);
	}
	ck_assert_uint_eq(flow.repeated, 0);
	ck_assert_uint_eq(flow.progress, 0);
	return rounds;
}

START_TEST(rounds_are_drawn_by_the_law)
{
	double sum = 0;
	unsigned least = 1000, most = 0, wrong = 0;

	for (uint64_t pass = 0; pass < 1000; pass++) {
		unsigned yields, rounds = rounds_of(pass, &yields);

		wrong += yields != (rounds - 1) / 128;
		least = rounds < least ? rounds : least;
		most = rounds > most ? rounds : most;
		sum += rounds;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert(least >= 2 && least < 8 && most > 290 && most <= 300);
	ck_assert_double_eq_tol(sum / 1000, 151, 4 * 86.3 / 31.6);
}
END_TEST

START_TEST(the_most_rounds)
{
	unsigned yields;

	law = (struct nm_law){.kind = NM_LAW_CONST, .min = NM_ROUNDS_MAX, .max = NM_ROUNDS_MAX};
	ck_assert_uint_eq(rounds_of(1, &yields), NM_ROUNDS_MAX);
}
END_TEST

static uint64_t draw(const struct nm_flow *flow)
{
	const struct nm_law sizes = {.kind = NM_LAW_UNIFORM, .min = 1, .max = UINT64_C(1) << 40};
	const struct nm_instr message = {.site = 1, .message.law = &sizes};

	return nm_message_bytes(&io, flow, &message);
}

/* In each round, and in each repetition, another size; the first is that of a pass without
 * rounds. */
START_TEST(each_round_draws_for_itself)
{
	struct nm_flow flow = {.iterations_left = 5};
	uint64_t drawn[2][3];

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 3; i++) {
			drawn[round][i] = draw(&flow);
			ck_assert_int_eq(nm_pseudo_repeat_in_round.step(&io, &flow, &instrs[2]),
					 i < 2 ? NM_STEP_JUMP : NM_STEP_NEXT);
		}
		(void)nm_pseudo_rounds.step(&io, &flow, &instrs[3]);
	}
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = 0; b < a; b++)
			ck_assert_uint_ne(drawn[a / 3][a % 3], drawn[b / 3][b % 3]);
	flow.repeated = 0;
	ck_assert_uint_eq(draw(&flow), drawn[0][0]);
	flow.repeated = 2;
	ck_assert_uint_eq(draw(&flow), drawn[0][2]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rounds");
	TCase *tc = tcase_create("rounds");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, rounds_are_drawn_by_the_law);
	tcase_add_test(tc, the_most_rounds);
	tcase_add_test(tc, each_round_draws_for_itself);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
