/* SPDX-License-Identifier: Apache-2.0 */
/* Some hundred scripts of calls on the simulated kernel and on the machine's, and what calls of
 * scripts say. */
#include <check.h>
#include <poll.h>
#include <string.h>

#include "../unit/suite.h"
#include "conform.h"
#include "script.h"

#define SCRIPTS 100

START_TEST(both_kernels_say_the_same)
{
	struct sim_choices choices = sim_choices_plain();

	for (uint64_t i = 1; i <= SCRIPTS; i++) {
		struct sim_outcome outcome;

		choices.seed = (uint64_t)_i * SCRIPTS + i;
		sim_conform(&choices, &outcome);
		ck_assert_msg(!*outcome.why, "seed %llu: %s; build/tests/sim/sim conform %llu",
			      (unsigned long long)choices.seed, outcome.why,
			      (unsigned long long)choices.seed);
	}
}
END_TEST

static void settle(void)
{
	(void)poll(NULL, 0, 2);
}

struct line {
	const char *call;
	unsigned slot, other;
	uint64_t number;
	const char *says; /* NULL: anything */
};

/* Makes the calls on the machine's kernel, to the one without a name. */
static void ck_says(const struct line *lines)
{
	static const struct sim_patience patience = {.settle = settle, .full_ms = 100};
	struct sim_script script = {.steps = {{.call = 0}}};
	unsigned n = 0;
	sim_says said;

	for (; lines[n].call; n++) {
		struct sim_step *step = &script.steps[n];

		*step = (struct sim_step){
			.slot = lines[n].slot, .other = lines[n].other, .number = lines[n].number};
		while (strcmp(sim_script_calls[step->call].name, lines[n].call) != 0)
			ck_assert_uint_lt(++step->call, sim_n_script_calls);
	}
	(void)sim_script_perform(&script, UINT64_MAX << n, &patience, NULL, &said);
	for (unsigned i = 0; i < n; i++)
		if (lines[i].says)
			ck_assert_str_eq(said[i], lines[i].says);
}

START_TEST(flags_of_no_descriptor_are_an_error)
{
	ck_says((const struct line[]){
		{.call = "flags", .says = "EBADF"},
		{.call = "socket"},
		{.call = "flags", .says = "0 O_NONBLOCK"},
		{.call = NULL},
	});
}
END_TEST

/* 300 bytes have all values. */
START_TEST(what_fills_is_told_from_all_else)
{
	ck_says((const struct line[]){
		{.call = "socket", .slot = 1},
		{.call = "listen", .slot = 1, .number = 3},
		{.call = "socket"},
		{.call = "connect", .other = 1},
		{.call = "accept", .slot = 1, .other = 2},
		{.call = "send", .number = 99},
		{.call = "send", .number = 99},
		{.call = "send", .number = 99},
		{.call = "fill", .says = "a part, then EAGAIN"},
		{.call = "recv", .slot = 2, .says = "all of what has no room, d3122357"},
		{.call = "recv", .slot = 2, .number = 1, .says = "EAGAIN"},
		{.call = NULL},
	});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conformance");
	TCase *tests = tcase_create("scripts");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, both_kernels_say_the_same, 0, 4);
	tcase_add_test(tests, flags_of_no_descriptor_are_an_error);
	tcase_add_test(tests, what_fills_is_told_from_all_else);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
