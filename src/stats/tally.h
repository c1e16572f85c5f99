/* SPDX-License-Identifier: Apache-2.0 */
/* What requests have come to: counts, and distributions of their times. One worker writes a tally;
 * any thread may collect it into a snapshot, which is plain data. */
#ifndef NM_STATS_TALLY_H
#define NM_STATS_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/answers.h"
#include "stats/counters.h"
#include "stats/hist.h"

/* Distributions of times: X(NAME, member, label for people, its meaning). A new one takes a
 * line here, one where its times are known (engine/loop/request.c), and one that says in which
 * phases it is kept (engine/worker.c): slaves send it, and results, their schema, keys and columns
 * have it as member_s or member. Only the first is always kept; of the others results have those
 * that have values. The control protocol has them in this order. */
#define NM_TIMES(X, more)                                                                          \
	X(more, LATENCY, latency, "latency",                                                       \
	  "Of a transaction: the time of a pass, without what its client, the master, has "        \
	  "thought in it (of a slave: the slave).")                                                \
	X(more, PASS, pass, "whole pass",                                                          \
	  "With think times only: all of a pass, think times too.")                                \
	X(more, RESPONSE, response, "response",                                                    \
	  "With a rate or arrivals only: from the time a transaction was due to its end.")         \
	X(more, SEND_DELAY, send_delay, "send delay",                                              \
	  "With arrivals only: from the time a transaction was due to its begin.")

/* Classes of flows by their size, ascending: X(T, R, more, NAME, member, label for
 * people, the size from which on flows belong to the next one). */
#define NM_SIZE_CLASSES(X, T, R, more)                                                             \
	X(T, R, more, UNDER_10KB, under_10kb, "< 10 kB", 10000)                                    \
	X(T, R, more, 10_100KB, 10_100kb, "10 - 100 kB", 100000)                                   \
	X(T, R, more, 100KB_1MB, 100kb_1mb, "100 kB - 1 MB", 1000000)                              \
	X(T, R, more, 1_10MB, 1_10mb, "1 - 10 MB", 10000000)                                       \
	X(T, R, more, OVER_10MB, over_10mb, ">= 10 MB", UINT64_MAX)

/* Distributions of measured flows, which only transactions with `slowdown` have: two for each
 * class, of times by T, and of ratios to the ideal time, in units of 10^-9, by R;
 * before them the slowdown of all. Arguments as in NM_TIMES. The master alone measures flows, so
 * that slaves do not send them. */
#define NM_SIZED_PAIR_(T, R, more, NAME, member, label, ...)                                       \
	T(more, COMPLETE_##NAME, complete_##member, label,                                         \
	  "With slowdown only: completion times of flows of this size, from when each was due "    \
	  "or, in a closed loop, began.")                                                          \
	R(more, SLOWDOWN_##NAME, slowdown_##member, label,                                         \
	  "With slowdown only: completion times of flows of this size, as multiples of "           \
	  "their ideal times.")
#define NM_SIZED_TIMES(T, R, more)                                                                 \
	R(more, SLOWDOWN, slowdown, "all",                                                         \
	  "With slowdown only: completion times of all flows, as multiples of their ideal "        \
	  "times.")                                                                                \
	NM_SIZE_CLASSES(NM_SIZED_PAIR_, T, R, more)

#define NM_TIME_ENUMERATOR_(more, NAME, ...) NM_TIME_##NAME,
enum nm_time {
	NM_TIMES(NM_TIME_ENUMERATOR_, ) NM_TIME__SIZED,
	NM_TIME__BEFORE_SIZED = NM_TIME__SIZED - 1,
	NM_SIZED_TIMES(NM_TIME_ENUMERATOR_, NM_TIME_ENUMERATOR_, ) NM_TIME__COUNT
};
#define NM_SIZED__COUNT (NM_TIME__COUNT - NM_TIME__SIZED)

extern const char *const nm_time_names[];  /* in keys and columns; by enum nm_time */
extern const char *const nm_time_labels[]; /* for people */

/* Whether what was never answered is as late as can be by this distribution: it has been sent. */
static inline bool nm_time_may_fail(enum nm_time time)
{
	return time < NM_TIME__SIZED && time != NM_TIME_SEND_DELAY;
}

/* The class of a flow, from 0: its completion time is the first of a pair that stands behind the
 * slowdown of all. */
unsigned nm_size_class(uint64_t bytes);
static inline enum nm_time nm_time_of_class(unsigned size_class)
{
	return (enum nm_time)(NM_TIME__SIZED + 1 + 2 * size_class);
}

/* Members of a struct: one of the type for each distribution, by name and by enum nm_time. Those of
 * measured flows are left out where they lie elsewhere. */
#define NM_TIME_MEMBER_(type, NAME, member, ...) type member;
#define NM_EACH_USUAL_TIME(type)                                                                   \
	union {                                                                                    \
		struct {                                                                           \
			NM_TIMES(NM_TIME_MEMBER_, type)                                            \
		};                                                                                 \
		type times[NM_TIME__SIZED];                                                        \
	}
