/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/tally.h"

#include <check.h>
#include <stdlib.h>

#include "../suite.h"

START_TEST(sizes_have_classes)
{
	static const struct {
		uint64_t bytes;
		enum nm_time complete;
	} sizes[] = {
		{0, NM_TIME_COMPLETE_UNDER_10KB},	{9999, NM_TIME_COMPLETE_UNDER_10KB},
		{10000, NM_TIME_COMPLETE_10_100KB},	{99999, NM_TIME_COMPLETE_10_100KB},
		{100000, NM_TIME_COMPLETE_100KB_1MB},	{999999, NM_TIME_COMPLETE_100KB_1MB},
		{1000000, NM_TIME_COMPLETE_1_10MB},	{9999999, NM_TIME_COMPLETE_1_10MB},
		{10000000, NM_TIME_COMPLETE_OVER_10MB}, {UINT64_MAX, NM_TIME_COMPLETE_OVER_10MB},
	};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		ck_assert_uint_eq(nm_time_of_class(nm_size_class(sizes[i].bytes)),
				  sizes[i].complete);
	ck_assert_uint_eq(NM_TIME_SLOWDOWN_OVER_10MB, NM_TIME_COMPLETE_OVER_10MB + 1);
	ck_assert_str_eq(nm_time_names[NM_TIME_SLOWDOWN], "slowdown");
	ck_assert_str_eq(nm_time_names[NM_TIME_COMPLETE_1_10MB], "complete_1_10mb");
	ck_assert_str_eq(nm_time_labels[NM_TIME_SLOWDOWN_1_10MB], "1 - 10 MB");
}
END_TEST

/* A tally of one worker, in which each time that it keeps is ns. */
static struct nm_tally tally_of(unsigned kept, uint64_t ns)
{
	struct nm_tally tally = {.latency = NULL};

	for (unsigned t = 0; t < NM_TIME__COUNT; t++) {
		if (!(kept >> t & 1))
			continue;
		tally.times[t] = calloc(1, sizeof(struct nm_hist));
		ck_assert_ptr_nonnull(tally.times[t]);
		nm_hist_init_zeroed(tally.times[t]);
		nm_hist_record(tally.times[t], ns);
	}
	return tally;
}

static void tally_fini(struct nm_tally *tally)
{
	for (unsigned t = 0; t < NM_TIME__COUNT; t++)
		free(tally->times[t]);
}

START_TEST(flows_of_all_workers_are_added)
{
	const unsigned sized = 1u << NM_TIME_LATENCY | 1u << NM_TIME_SLOWDOWN_1_10MB;
	struct nm_tally flows = tally_of(sized, 100), usual = tally_of(1u << NM_TIME_LATENCY, 50);
	struct nm_tally_snap *sum = nm_tally_snap_new(0), *before = nm_tally_snap_new(0);

	ck_assert(sum && before);
	nm_tally_collect(sum, &flows);
	nm_tally_collect(sum, &usual);
	nm_tally_copy(before, sum);
	nm_tally_collect(sum, &flows);
	ck_assert_uint_eq(sum->kept, sized);
	ck_assert_uint_eq(sum->latency.count, 3);
	ck_assert_uint_eq(sum->slowdown_1_10mb.count, 2);
	ck_assert_uint_eq(sum->slowdown_1_10mb.sum_ns, 200);
	nm_tally_subtract(sum, before);
	ck_assert_uint_eq(sum->latency.count, 1);
	ck_assert_uint_eq(sum->slowdown_1_10mb.count, 1);
	nm_tally_add(before, sum);
	ck_assert_uint_eq(before->slowdown_1_10mb.count, 2);
	/* What the copied one does not keep is empty in the copy. */
	nm_tally_snap_clear(sum);
	nm_tally_collect(sum, &usual);
	nm_tally_copy(before, sum);
	ck_assert_uint_eq(before->kept, 1u << NM_TIME_LATENCY);
	ck_assert_uint_eq(before->slowdown_1_10mb.count, 0);
	ck_assert_uint_eq(before->latency.sum_ns, 50);
	tally_fini(&flows);
	tally_fini(&usual);
	free(sum);
	free(before);
}
END_TEST

