/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of one worker in one phase. The worker alone writes them; any thread may read them
 * at any time. */
#ifndef NM_STATS_COUNTERS_H
#define NM_STATS_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field.h"
#include "base/rng.h"

/* Messages over unreliable transports have a number if they have at least so many bytes. */
#define NM_NUMBERED_BYTES 8u

/* Times of open arrivals are counted in such steps: the sum of many long ones has room. */
#define NM_DELAY_STEP_NS 64u

/* Requests of applications, and the classes in one of which each ends: as NM_COUNTERS. Workers
 * count the classes alone. */
#define NM_OUTCOMES(X)                                                                             \
	X(requests, "requests",                                                                    \
	  "Requests of this end that have ended, each in a class of those below: their sum.")      \
	NM_OUTCOME_CLASSES(X)
#define NM_OUTCOME_CLASSES(X)                                                                      \
	X(hits, "hits",                                                                            \
	  "Keys or names that get, delete or query asked for, and that were there; or a "          \
	  "conditional verb of memcached that was done.")                                          \
	X(misses, "misses", "Those that were not there, or not done.")                             \
	X(ok, "ok", "Requests that look nothing up (set, ping, echo, http), answered well.")       \
	X(refused, "refused", "Requests that the server has answered with an error.")              \
	X(truncated, "truncated",                                                                  \
	  "Answers of DNS that were too long for a datagram (TC), and not asked for again.")       \
	X(timed_out, "timed_out", "Requests that were not answered within their timeout.")         \
	X(lost, "lost",                                                                            \
	  "Requests whose connection ended before their answer was whole, or whose "               \
	  "server could not be reached (ICMP).")                                                   \
	X(malformed, "malformed", "Requests answered by what is no answer of the protocol.")       \
	X(tcp_fallback, "tcp_fallback",                                                            \
	  "In no sum: queries of DNS that were asked again over TCP, as their answer was too "     \
	  "long for a datagram (TC). Each has ended as what came of that.")

/* All counters: X(member, its name in results or NULL, its meaning). A new counter takes one line
 * here: nm_counter_add() counts it, slaves send its sum, and results show it in `counts` and in
 * their schema. The control protocol has the counters in this order. Those from messages_sent to
 * duplicates are kept over unreliable transports only. */
