/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and times of a window, and the fate of datagrams: figures that JSON, kv and csv all
 * have. */
#include <math.h>

#include "report/common.h"
#include "report/figures.h"

/* The object itself is made by figure.c: it has a member for each percentile. */
const struct nm_object nm_latency_object = {
	.name = "latency",
	.raw = "{'description': 'null: nothing was measured. Besides these, a member for each "
	       "percentile that was asked for.', 'anyOf': [{'type': 'null'}, {'type': 'object', "
	       "'required': ['count', 'min', 'mean', 'max', 'stddev'], 'properties': {"
	       "'count': {'type': 'integer', 'minimum': 1}, 'min': {'$ref': '#/$defs/seconds'}, "
	       "'mean': {'$ref': '#/$defs/seconds'}, 'max': {'$ref': '#/$defs/seconds'}, "
	       "'stddev': {'$ref': '#/$defs/seconds'}}, 'patternProperties': "
	       "{'^p[0-9]+(_[0-9]+)?$': {'$ref': '#/$defs/seconds'}}, "
	       "'additionalProperties': false}]}",
};

const struct nm_object nm_ratios_object = {
	.name = "ratios",
	.raw = "{'description': 'As latency, but of ratios.', 'anyOf': [{'type': 'null'}, "
	       "{'type': 'object', 'required': ['count', 'min', 'mean', 'max', 'stddev'], "
	       "'properties': {'count': {'type': 'integer', 'minimum': 1}, "
	       "'min': {'type': 'number'}, 'mean': {'type': 'number'}, 'max': {'type': 'number'}, "
	       "'stddev': {'type': 'number'}}, 'patternProperties': "
	       "{'^p[0-9]+(_[0-9]+)?$': {'type': 'number'}}, 'additionalProperties': false}]}",
};

/* --- windows --- */

/* A rate over no time is not known. */
#define PER_S(name, amount)                                                                        \
	static double name(const void *item)                                                       \
	{                                                                                          \
		const struct nm_window *window = item;                                             \
                                                                                                   \
		return window->seconds > 0 ? (amount) / window->seconds : NAN;                     \
	}
PER_S(transactions_per_s, (double)window->counts.iterations)
PER_S(bits_sent_per_s, (double)window->counts.bytes_sent * 8)
PER_S(bits_received_per_s, (double)window->counts.bytes_received * 8)
PER_S(bits_per_s, (double)window->counts.bytes_sent * 8 + (double)window->counts.bytes_received * 8)
#undef PER_S

/* --- requests --- */

static const struct nm_figure outcomes_figures[] = {
#define OUTCOME(member, name, what)                                                                \
	NM_FIGURE(COUNT, struct nm_outcomes, member, name, .key = name, .column = name,            \
		  .doc = what),
	NM_OUTCOMES(OUTCOME)
#undef OUTCOME
		NM_FIGURE_END,
};

const struct nm_object nm_outcomes_object = {
	.name = "outcomes",
	.doc = "Only where applications ask: the requests, and how each has ended.",
	.figures = outcomes_figures,
};

/* --- with failures --- */

const struct nm_object nm_with_failures_object = {
	.name = "with_failures",
	.raw = "{'type': 'object', 'required': ['failures'], 'properties': {'failures': {'type': "
	       "'integer', 'minimum': 1}}, 'patternProperties': {'_s$': {'type': 'object', "
	       "'patternProperties': {'^p[0-9]+(_[0-9]+)?$': {'type': ['number', 'null'], "
	       "'minimum': 0}}, 'additionalProperties': false}}, 'additionalProperties': false}",
	.doc = "Only where some were never answered, which no latency has: how many, and the "
	       "percentiles of each distribution with each of them as infinitely late. null: the "
	       "percentile lies among them.",
};

static bool has_failing(const struct nm_at *at)
{
	return nm_failing_most(((const struct nm_window *)at->item)->failing);
}

static bool has_failing_of_verb(const struct nm_at *at)
{
	return nm_failing_most(((const struct nm_verb_window *)at->item)->failing);
}

/* --- verbs --- */

static double requests_per_s(const void *item)
{
	const struct nm_verb_window *verb = item;

	return verb->seconds > 0 ? (double)verb->outcomes.requests / verb->seconds : NAN;
}

/* A distribution of a verb. */
#define VERB_TIME(member, what, ...)                                                               \
	{                                                                                          \
		.json = #member "_s", .kind = NM_FIGURE_LATENCY,                                   \
		.behind = offsetof(struct nm_verb_window, member) + 1, .key = #member,             \
		.column = #member, .doc = what, __VA_ARGS__                                        \
	}

