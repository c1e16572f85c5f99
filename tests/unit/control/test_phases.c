/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of inputs for the machine of the agreement, and the commands that it gives. */
#include "control/master/phases.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"

#define S UINT64_C(1000000000)

static struct nm_phases phases;
static char log_text[512];

static void log_command(void *arg, const struct nm_phase_command *command)
{
	static const char *const words[] = {"stop", "follow", "drain"};
	size_t used = strlen(log_text);

	(void)arg;
	used += (size_t)snprintf(log_text + used, sizeof log_text - used, "%s%s ", used ? "; " : "",
				 words[command->kind]);
	if (command->host == NM_PHASES_HERE)
		used += (size_t)snprintf(log_text + used, sizeof log_text - used, "here");
	else
		used += (size_t)snprintf(log_text + used, sizeof log_text - used, "%u",
					 command->host);
	used += (size_t)snprintf(
		log_text + used, sizeof log_text - used, " g%u%s", command->group,
		command->kind == NM_PHASE_STOP && command->interrupted ? " interrupted" : "");
	for (uint32_t w = 0; command->totals && w < phases.groups[command->group].n_workers; w++)
		used += (size_t)snprintf(log_text + used, sizeof log_text - used, "%c%llu",
					 w ? ',' : ' ', (unsigned long long)command->totals[w]);
}

/* The commands of one step: "stop 0 g0; follow here g0 3,4". */
static const char *step(uint64_t now_ns)
{
	log_text[0] = '\0';
	unsigned count = nm_phases_step(&phases, now_ns, log_command, NULL);

	ck_assert_uint_eq(count > 0, *log_text != '\0');
	return log_text;
}

/* One group of two workers and two slaves, which both have a part in it. */
static void start(void)
{
	const uint32_t n_workers = 2;

	ck_assert_int_eq(nm_phases_init(&phases, &n_workers, 1, 2), 0);
	phases.stall_ns = 10u * S;
	phases.patience_ns = 5u * S;
	phases.groups[0].runs = true;
	phases.groups[0].leader = NM_PHASES_HERE;
	for (int h = 0; h < 2; h++)
		phases.hosts[h].parts[0].runs = true;
}

static void end(void)
{
	nm_phases_fini(&phases);
}

static void here(uint64_t first, uint64_t second, bool done)
{
	phases.groups[0].here_passed = true;
	phases.groups[0].here_done = done;
	phases.groups[0].passes[0] = first;
	phases.groups[0].passes[1] = second;
}

static int done(uint32_t host, uint64_t first, uint64_t second)
{
	const uint64_t totals[] = {first, second};
	const struct nm_counts counts = {.iterations = first + second};

	return nm_phases_done(&phases, host, phases.phase, 0, totals, &counts);
}

static bool waits(void)
{
	uint32_t group;

	return nm_phases_waits(&phases, &group);
}

static void both_begin(uint32_t phase, uint64_t now_ns)
{
	nm_phases_begin(&phases, phase, now_ns);
	phases.groups[0].from_ns = now_ns;
	ck_assert_int_eq(nm_phases_began(&phases, 0, phase), 0);
	ck_assert_int_eq(nm_phases_began(&phases, 1, phase), 0);
}

START_TEST(by_count_everybody_ends_by_himself)
{
	both_begin(0, S);
	ck_assert_str_eq(step(S), "");
	ck_assert_int_eq(done(0, 3, 4), 0);
	ck_assert_str_eq(step(2u * S), "");
	here(3, 4, true);
	ck_assert_str_eq(step(2u * S), "");
	ck_assert(waits());
	ck_assert_int_eq(done(1, 3, 4), 0);
	ck_assert(!waits());
	ck_assert_uint_eq(phases.hosts[1].parts[0].counts.iterations, 7);
}
END_TEST

