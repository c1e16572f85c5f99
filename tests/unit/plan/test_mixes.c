/* SPDX-License-Identifier: Apache-2.0 */
/* Mixes in plans: the instructions of both sides, and what is known of passes that differ. */
#include "compiled.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/rng.h"
#include "flowop/mix.h"
#include "flowop/pseudo_ops.h"

#define OP(type, attributes, options)                                                              \
	"<flowop type='" type "' " attributes " options='" options "'/>"
#define CONNECT			"<transaction>" OP("connect", "", "remotehost=h") "</transaction>\n"
#define DISCONNECT		"<transaction><flowop type='disconnect'/></transaction>\n"
#define WRITE			OP("write", "", "size=1")
#define READ			OP("read", "", "size=1")
#define ON(type, options, conn) OP(type, "", options " conn=" conn)
#define MIX(members)		"<mix>" members "</mix>"

#define PROFILE(body)                                                                              \
	"<profile><group nflows='4' nthreads='2'>\n" CONNECT "<transaction duration='1s'>" body    \
	"</transaction>\n" DISCONNECT "</group></profile>"

/* Where the second phase has its first instruction. */
#define FIRST 2

/* The kinds of the instructions of the second phase, in order. */
static void assert_kinds(const struct nm_plan *plan, const char *expected)
{
	const struct nm_phase *phase = &plan->groups[0].phases[1];
	char kinds[512] = "";

	ck_assert_uint_eq(phase->first, FIRST);
	for (uint32_t i = 0; i < phase->n_instrs; i++) {
		strcat(kinds, i ? " " : "");
		strcat(kinds, instr_at(plan, 0, FIRST + i)->op->name);
	}
	ck_assert_str_eq(kinds, expected);
}