#define NM_COUNTERS(X) NM_COUNTERS_WITH(X, NM_OUTCOMES)
#define NM_COUNTERS_WITH(X, OUTCOMES)                                                              \
	X(iterations, "transactions", "Passes of transactions that came to their end.")            \
	X(bytes_sent, "bytes_sent", "Bytes of messages that the kernel has taken.")                \
	X(bytes_received, "bytes_received", "Bytes of messages that the kernel has handed over.")  \
	X(connects, "connects", "Connections opened.")                                             \
	X(accepts, "accepts", "Connections accepted.")                                             \
	X(errors, "errors", "Flowops that have failed.")                                           \
	X(timeouts, NULL, "Waits given up; over reliable transports they are errors too.")         \
	X(messages_sent, NULL, "Datagrams sent.")                                                  \
	X(messages_received, NULL, "Datagrams received, with duplicates.")                         \
	X(late, NULL, "Answers to requests that had been given up; received, but not taken.")      \
	X(reordered, NULL, "Datagrams received after one that was sent later.")                    \
	X(duplicates, NULL, "Datagrams received again.")                                           \
	X(fastopens, "fastopens",                                                                  \
	  "With tcp_fastopen: connections, closed by now, whose first packet had data that was "   \
	  "taken.")                                                                                \
	X(zerocopy_sends, "zerocopy_sends",                                                        \
	  "With zerocopy: sends that the kernel has told to be complete.")                         \
	X(zerocopy_copied, "zerocopy_copied",                                                      \
	  "Those of them for which the kernel has made a copy after all.")                         \
	X(bytes_mapped, "bytes_mapped",                                                            \
	  "With rx_zerocopy: bytes received by mapping pages; the others were copied.")            \
	X(skipped, NULL,                                                                           \
	  "Numbers of datagrams that were not there when a later one came; reordered are those "   \
	  "that came after all.")                                                                  \
	X(jitters, NULL, "How often the jitter of a connection has been estimated anew.")          \
	X(jitter_ns, NULL, "The sum of these estimates.")                                          \
	X(unanswered, NULL,                                                                        \
	  "Passes in which a wait for an answer ended by its limit, or whose connection never "    \
	  "came.")                                                                                 \
	X(message_bytes, NULL, "Of bytes_received, those of messages_received.")                   \
	X(unnumbered, NULL, "Datagrams received that are too short for a number.")                 \
	X(joined_sent, NULL, "Datagrams sent in one packet with one before them (GSO).")           \
	X(joined_received, NULL, "Datagrams received in one packet with one before them (GRO).")   \
	X(unseen_ends, "unseen_ends",                                                              \
	  "Connections whose reset by the peer was not seen, as a packet was lost: this end has "  \
	  "asked whether they are over; or they never came here at all.")                          \
	X(fallbacks, "fallbacks", "Over mptcp: connections that are, or have become, plain TCP.")  \
	X(arrivals, NULL, "With open arrivals: passes that became due and were begun.")            \
	X(unsent, NULL, "Passes that became due and were never begun.")                            \
	X(dropped_queue, NULL,                                                                     \
	  "Passes that became due while as many waited as queue= lets wait, and were dropped.")    \
	X(dropped_late, NULL, "Passes that had waited longer than late= says, and were dropped.")  \
	X(starved, NULL, "Those of these three that no flow took as most had no connection.")      \
	X(overdue, NULL, "Those of arrivals that were begun after the time of their transaction.") \
	X(tardy, NULL, "Those of iterations that ended after the time of their transaction.")      \
	X(delay_busy, NULL,                                                                        \
	  "How long passes were due before a flow was free, in steps of 64 ns, added up.")         \
	X(delay_kernel, NULL,                                                                      \
	  "The same, where that flow was not free as the kernel took no more of its output.")      \
	X(delay_own, NULL, "The same, before they began although a flow was free.")                \
	X(light, NULL, "Passes that began while few others were under way.")                       \
	X(light_ns, NULL, "The time of these.")                                                    \
	X(open_ns, NULL, "How long passes became due, added up over the workers.")                 \
	X(outstanding, NULL,                                                                       \
	  "How long passes were outstanding in the time of their transaction, in steps of 64 ns, " \
	  "added up.")                                                                             \
	X(outstanding_most, NULL,                                                                  \
	  "How many passes of each worker were outstanding at most, added up over the workers.")   \
	X(outstanding_failed, NULL, "Of outstanding, the time of passes without an answer.")       \
	X(outstanding_after, NULL,                                                                 \
	  "How long passes with an answer were outstanding after that time, in the same steps.")   \
	OUTCOMES(X)                                                                                \
	X(failed_connects, "failed_connects",                                                      \
	  "With reconnect: attempts to open a connection that have failed, and connections that "  \
	  "have ended with nothing answered.")                                                     \
	X(reissued, "reissued",                                                                    \
	  "Requests that were sent once more, as their connection to a server that is not "        \
	  "netmodel had ended before any byte of the answer came.")                                \
	X(unsolicited, "unsolicited",                                                              \
	  "Connections given up since bytes had come over them although no request was "           \
	  "outstanding.")                                                                          \
	X(retired, "retired",                                                                      \
	  "With requests or lifetime of connect: connections that were closed since they had "     \
	  "lasted that long, and opened anew.")                                                    \
	X(load_sum, "load_sum",                                                                    \
	  "With arrivals, of what is measured: a checksum of when each pass that was begun was "   \
	  "due, and, where passes "                                                                \
	  "draw from their arrivals, of the verb, key and size of its requests. In a whole "       \
	  "transaction the same load has the same sum, whatever flow or worker made its passes.")

#define NM_COUNTER_FIELD(name, ...) _Atomic uint64_t name;
struct nm_counters {
	NM_COUNTERS_WITH(NM_COUNTER_FIELD, NM_OUTCOME_CLASSES)
};
/* Those of requests alone: as the members of a struct nm_counters from `hits` on. */
struct nm_outcome_counters {
	NM_OUTCOME_CLASSES(NM_COUNTER_FIELD)
};
#undef NM_COUNTER_FIELD