START_TEST(a_timed_phase_is_stopped_once_and_the_others_follow)
{
	phases.groups[0].duration_ns = 3u * S;
	phases.groups[0].by_agreement = true;
	both_begin(0, S);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, S), 4u * S);
	ck_assert_str_eq(step(4u * S - 1), "");
	ck_assert_str_eq(step(4u * S), "stop here g0");
	ck_assert_str_eq(step(4u * S + 1), "");
	ck_assert_uint_eq(nm_phases_next_ns(&phases, 4u * S), 11u * S);
	here(10, 11, true);
	ck_assert_str_eq(step(5u * S), "follow 0 g0 10,11; follow 1 g0 10,11");
	ck_assert_str_eq(step(5u * S), "");
	ck_assert_int_eq(done(0, 10, 11), 0);
	ck_assert_int_eq(done(1, 10, 11), 0);
	ck_assert(!waits());
}
END_TEST

START_TEST(the_time_of_a_group_begins_with_its_first_flow)
{
	phases.groups[0].duration_ns = 3u * S;
	phases.groups[0].by_agreement = true;
	nm_phases_begin(&phases, 0, S);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, S), 4u * S);
	ck_assert_str_eq(step(4u * S), "");
	ck_assert_uint_eq(nm_phases_next_ns(&phases, 4u * S), 7u * S);
	phases.groups[0].from_ns = 2u * S;
	ck_assert_uint_eq(nm_phases_next_ns(&phases, 4u * S), 5u * S);
	ck_assert_str_eq(step(5u * S - 1), "");
	ck_assert_str_eq(step(5u * S), "stop here g0");
	/* An interrupt waits for no flow. */
	nm_phases_begin(&phases, 1, 6u * S);
	nm_phases_interrupt(&phases, 6u * S);
	ck_assert_str_eq(step(6u * S), "stop here g0 interrupted");
}
END_TEST

START_TEST(where_a_slave_leads_the_master_follows_and_then_the_rest)
{
	phases.groups[0].leader = 1;
	phases.groups[0].duration_ns = S;
	phases.groups[0].by_agreement = true;
	both_begin(0, 1);
	ck_assert_str_eq(step(S + 1), "stop 1 g0");
	ck_assert_int_eq(done(1, 5, 6), 0);
	ck_assert_str_eq(step(S + 1), "follow here g0 5,6");
	ck_assert_str_eq(step(S + 1), "");
	here(5, 6, true);
	ck_assert_str_eq(step(S + 1), "follow 0 g0 5,6");
	ck_assert_int_eq(done(0, 5, 6), 0);
	ck_assert(!waits());
}
END_TEST

START_TEST(a_slave_that_leads_by_count_alone_is_not_followed)
{
	phases.groups[0].leader = 0;
	both_begin(0, 0);
	ck_assert_int_eq(done(0, 5, 6), 0);
	ck_assert_str_eq(step(S), "");
	here(5, 6, true);
	ck_assert_str_eq(step(S), "");
}
END_TEST

START_TEST(an_interrupt_stops_a_phase_by_count_as_if_its_time_were_over)
{
	both_begin(0, 0);
	ck_assert_str_eq(step(S), "");
	nm_phases_interrupt(&phases, 2u * S);
	nm_phases_interrupt(&phases, 3u * S);
	ck_assert_uint_eq(phases.interrupt_ns, 2u * S);
	ck_assert_str_eq(step(2u * S), "stop here g0 interrupted");
	here(1, 1, true);
	ck_assert_str_eq(step(2u * S), "follow 0 g0 1,1; follow 1 g0 1,1");
}
END_TEST

