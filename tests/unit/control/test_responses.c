/* SPDX-License-Identifier: Apache-2.0 */
/* Executions and passes, one by one. */
#include "control/responses.h"

#include "../suite.h"
#include "sampled.h"

static struct nm_response_row execs[8];
static unsigned n_execs;

static void on_execs(void *arg, const struct nm_response_row *list, size_t count)
{
	(void)arg;
	for (size_t i = 0; i < count; i++)
		execs[n_execs++ % 8] = list[i];
}

START_TEST(executions_are_told_with_their_names)
{
	options.events.responses = on_execs;
	ck_assert(!nm_responses_wanted(&options));
	options.log_passes = 1;
	ck_assert(nm_responses_wanted(&options));
	struct nm_response_sampler *sampler =
		nm_response_sampler_new(&plan, engine, &options, result);

	ck_assert_ptr_nonnull(sampler);
	nm_samplers_add(&samplers, nm_response_sampler_base(sampler));
	begin(100 * S);
	engine->execs[0] =
		(struct nm_exec_record){.end_ns = 101 * S, .elapsed_ns = 7, .flow = 1, .instr = 1};
	engine->execs[1] = (struct nm_exec_record){.end_ns = 102 * S, .is_pass = true, .instr = 1};
	engine->n_execs = 2;
	ck_assert_uint_le(nm_samplers_next_ns(&samplers), 101 * S);
	run(102 * S);
	ck_assert_uint_eq(n_execs, 2);
	ck_assert_str_eq(execs[0].flowop, "nop");
	ck_assert_str_eq(execs[0].transaction, "load");
	ck_assert_uint_eq(execs[0].since_ns, S);
	ck_assert_uint_eq(execs[0].wall_ns, 1101 * S);
	ck_assert_ptr_null(execs[1].flowop);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	run(104 * S);
	engine->n_execs = 1;
	engine->lost_execs = 5;
	nm_response_sampler_finish(sampler);
	ck_assert_uint_eq(result->responses.told, 3);
	ck_assert_uint_eq(result->responses.lost, 5);
	ck_assert_uint_eq(result->warnings.count, 1);
	nm_response_sampler_free(sampler);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responses");
	TCase *told = tcase_create("told");

	tcase_add_checked_fixture(told, start, end);
	tcase_add_test(told, executions_are_told_with_their_names);
	suite_add_tcase(suite, told);
	return run_suite(suite);
}
