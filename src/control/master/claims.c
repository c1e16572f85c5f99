/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the messages of a slave with the clock, the grid and the phase. */
#include "control/master/claims.h"

#include <math.h>
#include <stddef.h>

#define SECOND_NS 1000000000u
/* Rows beyond the points of the grid: the last of a phase, and one that was due as it ended. */
#define MORE_ROWS 2u

/* How far times may be off: messages take their time, and no two clocks run alike. */
static uint64_t slack_ns(uint64_t span_ns)
{
	return SECOND_NS + span_ns / 1000;
}

/* How long the phase has lasted at most, seen from the slave. */
static uint64_t longest_ns(const struct nm_claims *claims, uint64_t now_ns)
{
	uint64_t span_ns = now_ns > claims->begin_ns ? now_ns - claims->begin_ns : 0;

	return span_ns + slack_ns(span_ns);
}

void nm_claims_begin(struct nm_claims *claims, uint32_t phase, uint64_t begin_ns)
{
	*claims = (struct nm_claims){.interval_ns = claims->interval_ns,
				     .began = true,
				     .phase = phase,
				     .begin_ns = begin_ns};
}

/* Counts one more message of a kind in the phase. */
static const char *count(const struct nm_claims *claims, uint64_t *n, uint32_t phase,
			 uint64_t now_ns)
{
	if (!claims->began || phase != claims->phase)
		return "it is not of the phase that the slave is in";
	if (!claims->interval_ns)
		return "there are no intervals in this run";
	if (++*n > longest_ns(claims, now_ns) / claims->interval_ns + MORE_ROWS)
		return "there are more of them than intervals";
	return NULL;
}

const char *nm_claims_row(struct nm_claims *claims, const struct nm_host_interval *row,
			  uint64_t now_ns)
{
	const char *wrong = count(claims, &claims->n_rows, row->phase, now_ns);

	if (wrong)
		return wrong;
	if (row->from_s < claims->row_s || row->to_s < row->from_s)
		return "it does not come after the one before";
	if (row->to_s > (double)longest_ns(claims, now_ns) / 1e9)
		return "it ends in the future";
	claims->row_s = row->to_s;
	return NULL;
}

/* Whether a time lies within the phase. */
static bool is_within(const struct nm_claims *claims, uint64_t at_ns, uint64_t now_ns)
{
	uint64_t slack = slack_ns(now_ns > claims->begin_ns ? now_ns - claims->begin_ns : 0);

	return at_ns + slack >= claims->begin_ns && at_ns <= now_ns + slack;
}

const char *nm_claims_span(const struct nm_claims *claims, const struct nm_span *span,
			   uint64_t now_ns)
{
	if (span->from_ns == 0)
		return NULL;
	if (!is_within(claims, span->from_ns, now_ns) || !is_within(claims, span->to_ns, now_ns))
		return "its time is not within the phase";
	return NULL;
}

const char *nm_claims_flows(struct nm_claims *claims, const struct nm_flow_rows *rows,
			    uint64_t now_ns)
{
	const char *wrong = count(claims, &claims->n_flows, rows->phase, now_ns);

	if (wrong)
		return wrong;
	if (!is_within(claims, rows->at_ns, now_ns) ||
	    rows->seconds > (double)longest_ns(claims, now_ns) / 1e9)
		return "its time is not within the phase";
	return NULL;
}

const char *nm_claims_tcp(struct nm_claims *claims, const struct nm_tcp_rows *rows, uint64_t now_ns)
{
	const char *wrong = count(claims, &claims->n_tcp, rows->phase, now_ns);

	for (size_t i = 0; !wrong && i < rows->count; i++) {
		if (!is_within(claims, rows->rows[i].at_ns, now_ns))
			wrong = "its time is not within the phase";
	}
	return wrong;
}

/* Whether the host's groups have received so much in the run: their sum may be too great. */
static bool has_received(const struct nm_msg_result *result, uint64_t bytes)
{
	for (size_t g = 0; g < result->n_groups && bytes > 0; g++) {
		uint64_t of_group = result->groups[g].bytes_received;

		bytes -= of_group < bytes ? of_group : bytes;
	}
	return bytes == 0;
}

const char *nm_claims_result(const struct nm_msg_result *result, uint64_t run_ns)
{
	const struct nm_host_window *window = &result->window;
	const struct nm_counts *counts = &window->counts;
	uint64_t longest = run_ns + slack_ns(run_ns);

	if (window->from_ns > window->to_ns || window->to_ns - window->from_ns > longest ||
	    window->ns > longest)
		return "its window is longer than the run";
	if (window->after_ns > window->ns || window->after_bytes > counts->bytes_received)
		return "more came after the time of its window than in the window";
	if (window->late_ns > longest - window->ns)
		return "its window and what came after it are longer than the run";
	/* A window alone that has more than the run is warned of, as any part that is. */
	if (window->late_bytes &&
	    (window->late_bytes > UINT64_MAX - counts->bytes_received ||
	     !has_received(result, counts->bytes_received + window->late_bytes)))
		return "more came in its window and after it than in the run";
	if (result->arrived.ns > longest || (result->has_usage && result->usage.at_ns > longest))
		return "its window is longer than the run";
	if (result->others.ns > result->others.of_ns || result->others.of_ns > longest)
		return "other runs were under way for longer than the run";
	if (result->connections.srtt_min_s > result->connections.srtt_max_s ||
	    result->connections.mss_min > result->connections.mss_max)
		return "a least value is greater than the greatest";
	return NULL;
}

static double seconds_between(uint64_t from_ns, uint64_t to_ns)
{
	return (double)(int64_t)(to_ns - from_ns) / 1e9;
}

double nm_claims_skew(const struct nm_claims *claims, uint64_t since_ns, uint64_t begun_ns,
		      uint64_t now_ns, double error_s)
{
	double slack_s = error_s + 1e-3;

	if (seconds_between(claims->begin_ns, begun_ns) < -slack_s ||
	    seconds_between(begun_ns, now_ns) < -slack_s)
		return NAN;
	return seconds_between(since_ns, begun_ns);
}

const char *nm_claims_beyond(const struct nm_counts *part, const struct nm_counts *whole)
{
	for (const struct nm_field *field = nm_counts_fields; field->name; field++) {
		const uint64_t *some = (const uint64_t *)((const char *)part + field->offset);
		const uint64_t *all = (const uint64_t *)((const char *)whole + field->offset);

		if (*some > *all)
			return field->name;
	}
	return NULL;
}