/* Passes that wait would begin for another 60 s. */
START_TEST(an_interrupt_stops_a_phase_again_whose_passes_may_wait)
{
	phases.groups[0].duration_ns = S;
	phases.groups[0].backlog_ns = 60u * S;
	both_begin(0, 1);
	ck_assert_str_eq(step(S + 1), "stop here g0");
	ck_assert_str_eq(step(2u * S), "");
	nm_phases_interrupt(&phases, 2u * S);
	ck_assert_str_eq(step(2u * S), "stop here g0 interrupted");
	ck_assert_str_eq(step(2u * S), "");
	nm_phases_begin(&phases, 1, 3u * S);
	ck_assert_str_eq(step(3u * S), "stop here g0 interrupted");
	ck_assert_str_eq(step(3u * S), "");
}
END_TEST

START_TEST(who_is_done_or_has_nothing_to_do_is_not_told_to_follow)
{
	phases.groups[0].by_agreement = true;
	phases.hosts[1].parts[0].empty = true;
	both_begin(0, 0);
	ck_assert_int_eq(done(0, 2, 2), 0);
	here(2, 2, true);
	ck_assert_str_eq(step(S), "");
}
END_TEST

START_TEST(free_hosts_are_stopped_and_what_they_sent_too_much_is_drained)
{
	struct nm_phase_part *part = &phases.hosts[1].parts[0];

	phases.groups[0].duration_ns = S;
	phases.groups[0].by_agreement = true;
	phases.groups[0].drains = true;
	part->free = true;
	part->pass_bytes = 100;
	both_begin(0, 1);
	ck_assert_str_eq(step(S + 1), "stop here g0");
	here(4, 5, false);
	ck_assert_str_eq(step(S + 1), "stop 1 g0");
	ck_assert_str_eq(step(S + 1), "");
	ck_assert_int_eq(done(1, 4, 8), 0);
	ck_assert_str_eq(step(S + 1), "drain here g0 0,300");
	ck_assert_str_eq(step(S + 1), "");
	here(4, 5, true);
	ck_assert_str_eq(step(S + 1), "follow 0 g0 4,5");
}
END_TEST

START_TEST(free_hosts_that_end_by_count_are_not_stopped)
{
	phases.groups[0].drains = true;
	phases.hosts[0].parts[0].free = true;
	phases.hosts[1].parts[0].free = true;
	phases.hosts[1].parts[0].empty = true;
	both_begin(0, 0);
	here(4, 5, false);
	ck_assert_str_eq(step(S), "");
	ck_assert_int_eq(done(0, 4, 5), 0);
	ck_assert_str_eq(step(S), "drain here g0 0,0");
}
END_TEST

START_TEST(late_and_double_messages_are_wrong)
{
	both_begin(0, 0);
	ck_assert_int_eq(nm_phases_began(&phases, 0, 0), -EPROTO);
	ck_assert_int_eq(done(0, 1, 1), 0);
	ck_assert_int_eq(done(0, 1, 1), -EPROTO);
	nm_phases_begin(&phases, 1, S);
	ck_assert_int_eq(nm_phases_began(&phases, 0, 0), -EPROTO);
	ck_assert_int_eq(nm_phases_began(&phases, 0, 1), 0);
	const uint64_t totals[] = {1, 1};
	const struct nm_counts counts = {.iterations = 2};

	ck_assert_int_eq(nm_phases_done(&phases, 0, 0, 0, totals, &counts), -EPROTO);
	phases.hosts[1].parts[0].runs = false;
	ck_assert_int_eq(done(1, 1, 1), -EPROTO);
}
END_TEST

START_TEST(a_host_that_has_not_begun_is_waited_for)
{
	uint32_t group = 9;

	phases.groups[0].runs = false;
	phases.hosts[0].parts[0].runs = phases.hosts[1].parts[0].runs = false;
	nm_phases_begin(&phases, 0, 0);
	ck_assert(nm_phases_waits(&phases, &group));
	ck_assert_uint_eq(group, 0);
	ck_assert_int_eq(nm_phases_began(&phases, 0, 0), 0);
	ck_assert(nm_phases_waits_for(&phases, 1, 0));
	ck_assert(!nm_phases_waits_for(&phases, 0, 0));
	ck_assert(!nm_phases_waits_for(&phases, NM_PHASES_HERE, 0));
	ck_assert_int_eq(nm_phases_began(&phases, 1, 0), 0);
	ck_assert(!waits());
	ck_assert_str_eq(step(S), "");
}
END_TEST