static const struct nm_figure verb_figures[] = {
	NM_FIGURE(STRING, struct nm_verb_window, name, "verb", .is_label = true,
		  .doc = "A flowop, a method of HTTP, or the name of a command."),
	NM_RATE("requests_per_s", requests_per_s, .key = "requests_per_s",
		.column = "requests_per_s"),
	NM_FIGURE(OBJECT, struct nm_verb_window, outcomes, "outcomes", .key = "outcomes",
		  .column = "outcomes", .object = &nm_outcomes_object),
	VERB_TIME(latency, "Of the requests that were answered: from begin to answer."),
	VERB_TIME(response,
		  "With a rate or arrivals only: from the time the transaction was due to the "
		  "answer.",
		  NM_HAS(struct nm_verb_window, response)),
	VERB_TIME(send_delay,
		  "With arrivals only: from the time the transaction was due to the begin of the "
		  "request.",
		  NM_HAS(struct nm_verb_window, send_delay)),
	NM_FIGURE(FAILING, struct nm_verb_window, failing, "with_failures", .key = "with_failures",
		  .column = "with_failures", .schema = "with_failures", .has = has_failing_of_verb),
	NM_FIGURE(
		ANSWERS, struct nm_verb_window, answers, "answers", .key = "answers",
		.column = "answers", .count_offset = offsetof(struct nm_verb_window, n_answers),
		.schema = "{'type': 'object', 'additionalProperties': {'$ref': '#/$defs/count'}}",
		NM_HAS(struct nm_verb_window, answers),
		.doc = "Where the protocol names its answers: how many there were of each name "
		       "(a status of HTTP, an rcode of DNS, the first word of an error; ok is any "
		       "without one), those in outcomes that have an answer."),
	NM_FIGURE_END,
};

const struct nm_object nm_verb_object = {
	.name = "verb",
	.doc = "Only where applications ask: the requests of one verb in a window. Those of all "
	       "verbs together are those of the window.",
	.figures = verb_figures,
};