/* 404 has ended well at one worker and was refused at the other, as each flowop says. */
START_TEST(names_make_up_the_classes)
{
	static struct nm_verb_tally verbs[2];
	struct nm_tally tallies[2];
	struct nm_tally_snap *sum = nm_tally_snap_new(1), *before = nm_tally_snap_new(1);
	const struct nm_verb_snap *verb = &sum->verbs[0];
	struct nm_outcomes alone = {.requests = 0};

	ck_assert(sum && before);
	for (unsigned w = 0; w < 2; w++) {
		verbs[w] = (struct nm_verb_tally){.name = "GET", .usual = NM_ANSWER_HTTP_200};
		tallies[w] = (struct nm_tally){.verbs = &verbs[w], .n_verbs = 1};
		nm_counter_add(&verbs[w].outcomes.ok, 10);
		nm_counter_add(&verbs[w].outcomes.timed_out, 1);
		nm_verb_count_named(&verbs[w], NM_ANSWER_HTTP_404, w);
		nm_tally_collect(sum, &tallies[w]);
	}
	ck_assert_uint_eq(verb->outcomes.requests, 24);
	nm_verb_collect(&alone, NULL, &verbs[0]);
	nm_verb_collect(&alone, NULL, &verbs[1]);
	ck_assert_mem_eq(&alone, &verb->outcomes, sizeof alone);
	ck_assert_uint_eq(verb->outcomes.ok, 21);
	ck_assert_uint_eq(verb->outcomes.refused, 1);
	ck_assert_uint_eq(sum->counts.refused, 1);
	ck_assert_uint_eq(verb->answers[NM_ANSWER_HTTP_200], 20);
	ck_assert_uint_eq(verb->answers[NM_ANSWER_HTTP_404], 2);
	nm_tally_copy(before, sum);
	nm_verb_count_named(&verbs[1], NM_ANSWER_HTTP_503, true);
	nm_tally_collect(sum, &tallies[1]);
	nm_tally_subtract(sum, before);
	ck_assert_uint_eq(verb->outcomes.refused, 2);
	ck_assert_uint_eq(verb->answers[NM_ANSWER_HTTP_503], 1);
	ck_assert_uint_eq(verb->answers[NM_ANSWER_HTTP_200], 10);
	nm_tally_add(sum, before);
	ck_assert_uint_eq(verb->answers[NM_ANSWER_HTTP_404], 3);
	/* What has failed since stays, and was not answered. */
	nm_tally_set_back_outcomes(sum, before);
	ck_assert_uint_eq(verb->outcomes.requests, 21 + 1 + 3);
	ck_assert_uint_eq(verb->answers[NM_ANSWER_HTTP_404], 2);
	nm_tally_snap_clear(sum);
	ck_assert_uint_eq(verb->answers[NM_ANSWER_HTTP_200], 0);
	free(sum);
	free(before);
}
END_TEST

START_TEST(each_name_is_counted)
{
	static struct nm_verb_tally verb;
	struct nm_outcomes outcomes = {.requests = 0};
	uint64_t answers[NM_ANSWER__COUNT] = {0};

	for (enum nm_answer a = NM_ANSWER_NONE; a < NM_ANSWER__COUNT; a++)
		for (unsigned i = 0; i <= a; i++)
			nm_verb_count_named(&verb, a, i % 2);
	nm_verb_collect(&outcomes, answers, &verb);
	for (enum nm_answer a = NM_ANSWER_NONE; a < NM_ANSWER__COUNT; a++)
		ck_assert_uint_eq(answers[a], a + 1);
	ck_assert_uint_eq(outcomes.requests, NM_ANSWER__COUNT * (NM_ANSWER__COUNT + 1) / 2);
	ck_assert_uint_eq(outcomes.requests, outcomes.ok + outcomes.refused);
}
END_TEST