#define NM_EACH_TIME(type)                                                                         \
	union {                                                                                    \
		struct {                                                                           \
			NM_TIMES(NM_TIME_MEMBER_, type)                                            \
			NM_SIZED_TIMES(NM_TIME_MEMBER_, NM_TIME_MEMBER_, type)                     \
		};                                                                                 \
		type times[NM_TIME__COUNT];                                                        \
	}

/* The requests of one verb: what has come of them, and how long they took. Of the distributions
 * `pass` is never kept; where each pass is one such request, the others are those of the passes. */
struct nm_verb_tally {
	const char *name;		     /* borrowed; NULL: nothing of this tally asks so */
	struct nm_outcome_counters outcomes; /* without what `named` has */
	NM_EACH_USUAL_TIME(struct nm_hist *);
	/* enum nm_answer: what is neither named nor a miss, and what a miss is, if it is not that;
	 * NONE: the protocol has no names */
	uint8_t usual, missed;
	/* Answers that ended well, and those that were refused, by enum nm_answer; names and
	 * classes are made of these alone, so that they agree at any time. */
	struct nm_named_counters {
		_Atomic uint64_t ok, refused;
	} named[NM_ANSWER__COUNT];
	_Atomic uint64_t has_named[(NM_ANSWER__COUNT + 63) / 64]; /* a bit for each that is not 0 */
};

/* Of what its worker alone calls: counts an answer by its name. */
void nm_verb_count_named(struct nm_verb_tally *verb, enum nm_answer answer, bool refused);
/* into += how the requests have ended so far, and answers += by which names; NULL: they are not
 * asked for. */
void nm_verb_collect(struct nm_outcomes *into, uint64_t answers[NM_ANSWER__COUNT],
		     const struct nm_verb_tally *from);

struct nm_verb_snap {
	const char *name; /* NULL: nothing has asked so */
	struct nm_outcomes outcomes;
	uint64_t answers[NM_ANSWER__COUNT]; /* of what was answered where answers have names */
	unsigned kept;
	NM_EACH_USUAL_TIME(struct nm_hist_snap);
};

struct nm_tally {
	struct nm_counters counters; /* of requests those that this end has answered alone */
	/* NULL: not kept. Set before the worker starts. */
	NM_EACH_TIME(struct nm_hist *);
	struct nm_verb_tally *verbs; /* of the plan (plan/plan.h); NULL: nothing asks */
	uint32_t n_verbs;
	bool sparse; /* most of its distributions' memory may be untouched, and stays so */
};

struct nm_tally_snap {
	struct nm_counts counts;
	unsigned kept; /* a bit for each distribution, 1 << enum nm_time; the others are empty */
	NM_EACH_TIME(struct nm_hist_snap);
	uint32_t n_verbs; /* that there is room for; the figures of others are not kept apart */
	struct nm_verb_snap *verbs; /* right behind it; NULL: there is no room */
};

static inline bool nm_tally_keeps(const struct nm_tally_snap *snap, enum nm_time time)
{
	return snap->kept >> time & 1;
}

/* How much memory the verbs and the distributions of a tally need. */
size_t nm_tally_bytes(const struct nm_tally *tally);
/* An empty, sparse tally that keeps what the other does, in so much zeroed memory, which is
 * borrowed. */
void nm_tally_init_like(struct nm_tally *tally, const struct nm_tally *like, void *memory);

/* Owned, empty, with room for so many verbs; free() frees it. NULL: out of memory. */
struct nm_tally_snap *nm_tally_snap_new(uint32_t n_verbs);
/* One without room for verbs. */
void nm_tally_snap_init(struct nm_tally_snap *snap);
/* Empties one that was initialized. */
void nm_tally_snap_clear(struct nm_tally_snap *snap);
/* Empties it of all that belongs to passes, as nm_counts_take_passes has it; leaves the rest. */
void nm_tally_forget_passes(struct nm_tally_snap *snap);
/* into = from, both initialized. */
void nm_tally_copy(struct nm_tally_snap *into, const struct nm_tally_snap *from);
/* into += the worker's counts so far, all of them. */
void nm_tally_counts(struct nm_counts *into, const struct nm_tally *from);
/* into += the worker's work so far. */
void nm_tally_collect(struct nm_tally_snap *into, const struct nm_tally *from);
/* into += from. Passes of a tally that keeps no `pass` take their latency. */
void nm_tally_add(struct nm_tally_snap *into, const struct nm_tally_snap *from);
/* into -= an earlier snapshot of the same tallies. */
void nm_tally_subtract(struct nm_tally_snap *into, const struct nm_tally_snap *earlier);
/* Sets what has come of the requests of each verb back to what it was in an earlier snapshot, but
 * for those that have failed since; how long they took stays. */
void nm_tally_set_back_outcomes(struct nm_tally_snap *into, const struct nm_tally_snap *earlier);

#endif
