/* SPDX-License-Identifier: Apache-2.0 */
/* When a delay is said not to be kept, by what kernels tell of round trips. */
#include "control/master/unkept.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../plan/compiled.h"
#include "../suite.h"
#include "result/result.h"

#define DELAY_S 0.02
#define LAN_S	20e-6

#define WRITES(options)                                                                            \
	"<group nflows='2'><transaction iterations='1'>"                                           \
	"<flowop type='connect' options='remotehost=a " options "'/>"                              \
	"</transaction><transaction iterations='100'>"                                             \
	"<flowop type='write' options='size=64'/></transaction></group>"
#define DELAYED WRITES("tcp_tx_delay=20ms")

/* Groups without a delay take nothing from those with one, and nor do those of few passes. */
static const char *const profiles[] = {
	"<profile>" DELAYED "</profile>",
	"<profile>" WRITES("") DELAYED "</profile>",
	"<profile>" DELAYED WRITES("tcp_tx_delay=1ms") "</profile>",
	"<profile>" DELAYED WRITES("protocol=udp") "</profile>",
};

/* A host, by its longest smoothed round trip, and the shortest that it has measured; 0: none. */
static struct nm_result_host host(double srtt_s, double min_s)
{
	return (struct nm_result_host){
		.connections = {.connections = 2, .srtt_max_s = srtt_s, .min_rtt_s = min_s}};
}

static bool is_told_of(const char *profile, struct nm_result_host master,
		       struct nm_result_host slave, uint64_t passes)
{
	struct compiled compiled = compile_good(profile);
	struct nm_result_phase phase = {.whole.counts.iterations = 2 * passes};
	const struct nm_result_group group = {.phases = &phase, .n_phases = 1};
	struct nm_result_group groups[] = {group, group};
	struct nm_result_host hosts[] = {master, slave};
	struct nm_result result = {.groups = groups, .n_groups = 2, .hosts = hosts, .n_hosts = 2};
	bool told;

	nm_warn_of_unkept(&result, compiled.plan);
	told = result.warnings.count == 1 && strstr(result.warnings.items[0], "tcp_tx_delay is 20");
	ck_assert(told || !result.warnings.count);
	for (size_t i = 0; i < result.warnings.count; i++)
		free(result.warnings.items[i]);
	free(result.warnings.items);
	compiled_fini(&compiled);
	return told;
}

static bool is_told(struct nm_result_host master, struct nm_result_host slave, uint64_t passes)
{
	return is_told_of(profiles[0], master, slave, passes);
}

START_TEST(other_groups_hide_nothing)
{
	ck_assert(is_told_of(profiles[_i], host(LAN_S, LAN_S), host(LAN_S, LAN_S), 1000));
	ck_assert(!is_told_of(profiles[_i], host(DELAY_S, LAN_S), host(LAN_S, LAN_S), 1000));
	ck_assert(!is_told_of(profiles[_i], host(LAN_S, LAN_S), host(LAN_S, LAN_S), 1));
}
END_TEST

/* Of a group whose connections come and go no connection is known. */
START_TEST(fleeting_connections_tell_nothing)
{
	static const char fleeting[] =
		"<profile><group><transaction iterations='100'>"
		"<flowop type='connect' options='remotehost=a tcp_tx_delay=20ms'/>"
		"<flowop type='write' options='size=64'/><flowop type='disconnect'/>"
		"</transaction></group>" WRITES("") "</profile>";

	ck_assert(!is_told_of(fleeting, host(LAN_S, LAN_S), host(LAN_S, LAN_S), 1000));
}
END_TEST

START_TEST(what_was_set_is_no_round_trip)
{
	/* An end that only receives has measured none, and its kernel may tell what was set. */
	ck_assert(is_told(host(25 * LAN_S, LAN_S), host(DELAY_S + LAN_S, 0), 1000));
	ck_assert(!is_told(host(DELAY_S + LAN_S, 0), host(DELAY_S + LAN_S, 0), 1000));
	ck_assert(is_told(host(LAN_S, LAN_S), host(LAN_S, LAN_S), 1000));
	ck_assert(!is_told(host(DELAY_S + LAN_S, LAN_S), host(LAN_S, LAN_S), 1000));
}
END_TEST

/* With a delay that is kept, one round trip has an eighth of it in the smoothed one. */
START_TEST(a_few_round_trips_tell_nothing)
{
	double srtt_s = LAN_S;

	for (uint64_t passes = 0; passes < 200; passes++) {
		ck_assert_msg(!is_told(host(srtt_s, LAN_S), host(LAN_S, LAN_S), passes),
			      "%u passes", (unsigned)passes);
		srtt_s += (DELAY_S + LAN_S - srtt_s) / 8;
	}
	ck_assert(is_told(host(LAN_S, LAN_S), host(LAN_S, LAN_S), 16));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unkept");
	TCase *delays = tcase_create("delays");

	tcase_add_loop_test(delays, other_groups_hide_nothing, 0,
			    sizeof profiles / sizeof *profiles);
	tcase_add_test(delays, fleeting_connections_tell_nothing);
	tcase_add_test(delays, what_was_set_is_no_round_trip);
	tcase_add_test(delays, a_few_round_trips_tell_nothing);
	suite_add_tcase(suite, delays);
	return run_suite(suite);
}