/* A plain copy, merged over workers. */
#define NM_COUNT_FIELD(name, ...) uint64_t name;
struct nm_counts {
	NM_COUNTERS(NM_COUNT_FIELD)
};
/* Those of requests alone: as the members of a struct nm_counts from `requests` on. */
struct nm_outcomes {
	NM_OUTCOMES(NM_COUNT_FIELD)
};
#undef NM_COUNT_FIELD
#define NM_OUTCOMES__COUNT (sizeof(struct nm_outcomes) / sizeof(uint64_t))
_Static_assert(offsetof(struct nm_counts, tcp_fallback) - offsetof(struct nm_counts, requests) ==
		       offsetof(struct nm_outcomes, tcp_fallback),
	       "they are next to each other");
_Static_assert(offsetof(struct nm_counters, tcp_fallback) - offsetof(struct nm_counters, hits) ==
		       offsetof(struct nm_outcome_counters, tcp_fallback),
	       "they are next to each other");

static inline struct nm_outcome_counters *nm_outcomes_of(struct nm_counters *counters)
{
	return (struct nm_outcome_counters *)(void *)&counters->hits;
}

/* Requests that the server has answered. */
static inline uint64_t nm_outcomes_answered(const struct nm_outcomes *outcomes)
{
	return outcomes->hits + outcomes->misses + outcomes->ok + outcomes->refused +
	       outcomes->truncated;
}

/* Requests that were never answered well enough to have a time. */
static inline uint64_t nm_outcomes_failed(const struct nm_outcomes *outcomes)
{
	return outcomes->timed_out + outcomes->lost + outcomes->malformed;
}

static inline uint64_t nm_outcomes_sum(const struct nm_outcomes *outcomes)
{
	return nm_outcomes_answered(outcomes) + nm_outcomes_failed(outcomes);
}

/* The fields of struct nm_counts. */
extern const struct nm_field nm_counts_fields[];
/* The fields of struct nm_outcomes. */
extern const struct nm_field nm_outcomes_fields[];

/* Adds without a locked instruction: only the owning worker writes. */
static inline void nm_counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* Adds two numbers that tell something of the load to its checksum. The sum of 2^29 such pairs is
 * below 2^53, up to which all readers of JSON are exact. */
static inline void nm_count_load(struct nm_counters *count, uint64_t key, uint64_t number)
{
	nm_counter_add(&count->load_sum, nm_rng(key, number) >> 40);
}

static inline uint64_t nm_counter_read(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Passes, answered or not. Both counters only grow, so that differences of two readings are never
 * below 0. */
static inline uint64_t nm_count_passes(const struct nm_counters *count)
{
	return nm_counter_read(&count->iterations) + nm_counter_read(&count->unanswered);
}

/* Passes that were due and never began, as none was free in time. */
static inline uint64_t nm_counts_never_begun(const struct nm_counts *counts)
{
	return counts->unsent + counts->dropped_queue + counts->dropped_late;
}

/* into += the worker's counts so far: but for `requests`, as these outcomes are of an end that
 * serves. */
void nm_counts_collect(struct nm_counts *into, const struct nm_counters *from);
/* into += how requests have ended so far. */
void nm_outcomes_collect(struct nm_outcomes *into, const struct nm_outcome_counters *from);
void nm_outcomes_add(struct nm_outcomes *into, const struct nm_outcomes *from);
void nm_outcomes_subtract(struct nm_outcomes *into, const struct nm_outcomes *earlier);
/* The same in all counts. */
void nm_counts_add_outcomes(struct nm_counts *into, const struct nm_outcomes *from);
/* Sets them back to those of an earlier reading, but for what has failed since. */
void nm_outcomes_set_back(struct nm_outcomes *outcomes, const struct nm_outcomes *earlier);
void nm_counts_set_back(struct nm_counts *counts, const struct nm_counts *earlier);
/* into = from, of what belongs to passes and their requests alone. */
void nm_counts_take_passes(struct nm_counts *into, const struct nm_counts *from);
void nm_counts_add(struct nm_counts *into, const struct nm_counts *from);
void nm_counts_subtract(struct nm_counts *into, const struct nm_counts *earlier);

#endif
