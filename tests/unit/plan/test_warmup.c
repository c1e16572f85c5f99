/* SPDX-License-Identifier: Apache-2.0 */
/* What --warmup says, and where its warm-ups stand in a profile. */
#include "plan/warmup.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "compiled.h"

#define S UINT64_C(1000000000)

static struct nm_warmup warmup_of(const char *text)
{
	struct nm_warmup warmup;
	char why[256];

	ck_assert_msg(nm_warmup_parse(text, &warmup, why, sizeof why) == 0, "%s: %s", text, why);
	return warmup;
}

START_TEST(times_and_plateaus_are_read)
{
	struct nm_warmup warmup = warmup_of("5s");

	ck_assert_uint_eq(warmup.ns, 5 * S);
	ck_assert_uint_eq(warmup.max_ns, 0);
	ck_assert_uint_eq(warmup_of("0").ns, 0);
	warmup = warmup_of("plateau(latency.p99.9,2.5%,max=1min)");
	ck_assert_uint_eq(warmup.ns, 0);
	ck_assert_uint_eq(warmup.max_ns, 60 * S);
	ck_assert_str_eq(warmup.plateau.name, "latency.p99.9");
	ck_assert_double_eq(warmup.plateau.share, 0.025);
}
END_TEST

START_TEST(mistakes_leave_it_as_it_was)
{
	static const char *const bad[][2] = {
		{"", "not a duration"},
		{"-1s", "not a duration"},
		{"plateaus", "not a duration"},
		{"plateau(latency.p50,5%)", "must be a time, as 5s, or plateau("},
		{"plateau(latency.p50,5%,max=)", "must be"},
		{"plateau(latency.p50,5%,max=0)", "must be"},
		{"plateau(latency.p50,5%,max=1s", "must be"},
		{"plateau(latency.p50,5%,max=1s))", "must be"},
		{"plateau(latency.p50,5%,max=1s) ", "must be"},
		{"plateau(latency.p50,5%,6%,max=1s)", "must be"},
		{"plateau(latency.p50,max=1s)", "must be"},
		{"plateau(latency.p50,5%,max=1s,max=2s)", "must be"},
		{"plateau(latency.p50,5,max=1s)", "must be"},
		{"plateau(hits,5%,max=1s)", "FIGURE is transactions_per_s"},
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct nm_warmup warmup = {.ns = 7};
		char why[256];

		ck_assert_int_lt(nm_warmup_parse(bad[i][0], &warmup, why, sizeof why), 0);
		ck_assert_msg(strstr(why, bad[i][1]), "%s: %s", bad[i][0], why);
		ck_assert_uint_eq(warmup.ns, 7);
	}
}
END_TEST

#define ACT "<flowop type='think' options='duration=1ms'/></transaction>\n"

/* The tree with warm-ups of up to 9 s, compiled. */
static struct compiled warmed(const char *text, int count)
{
	struct nm_warmup warmup = warmup_of("plateau(transactions_per_s,0.001%,max=9s)");
	struct compiled c = compile_good(text);

	nm_plan_free(c.plan);
	ck_assert_int_eq(nm_plan_add_warmups(c.root, &warmup), count);
	c.plan = nm_plan_compile(c.root, "t.xml", &c.diags);
	char *all = said(&c.diags);

	ck_assert_str_eq(all, "");
	ck_assert_ptr_nonnull(c.plan);
	free(all);
	return c;
}

static void is_warmup(const struct nm_phase *phase)
{
	ck_assert(!phase->measured);
	ck_assert_uint_eq(phase->duration_ns, 9 * S);
	ck_assert_int_eq(phase->waits.until.figure, NM_PLATEAU_TRANSACTIONS);
	ck_assert_double_eq_tol(phase->waits.until.share, 1e-5, 1e-15);
}

/* What is measured stays what it was; all groups go through their phases together. */
START_TEST(a_warm_up_stands_before_what_is_measured)
{
	static const char text[] = GROUPS(
		"<group><transaction iterations='1'>" ACT "<transaction name='a' duration='2s'>" ACT
		"<transaction iterations='3'>" ACT "</group>\n"
		"<group><transaction iterations='1'>" ACT
		"<transaction measure='no' duration='4s'>" ACT "</group>\n"
		"<group><transaction iterations='1'>" ACT "<transaction iterations='5'>" ACT
		"<transaction iterations='6'>" ACT "</group>\n");
	struct compiled c = warmed(text, 1);
	const struct nm_group *group = c.plan->groups;

	ck_assert_uint_eq(group->n_phases, 4);
	is_warmup(&group->phases[1]);
	ck_assert_str_eq(group->phases[1].name, "warm-up of a");
	ck_assert(group->phases[2].measured);
	ck_assert_uint_eq(group->phases[2].duration_ns, 2 * S);
	ck_assert_uint_eq(group->phases[2].waits.until.figure, NM_PLATEAU_NONE);
	ck_assert_uint_eq(group->phases[3].iterations, 3);
	group++;
	is_warmup(&group->phases[1]);
	ck_assert(!group->phases[2].measured);
	ck_assert_uint_eq(group->phases[2].duration_ns, 4 * S);
	group++;
	ck_assert_uint_eq(group->n_phases, 4);
	assert_program(c.plan, 2, 1, "");
	assert_program(c.plan, 2, 2, "think");
	ck_assert_uint_eq(group->phases[2].iterations, 5);
	compiled_fini(&c);
}
END_TEST

START_TEST(without_a_duration_there_is_none)
{
	struct compiled c = warmed(GROUP("<transaction iterations='2'>" ACT), 0);

	ck_assert_uint_eq(c.plan->groups[0].n_phases, 1);
	compiled_fini(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warmup");
	TCase *tcase = tcase_create("warmup");

	tcase_add_test(tcase, times_and_plateaus_are_read);
	tcase_add_test(tcase, mistakes_leave_it_as_it_was);
	tcase_add_test(tcase, a_warm_up_stands_before_what_is_measured);
	tcase_add_test(tcase, without_a_duration_there_is_none);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
