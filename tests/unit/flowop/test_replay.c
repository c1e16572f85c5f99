/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is of recorded requests: each has one, whatever shares them out. */
#include "flowop/replay.h"

#include <check.h>
#include <inttypes.h>

#include "../suite.h"
#include "transport/io.h"

enum { MOST = 1000 };

/* How many of the first `total` requests the flows of the worker make, each of which has its share:
 * flow i has those that the flows would have in turn. */
static unsigned share_of(uint32_t worker, uint32_t n_workers, uint32_t n_flows, unsigned total)
{
	unsigned share = 0;

	for (uint32_t flow = worker; flow < n_flows; flow += n_workers)
		share += total / n_flows + (flow < total % n_flows);
	return share;
}

START_TEST(each_has_one_turn)
{
	for (uint32_t n_workers = 1; n_workers <= 5; n_workers++)
		for (uint32_t n_flows = n_workers; n_flows < 14; n_flows++)
			for (unsigned total = MOST - 15; total <= MOST; total++) {
				unsigned made[MOST] = {0};

				for (uint32_t w = 0; w < n_workers; w++) {
					struct nm_turns turns = {.at = w, .n_workers = n_workers};
					unsigned n = share_of(w, n_workers, n_flows, total);

					for (uint64_t last = 0; n--;) {
						uint64_t turn = nm_turns_next(&turns, n_flows);

						if (turn >= total || turn < last)
							ck_abort_msg("turn %" PRIu64, turn);
						made[last = turn]++;
					}
				}
				for (unsigned i = 0; i < total; i++)
					if (made[i] != 1)
						ck_abort_msg("turn %u: %u times", i, made[i]);
			}
}
END_TEST

START_TEST(an_arrival_tells_it)
{
	struct nm_turns turns = {.n_workers = 2, .by_arrival = true, .arrival = 77};

	ck_assert_uint_eq(nm_turns_next(&turns, 4), 77);
	ck_assert_uint_eq(nm_turns_next(&turns, 4), 77);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("replay");
	TCase *t = tcase_create("replay");

	tcase_add_test(t, each_has_one_turn);
	tcase_add_test(t, an_arrival_tells_it);
	suite_add_tcase(s, t);
	return run_suite(s);
}
