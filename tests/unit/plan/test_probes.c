/* SPDX-License-Identifier: Apache-2.0 */
/* Where solitary flows stand in a profile, and of which sizes they are. */
#include "plan/probes.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "compiled.h"

#define S UINT64_C(1000000000)

#define OPEN "<transaction><flowop type='connect' options='remotehost=h'/></transaction>"
#define FLOW(attrs, size)                                                                          \
	"<transaction " attrs "><flowop type='write' options='size=" size "'/>"                    \
	"<flowop type='read' options='size=1'/></transaction>"

/* The tree with what is put into it, compiled. */
static struct compiled probed(const char *text)
{
	struct compiled c = compile_good(text);

	nm_plan_free(c.plan);
	ck_assert_int_eq(nm_plan_add_probes(c.root), 0);
	c.plan = nm_plan_compile(c.root, "t.xml", &c.diags);
	char *all = said(&c.diags);

	ck_assert_str_eq(all, "");
	ck_assert_ptr_nonnull(c.plan);
	free(all);
	return c;
}

static const struct nm_law *law_of(const struct nm_group *group, const struct nm_phase *phase)
{
	return group->instrs[phase->flows.instr].message.law;
}

/* Nobody else does anything meanwhile, on neither side. */
START_TEST(each_group_is_alone_with_its_solitary_flows)
{
	static const char text[] = "<profile><group nflows='3'>" OPEN FLOW(
		"name='a' duration='2s' arrivals='poisson(9/s)' slowdown='auto'",
		"uniform(5000,200000)")
		FLOW("iterations='7'", "1") "</group><group>" OPEN FLOW("duration='1s'", "1")
			FLOW("duration='1s' slowdown='auto'", "3") "</group><group>" OPEN "</group>"
								   "</profile>";
	struct compiled c = probed(text);
	const struct nm_group *group = c.plan->groups;
	struct nm_plan *other = nm_plan_compile_mirror(c.root, "t.xml", "h", &c.diags);

	ck_assert_uint_eq(group->n_phases, 5);
	const struct nm_phase *probe = &group->phases[1], *flows = &group->phases[2];

	ck_assert_str_eq(probe->name, "idle path of a");
	ck_assert_int_eq(probe->flows.ideal.kind, NM_IDEAL_PROBE);
	ck_assert(probe->flows.solitary && !probe->measured && !probe->arrivals.law);
	ck_assert_uint_eq(probe->duration_ns, 5 * S);
	ck_assert_uint_eq(probe->total, 80);
	ck_assert_uint_eq(law_of(group, probe)->min, 5000);
	ck_assert_uint_eq(law_of(group, probe)->max, 200000);
	ck_assert_int_eq(flows->flows.ideal.kind, NM_IDEAL_MEASURED);
	ck_assert_uint_eq(flows->flows.probe, 1);
	ck_assert(flows->measured && !flows->flows.solitary);
	ck_assert_int_eq(law_of(group, flows)->kind, NM_LAW_UNIFORM);
	assert_program(c.plan, 0, 3, "");
	ck_assert_uint_eq(group->phases[4].iterations, 7);
	group++;
	ck_assert_uint_eq(group->n_phases, 5);
	assert_program(c.plan, 1, 1, "");
	ck_assert_uint_eq(group->phases[3].total, 20);
	ck_assert_uint_eq(group->phases[4].flows.probe, 3);
	group++;
	ck_assert_uint_eq(group->n_phases, 1);
	ck_assert_ptr_nonnull(other);
	ck_assert(other->groups[0].phases[1].flows.solitary);
	ck_assert_uint_eq(other->groups[0].phases[1].total, 80);
	nm_plan_free(other);
	compiled_fini(&c);
}
END_TEST

START_TEST(large_flows_are_fewer_and_come_last)
{
	struct compiled c = probed("<profile><group>" OPEN FLOW("duration='1s' slowdown='auto'",
								"uniform(1,100m)") "</group>"
										   "</profile>");
	const struct nm_group *group = c.plan->groups;
	const struct nm_law *law = law_of(group, &group->phases[1]);
	uint64_t large = 0, last = 0, total = group->phases[1].total;

	for (uint64_t i = 0; i < total; i++) {
		const uint64_t size = nm_law_in_order(law, i, total);

		ck_assert_uint_ge(size, last);
		last = size;
		large += size > 5000000;
	}
	ck_assert_uint_eq(total, 100);
	ck_assert_uint_eq(group->instrs[group->phases[1].flows.instr].message.in_order, total);
	ck_assert_uint_eq(last, 40000000);
	ck_assert_uint_eq(large, 20);
	compiled_fini(&c);
}
END_TEST

START_TEST(others_are_left_as_they_are)
{
	struct compiled c = probed("<profile><group>" OPEN FLOW(
		"duration='1s' slowdown='link=1Gb/s base=1us'", "3") "</group></profile>");

	ck_assert_uint_eq(c.plan->groups[0].n_phases, 2);
	compiled_fini(&c);
}
END_TEST

/* The compiler tells them once. */
START_TEST(mistakes_keep_them_out)
{
	struct compiled c = compile("<profile><group>" OPEN FLOW(
		"iterations='1' slowdown='auto'", "uniform(1,") "</group></profile>");
	const size_t n = c.root->children[0]->n_children;

	ck_assert_int_eq(nm_plan_add_probes(c.root), 0);
	ck_assert_uint_eq(c.root->children[0]->n_children, n);
	compiled_fini(&c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probes");
	TCase *tcase = tcase_create("probes");

	tcase_add_test(tcase, each_group_is_alone_with_its_solitary_flows);
	tcase_add_test(tcase, large_flows_are_fewer_and_come_last);
	tcase_add_test(tcase, others_are_left_as_they_are);
	tcase_add_test(tcase, mistakes_keep_them_out);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
