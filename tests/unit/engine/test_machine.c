/* SPDX-License-Identifier: Apache-2.0 */
/* The phase machine, driven by scripts: each line is what is known, and the state that must follow.
 */
#include "engine/phase/machine.h"

#include <check.h>

#include "../suite.h"

#define NEVER	   UINT64_MAX
#define PATIENT_NS 100

struct line {
	struct nm_phase_input in;
	uint64_t now_ns;
	enum nm_phase_state state;
};

/* Plays the lines, from IDLE on. */
static void play(const struct line *lines, size_t count)
{
	enum nm_phase_state state = NM_PHASE_IDLE;

	for (size_t i = 0; i < count; i++) {
		state = nm_phase_next(state, &lines[i].in, lines[i].now_ns);
		ck_assert_msg(state == lines[i].state, "line %zu: state %d, not %d", i, state,
			      lines[i].state);
	}
}

#define PLAY(...)                                                                                  \
	do {                                                                                       \
		const struct line lines[] = {__VA_ARGS__};                                         \
		play(lines, sizeof lines / sizeof *lines);                                         \
	} while (0)

START_TEST(a_phase_of_passes)
{
	PLAY({{.to_drain = NEVER}, 1, NM_PHASE_IDLE},
	     {{.begun = true, .to_drain = NEVER}, 2, NM_PHASE_RUN},
	     {{.begun = true, .to_drain = NEVER}, 3, NM_PHASE_RUN},
	     {{.begun = true, .passes_done = true, .to_drain = NEVER}, 4, NM_PHASE_DONE},
	     {{.begun = true, .to_drain = NEVER}, 5, NM_PHASE_DONE},
	     {{.to_drain = NEVER}, 6, NM_PHASE_IDLE}, {{.begun = true}, 7, NM_PHASE_RUN});
}
END_TEST

START_TEST(what_was_abandoned_is_flushed)
{
	PLAY({{.begun = true}, 1, NM_PHASE_RUN},
	     {{.begun = true, .n_abandoning = 2}, 2, NM_PHASE_RUN},
	     {{.begun = true, .n_abandoning = 2, .passes_done = true}, 3, NM_PHASE_FLUSH},
	     {{.begun = true, .n_abandoning = 1}, 4, NM_PHASE_FLUSH},
	     {{.begun = true, .n_abandoning = 0}, 5, NM_PHASE_DONE}, {{0}, 6, NM_PHASE_IDLE});
}
END_TEST

START_TEST(what_open_senders_have_sent_is_drained)
{
	struct nm_phase_input in = {.begun = true, .drains = true, .to_drain = NEVER};

	PLAY({in, 1, NM_PHASE_RUN},
	     {{.begun = true, .drains = true, .passes_done = true, .to_drain = NEVER},
	      2,
	      NM_PHASE_DRAIN},
	     {{.begun = true, .drains = true, .drained = 500, .to_drain = NEVER},
	      3,
	      NM_PHASE_DRAIN},
	     {{.begun = true, .drains = true, .drained = 500, .to_drain = 501}, 4, NM_PHASE_DRAIN},
	     {{.begun = true, .drains = true, .drained = 501, .to_drain = 501}, 5, NM_PHASE_DONE});
}
END_TEST

/* More may have come than was told, and nothing need have. */
START_TEST(draining_ends_at_or_beyond_what_is_told)
{
	const struct nm_phase_input more = {.begun = true, .drained = 9, .to_drain = 8};
	const struct nm_phase_input none = {.begun = true, .drained = 0, .to_drain = 0};

	ck_assert_int_eq(nm_phase_next(NM_PHASE_DRAIN, &more, 1), NM_PHASE_DONE);
	ck_assert_int_eq(nm_phase_next(NM_PHASE_DRAIN, &none, 1), NM_PHASE_DONE);
}
END_TEST

START_TEST(draining_comes_before_flushing)
{
	const struct nm_phase_input in = {.begun = true,
					  .passes_done = true,
					  .drains = true,
					  .n_abandoning = 3,
					  .to_drain = NEVER};

	ck_assert_int_eq(nm_phase_next(NM_PHASE_RUN, &in, 1), NM_PHASE_DRAIN);
}
END_TEST