START_TEST(what_was_done_before_is_forgotten_in_the_next_phase)
{
	phases.groups[0].duration_ns = S;
	phases.groups[0].by_agreement = true;
	both_begin(0, 1);
	here(1, 1, true);
	ck_assert_str_eq(step(S + 1), "stop here g0; follow 0 g0 1,1; follow 1 g0 1,1");
	ck_assert_int_eq(done(0, 1, 1), 0);
	ck_assert_int_eq(done(1, 1, 1), 0);
	both_begin(1, 2u * S);
	ck_assert(waits());
	ck_assert_str_eq(step(2u * S), "");
	ck_assert_str_eq(step(3u * S), "stop here g0");
}
END_TEST

START_TEST(a_stall_is_told_once_and_names_the_group)
{
	uint32_t group = 9;

	both_begin(0, S);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, S), 11u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 11u * S - 1, &group), NM_PHASE_GOES_ON);
	nm_phases_progress(&phases, 7, 1, 5u * S);
	nm_phases_progress(&phases, 7, 1, 6u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 11u * S, &group), NM_PHASE_GOES_ON);
	ck_assert_int_eq(nm_phases_check(&phases, 15u * S, &group), NM_PHASE_STALLED);
	ck_assert_uint_eq(group, 0);
	ck_assert_int_eq(nm_phases_check(&phases, 15u * S + 1, &group), NM_PHASE_GOES_ON);
}
END_TEST

START_TEST(a_stall_waits_for_what_a_kernel_sends_again_but_not_for_ever)
{
	uint32_t group = 9;

	both_begin(0, 0);
	ck_assert_int_eq(nm_phases_check(&phases, 10u * S, &group), NM_PHASE_STALLED);
	ck_assert(!nm_phases_wait(&phases, 0));
	ck_assert(nm_phases_wait(&phases, 26u * S));
	ck_assert_int_eq(nm_phases_check(&phases, 20u * S - 1, &group), NM_PHASE_GOES_ON);
	ck_assert_int_eq(nm_phases_check(&phases, 20u * S, &group), NM_PHASE_STALLED);
	ck_assert_uint_eq(nm_phases_still_ns(&phases), 20u * S);
	/* Something has moved: it is waited for as long as before. */
	nm_phases_progress(&phases, 1, 1, 25u * S);
	for (uint64_t t = 1; t <= 4; t++) {
		ck_assert_int_eq(nm_phases_check(&phases, (25u + 10u * t) * S, &group),
				 NM_PHASE_STALLED);
		/* What is sent again later than the last look would be told too late. */
		ck_assert(!nm_phases_wait(&phases, (50u - 10u * t) * S));
		ck_assert(nm_phases_wait(&phases, (50u - 10u * t) * S - 1));
	}
	ck_assert_int_eq(nm_phases_check(&phases, 75u * S, &group), NM_PHASE_STALLED);
	ck_assert(!nm_phases_wait(&phases, 1));
	ck_assert_uint_eq(nm_phases_still_ns(&phases), 50u * S);
	ck_assert_uint_eq(phases.waits, 4);
}
END_TEST

