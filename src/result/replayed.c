/* SPDX-License-Identifier: Apache-2.0 */
/* How many of the requests that were recorded a transaction has made. */
#include "result/replayed.h"

#include "result/result.h"

bool nm_phase_replayed(const struct nm_result_phase *phase, struct nm_replayed *ret)
{
	const struct nm_counts *counts = &phase->whole.counts;
	uint64_t sent = phase->recorded.lines - phase->recorded.left_out;
	uint64_t total = phase->recorded.total;

	/* Each pass makes one, also where it has waited for the answer in vain. */
	*ret = (struct nm_replayed){
		.lines = phase->recorded.lines,
		.left_out = phase->recorded.left_out,
		.made = phase->arrivals ? counts->arrivals
					: counts->iterations + counts->unanswered,
	};
	if (total && total < sent)
		sent = total;
	if (ret->made < sent)
		ret->unmade = sent - ret->made;
	return ret->lines > 0;
}