/* Those that were not there have a name of their own, in DNS. */
START_TEST(misses_have_a_name)
{
	static struct nm_verb_tally verb = {
		.name = "query", .usual = NM_ANSWER_DNS_NOERROR, .missed = NM_ANSWER_DNS_NXDOMAIN};
	const struct nm_tally tally = {.verbs = &verb, .n_verbs = 1};
	struct nm_tally_snap *sum = nm_tally_snap_new(1);

	ck_assert_ptr_nonnull(sum);
	nm_counter_add(&verb.outcomes.hits, 3);
	nm_counter_add(&verb.outcomes.truncated, 1);
	nm_counter_add(&verb.outcomes.misses, 2);
	nm_verb_count_named(&verb, NM_ANSWER_DNS_REFUSED, true);
	nm_tally_collect(sum, &tally);
	ck_assert_uint_eq(sum->verbs[0].answers[NM_ANSWER_DNS_NOERROR], 4);
	ck_assert_uint_eq(sum->verbs[0].answers[NM_ANSWER_DNS_NXDOMAIN], 2);
	ck_assert_uint_eq(sum->verbs[0].answers[NM_ANSWER_DNS_REFUSED], 1);
	free(sum);
}
END_TEST

/* It has room for all that the other keeps, each apart, and the times of a verb that are those of
 * the passes are so in it, too. */
START_TEST(a_tally_like_another_keeps_the_same)
{
	struct nm_tally like = tally_of(1u << NM_TIME_LATENCY | 1u << NM_TIME_RESPONSE, 5), tally;
	struct nm_tally own = tally_of(1u << NM_TIME_RESPONSE, 7);
	struct nm_verb_tally verbs[2] = {{.name = NULL},
					 {.name = "get",
					  .usual = 3,
					  .missed = 4,
					  .latency = like.latency,
					  .response = own.response}};
	struct nm_tally_snap *snap = nm_tally_snap_new(2);
	char *memory;

	like.verbs = verbs;
	like.n_verbs = 2;
	ck_assert_uint_eq(nm_tally_bytes(&like), sizeof verbs + 3 * sizeof(struct nm_hist));
	memory = calloc(1, nm_tally_bytes(&like));
	ck_assert(memory && snap);
	tally = (struct nm_tally){.n_verbs = 0};
	nm_tally_init_like(&tally, &like, memory);
	nm_tally_collect(snap, &tally);
	ck_assert_uint_eq(snap->kept, 1u << NM_TIME_LATENCY | 1u << NM_TIME_RESPONSE);
	ck_assert_uint_eq(snap->latency.count + snap->response.count, 0);
	ck_assert_ptr_eq(tally.verbs[1].latency, tally.latency);
	ck_assert_ptr_null(tally.verbs[0].latency);
	ck_assert_uint_eq(tally.verbs[1].usual, 3);
	ck_assert_uint_eq(tally.verbs[1].missed, 4);
	nm_hist_record(tally.latency, 10);
	nm_hist_record(tally.latency, 1000);
	nm_hist_record(tally.response, 20);
	nm_hist_record(tally.verbs[1].response, 30);
	nm_counter_add(&tally.verbs[1].outcomes.hits, 1);
	nm_tally_collect(snap, &tally);
	ck_assert_uint_eq(snap->latency.count, 2);
	ck_assert_uint_eq(snap->latency.max_ns, 1000);
	ck_assert_uint_eq(snap->response.sum_ns, 20);
	ck_assert_str_eq(snap->verbs[1].name, "get");
	ck_assert_uint_eq(snap->verbs[1].response.sum_ns, 30);
	ck_assert_uint_eq(snap->counts.hits, 1);
	ck_assert_uint_eq(like.latency->max_ns, 5);
	free(memory);
	free(snap);
	tally_fini(&own);
	tally_fini(&like);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tally");
	TCase *tc = tcase_create("tally");

	tcase_add_test(tc, a_tally_like_another_keeps_the_same);
	tcase_add_test(tc, sizes_have_classes);
	tcase_add_test(tc, flows_of_all_workers_are_added);
	tcase_add_test(tc, names_make_up_the_classes);
	tcase_add_test(tc, each_name_is_counted);
	tcase_add_test(tc, misses_have_a_name);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