START_TEST(a_quiet_phase_is_told_once_before_it_is_stalled)
{
	uint32_t group = 9;

	phases.quiet_ns = 5u * S;
	both_begin(0, S);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, S), 6u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 6u * S - 1, &group), NM_PHASE_GOES_ON);
	ck_assert_int_eq(nm_phases_check(&phases, 6u * S, &group), NM_PHASE_QUIET);
	ck_assert_int_eq(nm_phases_check(&phases, 7u * S, &group), NM_PHASE_GOES_ON);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, 7u * S), 11u * S);
	/* Something has moved, and then nothing any more. */
	nm_phases_progress(&phases, 7, 1, 8u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 12u * S, &group), NM_PHASE_GOES_ON);
	ck_assert_int_eq(nm_phases_check(&phases, 13u * S, &group), NM_PHASE_QUIET);
	ck_assert_int_eq(nm_phases_check(&phases, 18u * S, &group), NM_PHASE_STALLED);
	here(1, 1, true);
	both_begin(1, 20u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 25u * S, &group), NM_PHASE_QUIET);
}
END_TEST

START_TEST(what_a_slave_tells_of_its_progress_does_not_keep_a_phase_by_count)
{
	uint32_t group = 9;

	phases.bounded = true;
	both_begin(0, 0);
	for (uint64_t t = 1; t < 10; t++) {
		nm_phases_progress(&phases, 1, t, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
	}
	nm_phases_progress(&phases, 1, 10, 11u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 11u * S, &group), NM_PHASE_STALLED);
	ck_assert_uint_eq(group, 0);
}
END_TEST

START_TEST(a_timed_phase_has_its_time_and_some_timeouts)
{
	uint32_t group = 9;

	phases.groups[0].duration_ns = 30u * S;
	phases.bounded = true;
	both_begin(0, S);
	/* Here the master may have nothing to count: a slave sends, and all is lost. */
	for (uint64_t t = 1; t < 81; t++) {
		nm_phases_progress(&phases, t > 30 ? t : 1, t, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
		(void)step(t * S);
	}
	nm_phases_progress(&phases, 90, 90, 81u * S);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, 80u * S), 81u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 81u * S, &group), NM_PHASE_LATE);
	ck_assert_uint_eq(group, 0);
	ck_assert_int_eq(nm_phases_check(&phases, 81u * S, &group), NM_PHASE_GOES_ON);
	ck_assert_uint_gt(nm_phases_next_ns(&phases, 81u * S), 81u * S);
	/* The next one has its own time; with another limit a phase has none. */
	phases.bounded = false;
	both_begin(1, 100u * S);
	nm_phases_progress(&phases, 1, 91, 200u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 205u * S, &group), NM_PHASE_GOES_ON);
}
END_TEST

START_TEST(what_waits_may_begin_before_a_phase_lasts_too_long)
{
	uint32_t group = 9;

	phases.groups[0].duration_ns = S;
	phases.groups[0].backlog_ns = 60u * S;
	phases.bounded = true;
	both_begin(0, 0);
	for (uint64_t t = 1; t < 111; t++) {
		nm_phases_progress(&phases, t, 1, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
	}
	nm_phases_progress(&phases, 111, 1, 111u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 111u * S, &group), NM_PHASE_LATE);
	ck_assert_uint_eq(phases.late_by_ns, 110u * S);
}
END_TEST

/* The master has sent so much, and the slave takes it over a slow link. */
#define SENT 60000000u