START_TEST(members_stand_one_behind_the_other)
{
	struct compiled c = compile_good(PROFILE(MIX(OP("write", "weight='3'", "size=10") OP(
		"write", "", "size=20 count=5") OP("exchange", "", "size=30")) READ));
	struct nm_plan *slave = mirror(&c, "h");
	const struct nm_plan *sides[] = {c.plan, slave};

	assert_kinds(c.plan, "(mix) write (jump) write (repeat) (jump) exchange read");
	assert_kinds(slave, "(mix) read (jump) read (repeat) (jump) exchanged write");
	for (size_t s = 0; s < 2; s++) {
		const struct nm_mix *mix = nm_instr_mix(instr_at(sides[s], 0, FIRST));

		ck_assert_uint_eq(mix->n_members, 3);
		ck_assert_uint_eq(mix->weight, 5);
		ck_assert_uint_eq(mix->length, 7);
		ck_assert_uint_eq(mix->members[0].at, 1);
		ck_assert_uint_eq(mix->members[1].at, 3);
		ck_assert_uint_eq(mix->members[2].at, 6);
		ck_assert_uint_eq(instr_at(sides[s], 0, FIRST + 2)->count, 5);
		ck_assert_uint_eq(instr_at(sides[s], 0, FIRST + 5)->count, 2);
		ck_assert(nm_phase_mixes(&sides[s]->groups[0], &sides[s]->groups[0].phases[1]));
		ck_assert(!nm_phase_mixes(&sides[s]->groups[0], &sides[s]->groups[0].phases[0]));
		ck_assert(sides[s]->groups[0].needs_identity);
	}
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

/* Each end draws by its own table: they are the same. */
START_TEST(both_ends_draw_alike)
{
	struct compiled c = compile_good(PROFILE(
		WRITE MIX(OP("write", "weight='0'", "size=1") OP("read", "weight='9'", "size=2")
				  OP("write", "weight='1'", "size=3"))
			MIX(OP("write", "weight='2'", "size=4") OP("read", "", "size=5"))));
	struct nm_plan *slave = mirror(&c, "h");
	unsigned differ = 0, drawn[2][3] = {{0}};
	const uint32_t at[] = {FIRST + 1, FIRST + 7};

	for (size_t m = 0; m < 2; m++) {
		const struct nm_mix *here = nm_instr_mix(instr_at(c.plan, 0, at[m]));
		const struct nm_mix *there = nm_instr_mix(instr_at(slave, 0, at[m]));

		ck_assert_uint_eq(instr_at(c.plan, 0, at[m])->site,
				  instr_at(slave, 0, at[m])->site);
		for (uint64_t n = 0; n < 1000; n++) {
			uint32_t member = nm_mix_draw(here, nm_rng(3, n));

			drawn[m][member]++;
			differ += member != nm_mix_draw(there, nm_rng(3, n));
		}
	}
	ck_assert_uint_eq(differ, 0);
	ck_assert_uint_eq(drawn[0][0], 0);
	ck_assert(drawn[0][2] > 50 && drawn[0][2] < 150);
	ck_assert(drawn[1][1] > 250 && drawn[1][1] < 420);
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

/* What stands in one member is not followed by the next one. */
START_TEST(members_do_not_follow_each_other)
{
	struct compiled c = compile_good(PROFILE(
		MIX(OP("write", "", "size=1") OP("write", "", "size=2"))
			READ MIX(OP("write", "", "size=3") OP("read", "", "size=4")) WRITE));

	assert_kinds(c.plan, "(mix) write (jump) write read (mix) write (jump) read write");
	ck_assert(!instr_at(c.plan, 0, FIRST + 1)->expects_reply);
	ck_assert(instr_at(c.plan, 0, FIRST + 3)->expects_reply);
	ck_assert(!instr_at(c.plan, 0, FIRST + 6)->expects_reply);
	compiled_fini(&c);
}
END_TEST

static bool expects_reply(const char *profile)
{
	struct compiled c = compile_good(profile);
	const struct nm_phase *phase = &c.plan->groups[0].phases[1];
	bool expects = false;

	for (uint32_t i = FIRST; i < FIRST + phase->n_instrs; i++)
		if (strcmp(instr_at(c.plan, 0, i)->op->name, "think") == 0)
			expects = instr_at(c.plan, 0, i)->expects_reply;
	compiled_fini(&c);
	return expects;
}

#define THINK OP("think", "", "duration=1ms")

/* A think before a mix is part of the exchange where any member takes an answer. */
START_TEST(thinks_before_mixes)
{
	ck_assert(expects_reply(PROFILE(WRITE THINK MIX(READ WRITE))));
	ck_assert(expects_reply(PROFILE(WRITE THINK MIX(WRITE READ))));
	ck_assert(!expects_reply(PROFILE(WRITE THINK MIX(WRITE WRITE) READ)));
	ck_assert(expects_reply(PROFILE(MIX(WRITE WRITE) THINK MIX(READ READ))));
}
END_TEST

/* Members of which when= leaves nothing weigh nothing, and a mix without members is not there. */
START_TEST(members_that_are_left_out)
{
	struct compiled c = compile_good(PROFILE(
		MIX(OP("write", "weight='5'", "size=1 when=no") OP("write", "", "size=2")) READ));
	const struct nm_mix *mix = nm_instr_mix(instr_at(c.plan, 0, FIRST));

	assert_kinds(c.plan, "(mix) write read");
	ck_assert_uint_eq(mix->n_members, 1);
	ck_assert_uint_eq(mix->weight, 1);
	compiled_fini(&c);
	c = compile_good(PROFILE(MIX(OP("write", "weight='5'", "size=1 when=no")) WRITE READ));
	assert_kinds(c.plan, "write read");
	compiled_fini(&c);
}
END_TEST

/* Connections are chosen anew in each member, and behind the mix. */
START_TEST(connections_in_members)
{
	struct compiled c = compile_good(
		"<profile><group>\n<transaction>" ON("connect", "remotehost=h", "1")
			ON("connect", "remotehost=h", "2") "</transaction>\n<transaction>" MIX(
				ON("write", "size=1", "1") ON("write", "size=1", "2"))
				ON("read", "size=1",
				   "2") "</transaction>\n<transaction>" ON("disconnect", "", "1")
					ON("disconnect", "",
					   "2") "</transaction>\n</group></profile>");
	const struct nm_phase *phase = &c.plan->groups[0].phases[1];
	const char *const expected[] = {"(mix)",    "(select)", "write",    "(jump)",
					"(select)", "write",	"(select)", "read"};

	ck_assert_uint_eq(phase->n_instrs, 8);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_str_eq(instr_at(c.plan, 0, phase->first + i)->op->name, expected[i]);
	compiled_fini(&c);
}
END_TEST

static const struct {
	const char *profile, *said;
} refused[] = {
	{PROFILE(MIX(OP("write", "weight='1000000001'", "size=1")) READ),
	 "weight=\"1000000001\": must be 0 to 1000000000"},
	{PROFILE("<mix weight='2'>" WRITE "</mix>" READ),
	 "<mix>: unknown attribute \"weight\"; allowed are replay"},
	{PROFILE("<mix zebra='2'>" WRITE "</mix>" READ),
	 "<mix>: unknown attribute \"zebra\"; allowed are replay"},
	{PROFILE(MIX(OP("write", "", "size=1 count=0")) READ), "each member must send or receive"},
	{"<profile><group engine='io_uring'>\n" CONNECT "<transaction duration='1s'>\n" MIX(
		 WRITE WRITE) READ "</transaction>" DISCONNECT "</group></profile>",
	 "; the <mix> of line 4 is none of these"},
};

/* The instructions of a sequence, in a mix and outside of one; once needs none. */
START_TEST(sequences)
{
	struct compiled c = compile_good(
		PROFILE(MIX(WRITE "<sequence count='4' weight='2'>" WRITE READ "</sequence>") READ
			"<sequence count='rand(2,5)'>" OP("think", "", "duration=1ms") READ WRITE
			"</sequence><sequence>" WRITE READ "</sequence>"));
	struct nm_plan *slave = mirror(&c, "h");
	const struct nm_instr *rounds = instr_at(c.plan, 0, FIRST + 10);

	assert_kinds(c.plan,
		     "(mix) write (jump) write read (rounds) read think read write (rounds) "
		     "write read");
	assert_kinds(slave, "(mix) read (jump) read write (rounds) write think write read (rounds) "
			    "read write");
	ck_assert_uint_eq(nm_instr_mix(instr_at(c.plan, 0, FIRST))->members[1].weight, 2);
	ck_assert_uint_eq(instr_at(c.plan, 0, FIRST + 5)->count, 2);
	ck_assert_uint_eq(rounds->count, 3);
	ck_assert_uint_eq(rounds->site, instr_at(slave, 0, FIRST + 10)->site);
	ck_assert_uint_ne(rounds->site, instr_at(c.plan, 0, FIRST)->site);
	ck_assert(instr_at(c.plan, 0, FIRST + 3)->expects_reply);
	ck_assert(!instr_at(c.plan, 0, FIRST + 9)->expects_reply);
	nm_plan_free(slave);
	compiled_fini(&c);
}
END_TEST

static uint32_t site_of(const char *profile, const char *type)
{
	struct compiled c = compile_good(profile);
	const struct nm_phase *phase = &c.plan->groups[0].phases[1];
	uint32_t site = 0;

	for (uint32_t i = FIRST; i < FIRST + phase->n_instrs; i++)
		if (strcmp(instr_at(c.plan, 0, i)->op->name, type) == 0)
			site = instr_at(c.plan, 0, i)->site;
	compiled_fini(&c);
	return site;
}

/* Mixes and sequences draw for themselves: sizes and think times stay as they are without them. */
START_TEST(no_other_draw_is_shifted)
{
	const char *const types[] = {"read", "think"};

	for (size_t i = 0; i < 2; i++)
		ck_assert_uint_eq(
			site_of(PROFILE(WRITE THINK READ), types[i]),
			site_of(PROFILE(MIX("<sequence count='3'>" WRITE "</sequence>") THINK READ),
				types[i]));
}
END_TEST

/* Flowops of a sequence are repeated beside the rounds. */
START_TEST(repetitions_in_rounds)
{
	struct compiled c = compile_good(
		PROFILE(OP("write", "", "size=1 count=70000") "<sequence count='2'>" OP(
			"write", "", "size=1 count=65535") READ "</sequence>"));

	assert_kinds(c.plan, "write (repeat) write (repeat) read (rounds)");
	ck_assert_ptr_eq(instr_at(c.plan, 0, FIRST + 1)->op, &nm_pseudo_repeat);
	ck_assert_ptr_eq(instr_at(c.plan, 0, FIRST + 3)->op, &nm_pseudo_repeat_in_round);
	compiled_fini(&c);
}
END_TEST

/* What follows a write may be another flowop in each pass. */
START_TEST(more_has_no_effect)
{
	struct compiled c = compile(PROFILE(MIX(OP("write", "", "size=3 more") WRITE) WRITE));
	char *text = said(&c.diags);

	ck_assert_ptr_nonnull(c.plan);
	ck_assert_ptr_nonnull(strstr(text, "more has no effect in a transaction with a mix"));
	ck_assert(!instr_at(c.plan, 0, FIRST + 1)->message.cork);
	ck_assert(!c.plan->groups[0].phases[1].cork);
	free(text);
	compiled_fini(&c);
}
END_TEST

START_TEST(refusals)
{
	struct compiled c = compile(refused[_i].profile);
	char *text = said(&c.diags);

	ck_assert_msg(!c.plan && strstr(text, refused[_i].said), "%s", text);
	free(text);
	compiled_fini(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mixes");
	TCase *tc = tcase_create("mixes");

	tcase_add_test(tc, members_stand_one_behind_the_other);
	tcase_add_test(tc, both_ends_draw_alike);
	tcase_add_test(tc, members_do_not_follow_each_other);
	tcase_add_test(tc, thinks_before_mixes);
	tcase_add_test(tc, members_that_are_left_out);
	tcase_add_test(tc, connections_in_members);
	tcase_add_test(tc, sequences);
	tcase_add_test(tc, no_other_draw_is_shifted);
	tcase_add_test(tc, repetitions_in_rounds);
	tcase_add_test(tc, more_has_no_effect);
	tcase_add_loop_test(tc, refusals, 0, (int)(sizeof refused / sizeof *refused));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