/* Each state that can stand still, and what follows then. */
START_TEST(a_state_in_which_nothing_moves_is_over)
{
	static const struct {
		enum nm_phase_state state, next;
		bool drains;
	} cases[] = {{NM_PHASE_RUN, NM_PHASE_DONE, false},
		     {NM_PHASE_RUN, NM_PHASE_DRAIN, true},
		     {NM_PHASE_FLUSH, NM_PHASE_DONE, false},
		     {NM_PHASE_DRAIN, NM_PHASE_DONE, true}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_phase_input in = {.begun = true,
					    .drains = cases[i].drains,
					    .n_abandoning = 1,
					    .to_drain = NEVER,
					    .moved_ns = 1000,
					    .patience_ns = PATIENT_NS};

		ck_assert_int_eq(nm_phase_next(cases[i].state, &in, 1000 + PATIENT_NS - 1),
				 cases[i].state);
		ck_assert_int_eq(nm_phase_next(cases[i].state, &in, 1000 + PATIENT_NS),
				 cases[i].next);
		in.patience_ns = NEVER;
		ck_assert_int_eq(nm_phase_next(cases[i].state, &in, NEVER), cases[i].state);
	}
}
END_TEST

START_TEST(where_nobody_looks_nothing_is_quiescent)
{
	struct nm_phase_input in = {.moved_ns = 0, .patience_ns = 0};

	ck_assert(!nm_phase_is_quiescent(&in, 5));
	in.moved_ns = 5;
	ck_assert(!nm_phase_is_quiescent(&in, 5));
	ck_assert(!nm_phase_is_quiescent(&in, 4));
	ck_assert(nm_phase_is_quiescent(&in, 6));
}
END_TEST

START_TEST(standing_still_neither_begins_nor_ends_a_phase)
{
	struct nm_phase_input in = {.moved_ns = 1, .patience_ns = 1};

	ck_assert_int_eq(nm_phase_next(NM_PHASE_IDLE, &in, 100), NM_PHASE_IDLE);
	ck_assert_int_eq(nm_phase_next(NM_PHASE_DONE, &in, 100), NM_PHASE_IDLE);
	in.begun = true;
	ck_assert_int_eq(nm_phase_next(NM_PHASE_DONE, &in, 100), NM_PHASE_DONE);
}
END_TEST

START_TEST(movement_begins_the_wait_anew)
{
	struct nm_quiesce quiesce = {0};

	ck_assert(!nm_quiesce_looks(&quiesce));
	nm_quiesce_begin(&quiesce, 10, 100);
	ck_assert(nm_quiesce_looks(&quiesce));
	nm_quiesce_look(&quiesce, 10, 200);
	ck_assert_uint_eq(quiesce.moved_ns, 100);
	nm_quiesce_look(&quiesce, 11, 300);
	ck_assert_uint_eq(quiesce.moved_ns, 300);
	nm_quiesce_look(&quiesce, 11, 400);
	ck_assert_uint_eq(quiesce.moved_ns, 300);
	nm_quiesce_end(&quiesce);
	ck_assert(!nm_quiesce_looks(&quiesce));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("phase machine");
	TCase *tcase = tcase_create("scripts");

	tcase_add_test(tcase, a_phase_of_passes);
	tcase_add_test(tcase, what_was_abandoned_is_flushed);
	tcase_add_test(tcase, what_open_senders_have_sent_is_drained);
	tcase_add_test(tcase, draining_ends_at_or_beyond_what_is_told);
	tcase_add_test(tcase, draining_comes_before_flushing);
	tcase_add_test(tcase, a_state_in_which_nothing_moves_is_over);
	tcase_add_test(tcase, where_nobody_looks_nothing_is_quiescent);
	tcase_add_test(tcase, standing_still_neither_begins_nor_ends_a_phase);
	tcase_add_test(tcase, movement_begins_the_wait_anew);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