const struct nm_figure nm_window_figures[] = {
	NM_FIGURE(REAL, struct nm_window, seconds, "seconds"),
	NM_FIGURE(COUNT, struct nm_window, counts.iterations, "transactions",
		  .key = "num_transactions", .column = "transactions",
		  .doc = "Complete passes of transactions."),
	NM_RATE("transactions_per_s", transactions_per_s, .key = "transactions_per_s",
		.column = "transactions_per_s"),
	NM_FIGURE(COUNT, struct nm_window, counts.bytes_sent, "bytes_sent", .key = "bytes_sent"),
	NM_FIGURE(COUNT, struct nm_window, counts.bytes_received, "bytes_received",
		  .key = "bytes_received"),
	NM_RATE("bits_per_s", bits_per_s, .key = "bits_per_s", .doc = "Both directions."),
	NM_RATE("bits_sent_per_s", bits_sent_per_s, .column = "bits_sent_per_s"),
	NM_RATE("bits_received_per_s", bits_received_per_s, .column = "bits_received_per_s"),
	NM_FIGURE(COUNT, struct nm_window, counts.errors, "errors", .key = "errors",
		  .column = "errors"),
	NM_FIGURE(COUNT, struct nm_window, counts.connects, "connects"),
	NM_FIGURE(COUNT, struct nm_window, counts.accepts, "accepts"),
	/* The counts from there on are a struct nm_outcomes. */
	NM_FIGURE(OBJECT, struct nm_window, counts.requests, "outcomes", .key = "outcomes",
		  .object = &nm_outcomes_object, NM_KNOWN_BY(struct nm_window, counts.requests),
		  NM_HAS(struct nm_window, counts.requests)),
	NM_LIST(struct nm_window, verbs, n_verbs, "verbs", nm_verb_object,
		NM_HAS(struct nm_window, n_verbs)),
/* All but the first are there where they have values alone. */
#define TIME(more, NAME, member, label, what)                                                      \
	NM_FIGURE(LATENCY, struct nm_window, member, #member "_s", .key = #member,                 \
		  .column = #member, .doc = what,                                                  \
		  .has_if = {offsetof(struct nm_window, member.count),                             \
			     NM_TIME_##NAME == NM_TIME_LATENCY ? 0 : sizeof(uint64_t), false}),
	NM_TIMES(TIME, )
#undef TIME
		NM_FIGURE(BOOL, struct nm_window, response_grows, "response_grows",
			  .key = "response_grows", NM_HAS(struct nm_window, response_grows),
			  .doc = "Only where it is true: the backlog of passes that were due grew "
				 "to the end, so that response_s and send_delay_s depend on the "
				 "length of the run."),
	NM_FIGURE(FAILING, struct nm_window, failing, "with_failures", .key = "with_failures",
		  .schema = "with_failures", .has = has_failing),
#define SIZED(its_kind, NAME, member, name, what)                                                  \
	{.json = name,                                                                             \
	 .kind = NM_FIGURE_##its_kind,                                                             \
	 .offset = (NM_TIME_##NAME - NM_TIME__SIZED) * sizeof(struct nm_latency),                  \
	 .behind = offsetof(struct nm_window, sized) + 1,                                          \
	 .key = #member,                                                                           \
	 .column = #member,                                                                        \
	 .doc = what,                                                                              \
	 NM_HAS(struct nm_window, sized)},
#define COMPLETE(more, NAME, member, label, what) SIZED(LATENCY, NAME, member, #member "_s", what)
#define SLOWDOWN(more, NAME, member, label, what) SIZED(RATIOS, NAME, member, #member, what)
	NM_SIZED_TIMES(COMPLETE, SLOWDOWN, )
#undef COMPLETE
#undef SLOWDOWN
#undef SIZED
		NM_FIGURE_END,
};

/* Their columns come behind those that results always had. */
const struct nm_figure nm_failing_figures[] = {
	NM_FIGURE(FAILING, struct nm_window, failing, "with_failures", .column = "with_failures",
		  .has = has_failing),
	NM_FIGURE_END,
};

const struct nm_object nm_window_object = {
	.name = "window",
	.doc = "What was done in a window of time.",
	.figures = nm_window_figures,
	.closing = NM_OPEN,
};

/* --- datagrams --- */

#define DIRECTION(member) .offset = offsetof(struct nm_datagram_direction, member)
#define DIRECTION_COUNT(member, is_known, what, ...)                                               \
	{                                                                                          \
		.json = #member, .key = #member, .kind = NM_FIGURE_COUNT, DIRECTION(member),       \
		NM_KNOWN_BY(struct nm_datagram_direction, is_known), .schema = "known_count",      \
		.doc = what, __VA_ARGS__                                                           \
	}

const struct nm_figure nm_direction_figures[] = {
	DIRECTION_COUNT(sent, sent_known, NULL, .column = "sent"),
	DIRECTION_COUNT(received, received_known, "With duplicates.", .column = "received"),
	NM_FIGURE(RATE, struct nm_datagram_direction, received_bits_per_s, "bits_received_per_s",
		  .column = "bits_received_per_s",
		  .doc = "In the totals: within the measured window; all the counts are of whole "
			 "transactions."),
	NM_FIGURE(SIGNED, struct nm_datagram_direction, lost, "lost", .key = "lost",
		  .column = "lost", NM_KNOWN_BY(struct nm_datagram_direction, lost_known),
		  .schema = "{'type': ['integer', 'null']}",
		  .doc = "Sent, and never received. In intervals: found missing by the receiver, "
			 "less what "
			 "came after all, which may be below 0; null where messages are shorter "
			 "than 8 "
			 "bytes."),
	DIRECTION_COUNT(reordered, order_known, "Received after one that was sent later.",
			.column = "reordered"),
	DIRECTION_COUNT(duplicates, order_known, "Received again; received, but not taken.",
			.column = "duplicates"),
	DIRECTION_COUNT(late, order_known,
			"Answers to what had been given up; received, but not taken.",
			.column = "late"),
	DIRECTION_COUNT(packets_sent, sent_known,
			"The messages sent, as the kernel took them: a train of several messages "
			"(GSO) is one packet, until a network card takes it apart."),
	DIRECTION_COUNT(packets_received, received_known,
			"The messages received, as the kernel handed them over: it may have put "
			"several into one packet (GRO)."),
	NM_FIGURE(REAL, struct nm_datagram_direction, jitter_s, "jitter_s", .key = "jitter",
		  .column = "jitter_s", NM_KNOWN_BY(struct nm_datagram_direction, has_jitter),
		  .schema = NM_SCHEMA_REAL_OR_NULL,
		  .doc = "Interarrival jitter of RFC 3550, 6.4.1, the mean of its estimates; null "
			 "where "
			 "messages are answered or shorter than 16 bytes."),
	NM_FIGURE_END,
};

const struct nm_object nm_direction_object = {
	.name = "message_way",
	.doc = "Messages over transports that may lose them, in one direction, counted where they "
	       "arrive.",
	.figures = nm_direction_figures,
};

bool nm_has_datagrams(const struct nm_at *at)
{
	return nm_result_has_datagrams(at->result);
}

const struct nm_figure nm_datagram_figures[] = {
	NM_FIGURE(OBJECT, struct nm_datagram_stats, to_slaves, "to_slaves", .key = "to_slaves",
		  .object = &nm_direction_object),
	NM_FIGURE(OBJECT, struct nm_datagram_stats, to_master, "to_master", .key = "to_master",
		  .object = &nm_direction_object),
	NM_FIGURE(COUNT, struct nm_datagram_stats, timeouts, "timeouts", .key = "timeouts",
		  NM_KNOWN_BY(struct nm_datagram_stats, slaves_known), .schema = "known_count",
		  .doc = "Waits that were given up, on both sides."),
	NM_FIGURE(
		COUNT, struct nm_datagram_stats, unanswered, "unanswered", .key = "unanswered",
		.doc = "Passes of the master in which one was given up; they are no transactions."),
	NM_FIGURE_END,
};

const struct nm_object nm_datagrams_object = {
	.name = "messages",
	.doc = "Only when a transport may lose messages: what became of them.",
	.figures = nm_datagram_figures,
};
