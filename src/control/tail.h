/* SPDX-License-Identifier: Apache-2.0 */
/* What flows still do when the time of their transaction is over: each ends the pass that it is in.
 * Mostly all of them are busy until the last has left, and what they do then belongs to the window.
 * But where some passes take far longer than others, as where packets are lost, most flows have
 * nothing to do any more while the last are waited for. Rates over all of that time would tell of
 * the length of a few passes.
 *
 * The master decides, for each group, and tells its slaves. */
#ifndef NM_CONTROL_TAIL_H
#define NM_CONTROL_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/counters.h"

/* What a group had counted when its time was over. */
struct nm_tail {
	uint64_t at_ns; /* 0: it is not over, or nobody has looked */
	struct nm_counts counts;
};

/* The window of a group whose last flow has left. */
struct nm_tail_window {
	uint64_t from_ns, end_ns;
	uint64_t from_passes;	 /* before it has opened */
	struct nm_counts counts; /* in all, at its end */
	uint32_t n_flows;
	bool queues; /* passes are due by themselves, and may have to wait for a flow */
};

/* Whether the window closes with its time, and not with the last flow. It does where it would be
 * longer than its time by more than 100 ms and more than 5 %, where there is a pass for each flow
 * in it, and where passes ended less often after its time than in it: so a flow's last pass has
 * taken longer than its passes on average; where passes queue, less than half as often, as a queue
 * that is served on keeps the flows busy. Data that go one way move on to the end, at the rate of
 * the path, whenever a pass ends. */
bool nm_tail_is_cut(const struct nm_tail *tail, const struct nm_tail_window *window);
/* Where data go one way, passes tell nothing: bytes come at the rate of the path, and at last those
 * for which a few flows wait alone, seconds long where what they send again is lost again. Until
 * then kernels hold back what has come behind a hole, more or less of it from moment to moment. So
 * who receives closes the window at that moment, of those at which the time was over, at which as
 * much was held back as when it opened: nothing, where it opened with the phase. The path's rate,
 * by which that is reckoned, is the highest from the begin of the phase to any of these moments. */
struct nm_tail_stream {
	uint64_t begin_ns; /* of the phase */
	uint64_t from_ns,
		from_bytes;    /* the window has opened: bytes received in the phase by then */
	uint64_t at_ns, bytes; /* the best moment so far; at_ns 0: nobody has looked */
	double rate;	       /* bytes in a nanosecond */
};
/* Reckons with one more moment. True: it is the best so far. */
bool nm_tail_look(struct nm_tail_stream *stream, uint64_t now_ns, uint64_t bytes);
/* Whether the window closes at the best moment: until the last flow has left, at end_ns, it would
 * be longer by more than 100 ms, and its rate another by more than 1 %. */
bool nm_tail_is_late(const struct nm_tail_stream *stream, uint64_t end_ns, uint64_t bytes);
/* Sets the counts at the end back to those when the time was over, but for what has failed. */
void nm_tail_cut(const struct nm_tail *tail, struct nm_counts *counts);

#endif