START_TEST(a_phase_in_which_data_flows_is_waited_for)
{
	uint32_t group = 9;

	phases.groups[0].duration_ns = 3u * S;
	phases.bounded = true;
	both_begin(0, 0);
	for (uint64_t t = 1; t <= 240; t++) {
		nm_phases_progress(&phases, SENT, t * 250000, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
	}
	/* Then it drips: that is progress only where it is seen here. */
	for (uint64_t t = 241; t < 290; t++) {
		nm_phases_progress(&phases, SENT + t - 240, SENT + t - 240, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
	}
	nm_phases_progress(&phases, SENT + 50, SENT + 50, 290u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 290u * S, &group), NM_PHASE_LATE);
	ck_assert_uint_eq(phases.late_by_ns, 287u * S);
}
END_TEST

START_TEST(what_a_slave_alone_tells_does_not_keep_a_phase_whose_time_is_over)
{
	uint32_t group = 9;

	phases.groups[0].duration_ns = 3u * S;
	phases.bounded = true;
	both_begin(0, 0);
	for (uint64_t t = 1; t < 13; t++) {
		nm_phases_progress(&phases, SENT, t, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
	}
	nm_phases_progress(&phases, SENT, 13, 13u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 13u * S, &group), NM_PHASE_STALLED);
}
END_TEST

START_TEST(what_flows_without_end_is_not_waited_for_without_end)
{
	uint32_t group = 9;

	phases.groups[0].duration_ns = 3u * S;
	phases.bounded = true;
	both_begin(0, 0);
	for (uint64_t t = 1; t < 3603; t++) {
		nm_phases_progress(&phases, t * 250000, 0, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
	}
	nm_phases_progress(&phases, 3603u * 250000u, 0, 3603u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 3603u * S, &group), NM_PHASE_LATE);
}
END_TEST

START_TEST(data_that_flows_keeps_a_phase_by_count)
{
	uint32_t group = 9;
	uint64_t t;

	both_begin(0, 0);
	for (t = 1; t <= 240; t++) {
		nm_phases_progress(&phases, SENT, t * 250000, t * S);
		ck_assert_int_eq(nm_phases_check(&phases, t * S, &group), NM_PHASE_GOES_ON);
	}
	/* More than all cannot have come. */
	for (; t < 250; t++)
		nm_phases_progress(&phases, SENT, t * 250000, t * S);
	ck_assert_int_eq(nm_phases_check(&phases, 250u * S, &group), NM_PHASE_STALLED);
}
END_TEST

START_TEST(beside_a_group_by_count_a_timed_one_does_not_end_the_phase)
{
	const uint32_t n_workers[] = {1, 1};
	struct nm_phases two;
	uint32_t group = 9;

	ck_assert_int_eq(nm_phases_init(&two, n_workers, 2, 0), 0);
	two.stall_ns = 10u * S;
	two.bounded = true;
	two.groups[0].runs = two.groups[1].runs = true;
	two.groups[0].leader = two.groups[1].leader = NM_PHASES_HERE;
	two.groups[1].duration_ns = S;
	nm_phases_begin(&two, 0, 0);
	two.groups[1].done = true;
	for (uint64_t t = 1; t < 60; t++)
		nm_phases_progress(&two, t, 0, t * S);
	ck_assert_int_eq(nm_phases_check(&two, 60u * S, &group), NM_PHASE_GOES_ON);
	two.groups[1].done = false;
	two.groups[0].done = true;
	ck_assert_int_eq(nm_phases_check(&two, 60u * S, &group), NM_PHASE_LATE);
	ck_assert_uint_eq(group, 1);
	nm_phases_fini(&two);
}
END_TEST

START_TEST(a_phase_that_is_over_does_not_stall)
{
	uint32_t group;

	both_begin(0, 0);
	here(1, 1, true);
	ck_assert_str_eq(step(S), "");
	ck_assert_int_eq(done(0, 1, 1), 0);
	ck_assert_int_eq(done(1, 1, 1), 0);
	ck_assert_int_eq(nm_phases_check(&phases, 60u * S, &group), NM_PHASE_GOES_ON);
}
END_TEST

START_TEST(an_interrupted_phase_has_only_so_much_time)
{
	uint32_t group = 9;

	both_begin(0, 0);
	nm_phases_interrupt(&phases, S);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, S), 6u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 6u * S - 1, &group), NM_PHASE_GOES_ON);
	ck_assert_int_eq(nm_phases_check(&phases, 6u * S, &group), NM_PHASE_OVERDUE);
	ck_assert_uint_eq(group, 0);
	/* It is no reason to wake up again and again. */
	ck_assert_uint_eq(nm_phases_next_ns(&phases, 6u * S), 10u * S);
}
END_TEST

