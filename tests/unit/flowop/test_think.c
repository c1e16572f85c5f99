/* SPDX-License-Identifier: Apache-2.0 */
/* How long think thinks, by the step alone: nothing sleeps here. */
#include <check.h>
#include <string.h>

#include "../suite.h"
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "host/clock.h"

#define PASSES 200

static _Alignas(16) char opts[1024];
static struct nm_io io;
static struct nm_flow flow;
static struct nm_instr instr;

static void begin(const char *duration)
{
	const struct nm_flowop *op = nm_flowop_find("think");
	char why[256];

	memset(opts, 0, sizeof opts);
	ck_assert_uint_le(op->opts_size, sizeof opts);
	ck_assert_msg(
		nm_opt_set(nm_opt_find(op->opts, "duration"), opts, duration, why, sizeof why) == 0,
		"%s", why);
	io = (struct nm_io){.seed = 5};
	flow = (struct nm_flow){.index = 3};
	instr = (struct nm_instr){.step = op->step, .op = op, .opts = opts, .site = 7};
}

/* How long the flow is asleep in that pass, within the time that the step took. */
static void thinks(uint64_t pass, uint64_t wanted_ns)
{
	uint64_t before_ns = nm_clock_ns();

	flow.iterations_left = pass;
	flow.timer.at_ns = 0;
	ck_assert_int_eq(instr.step(&io, &flow, &instr), NM_STEP_SLEEP);
	ck_assert_uint_ge(flow.timer.at_ns, before_ns + wanted_ns);
	ck_assert_uint_le(flow.timer.at_ns, nm_clock_ns() + wanted_ns);
}

START_TEST(a_law_draws_each_time)
{
	struct nm_law law = {.kind = NM_LAW_CONST};
	char why[256];
	double sum = 0;

	begin("lognormal(50s,0.5;1s..1h)");
	ck_assert_int_eq(nm_law_parse("lognormal(50s,0.5;1s..1h)", NM_LAW_OF_NS,
				      NM_READING_NETMODEL, 0, &law, why, sizeof why),
			 0);
	for (uint64_t pass = 1; pass <= PASSES; pass++) {
		flow.iterations_left = pass;
		uint64_t drawn_ns = nm_law_draw(&law, nm_step_key(&io, &flow, &instr), 0);

		thinks(pass, drawn_ns);
		sum += (double)drawn_ns * 1e-9;
	}
	ck_assert_double_eq_tol(sum / PASSES, nm_law_mean(&law) * 1e-9, 10);
}
END_TEST

START_TEST(a_duration_is_always_the_same)
{
	begin("90s");
	for (uint64_t pass = 1; pass <= 3; pass++)
		thinks(pass, 90000000000);
	begin("const(90s)");
	thinks(1, 90000000000);
}
END_TEST

/* What it has thought is what it drew, and what it was late. */
START_TEST(the_time_of_a_drawn_think_is_kept)
{
	uint64_t before_ns = nm_clock_ns(), at_ns;
	enum nm_step step;

	begin("rand(1us,900us)");
	flow.request.marks = NM_REQUEST_RECORDED;
	flow.iterations_left = 9;
	do
		step = instr.step(&io, &flow, &instr);
	while (step == NM_STEP_SLEEP);
	at_ns = nm_clock_ns();
	ck_assert_int_eq(step, NM_STEP_NEXT);
	ck_assert_uint_ge(flow.request.think_ns, 1000);
	ck_assert_uint_le(flow.request.think_ns, at_ns - before_ns);
	ck_assert_uint_eq(flow.timer.at_ns, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("think");
	TCase *tcase = tcase_create("durations");

	tcase_add_test(tcase, a_law_draws_each_time);
	tcase_add_test(tcase, a_duration_is_always_the_same);
	tcase_add_test(tcase, the_time_of_a_drawn_think_is_kept);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
