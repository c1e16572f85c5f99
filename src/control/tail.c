/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what flows do after the time of their transaction belongs to the window. */
#include "control/tail.h"

#include <math.h>

#define LEAST_NS    100000000u
#define MUCH	    0.01 /* of the rate of a stream */
#define LEAST_PARTS 20u	 /* of the window's time: one of so many */

static bool goes_one_way(const struct nm_counts *counts)
{
	return (counts->bytes_sent == 0) != (counts->bytes_received == 0);
}

bool nm_tail_is_cut(const struct nm_tail *tail, const struct nm_tail_window *window)
{
	uint64_t at_ns = tail->at_ns, end_ns = window->end_ns;

	if (at_ns <= window->from_ns || end_ns <= at_ns + LEAST_NS ||
	    (end_ns - at_ns) * LEAST_PARTS <= at_ns - window->from_ns ||
	    goes_one_way(&window->counts))
		return false;
	uint64_t passes = tail->counts.iterations - window->from_passes;
	uint64_t late = window->counts.iterations - tail->counts.iterations;

	double often = window->queues ? 2 : 1;

	return passes >= window->n_flows &&
	       often * (double)late * (double)(at_ns - window->from_ns) <
		       (double)passes * (double)(end_ns - at_ns);
}

/* What the path has carried by then, and has not yet come. */
static double held_back(const struct nm_tail_stream *stream, uint64_t at_ns, uint64_t bytes)
{
	return stream->rate * (double)(at_ns - stream->begin_ns) - (double)bytes;
}

static double off(const struct nm_tail_stream *stream, uint64_t at_ns, uint64_t bytes)
{
	return fabs(held_back(stream, at_ns, bytes) -
		    held_back(stream, stream->from_ns, stream->from_bytes));
}

bool nm_tail_look(struct nm_tail_stream *stream, uint64_t now_ns, uint64_t bytes)
{
	if (now_ns <= stream->from_ns)
		return false;
	stream->rate = fmax(stream->rate, (double)bytes / (double)(now_ns - stream->begin_ns));
	if (stream->at_ns && off(stream, now_ns, bytes) > off(stream, stream->at_ns, stream->bytes))
		return false;
	stream->at_ns = now_ns;
	stream->bytes = bytes;
	return true;
}

static double rate(const struct nm_tail_stream *stream, uint64_t at_ns, uint64_t bytes)
{
	return (double)(bytes - stream->from_bytes) / (double)(at_ns - stream->from_ns);
}

bool nm_tail_is_late(const struct nm_tail_stream *stream, uint64_t end_ns, uint64_t bytes)
{
	if (!stream->at_ns || end_ns <= stream->at_ns + LEAST_NS)
		return false;
	double best = rate(stream, stream->at_ns, stream->bytes);

	return fabs(rate(stream, end_ns, bytes) - best) > MUCH * best;
}

void nm_tail_cut(const struct nm_tail *tail, struct nm_counts *counts)
{
	nm_counts_set_back(counts, &tail->counts);
}