/* The user waits for the end, and not for what a kernel may send again. */
START_TEST(an_interrupted_phase_that_is_stalled_does_not_last_longer)
{
	uint32_t group = 9;

	both_begin(0, 0);
	nm_phases_interrupt(&phases, 7u * S);
	ck_assert_int_eq(nm_phases_check(&phases, 10u * S, &group), NM_PHASE_STALLED);
	ck_assert(!nm_phases_wait(&phases, S));
	ck_assert_int_eq(nm_phases_check(&phases, 20u * S, &group), NM_PHASE_OVERDUE);
	ck_assert_uint_eq(nm_phases_next_ns(&phases, 20u * S), 30u * S);
}
END_TEST

START_TEST(groups_without_slaves_or_workers_are_no_trouble)
{
	const uint32_t n_workers[] = {0, 1};
	struct nm_phases alone;
	uint32_t group;

	ck_assert_int_eq(nm_phases_init(&alone, n_workers, 2, 0), 0);
	nm_phases_begin(&alone, 0, 0);
	ck_assert(!nm_phases_waits(&alone, &group));
	nm_phases_fini(&alone);
	nm_phases_fini(&alone);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("phases");
	TCase *machine = tcase_create("machine");

	tcase_add_checked_fixture(machine, start, end);
	tcase_add_test(machine, by_count_everybody_ends_by_himself);
	tcase_add_test(machine, a_timed_phase_is_stopped_once_and_the_others_follow);
	tcase_add_test(machine, the_time_of_a_group_begins_with_its_first_flow);
	tcase_add_test(machine, where_a_slave_leads_the_master_follows_and_then_the_rest);
	tcase_add_test(machine, a_slave_that_leads_by_count_alone_is_not_followed);
	tcase_add_test(machine, an_interrupt_stops_a_phase_by_count_as_if_its_time_were_over);
	tcase_add_test(machine, an_interrupt_stops_a_phase_again_whose_passes_may_wait);
	tcase_add_test(machine, who_is_done_or_has_nothing_to_do_is_not_told_to_follow);
	tcase_add_test(machine, free_hosts_are_stopped_and_what_they_sent_too_much_is_drained);
	tcase_add_test(machine, free_hosts_that_end_by_count_are_not_stopped);
	tcase_add_test(machine, late_and_double_messages_are_wrong);
	tcase_add_test(machine, a_host_that_has_not_begun_is_waited_for);
	tcase_add_test(machine, what_was_done_before_is_forgotten_in_the_next_phase);
	tcase_add_test(machine, a_stall_is_told_once_and_names_the_group);
	tcase_add_test(machine, a_stall_waits_for_what_a_kernel_sends_again_but_not_for_ever);
	tcase_add_test(machine, a_quiet_phase_is_told_once_before_it_is_stalled);
	tcase_add_test(machine, what_a_slave_tells_of_its_progress_does_not_keep_a_phase_by_count);
	tcase_add_test(machine, a_phase_in_which_data_flows_is_waited_for);
	tcase_add_test(machine, what_a_slave_alone_tells_does_not_keep_a_phase_whose_time_is_over);
	tcase_add_test(machine, what_flows_without_end_is_not_waited_for_without_end);
	tcase_add_test(machine, data_that_flows_keeps_a_phase_by_count);
	tcase_add_test(machine, a_timed_phase_has_its_time_and_some_timeouts);
	tcase_add_test(machine, what_waits_may_begin_before_a_phase_lasts_too_long);
	tcase_add_test(machine, beside_a_group_by_count_a_timed_one_does_not_end_the_phase);
	tcase_add_test(machine, a_phase_that_is_over_does_not_stall);
	tcase_add_test(machine, an_interrupted_phase_has_only_so_much_time);
	tcase_add_test(machine, an_interrupted_phase_that_is_stalled_does_not_last_longer);
	tcase_add_test(machine, groups_without_slaves_or_workers_are_no_trouble);
	suite_add_tcase(suite, machine);
	return run_suite(suite);
}
