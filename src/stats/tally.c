/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and differences of tallies. */
#include "stats/tally.h"

#include <stdlib.h>
#include <string.h>

#define NAME_OF(more, NAME, member, ...)	 #member,
#define LABEL_OF(more, NAME, member, label, ...) label,
const char *const nm_time_names[] = {NM_TIMES(NAME_OF, ) NM_SIZED_TIMES(NAME_OF, NAME_OF, )};
const char *const nm_time_labels[] = {NM_TIMES(LABEL_OF, ) NM_SIZED_TIMES(LABEL_OF, LABEL_OF, )};

#define LIMIT_OF(T, R, more, NAME, member, label, below_bytes) below_bytes,

unsigned nm_size_class(uint64_t bytes)
{
	static const uint64_t limits[] = {NM_SIZE_CLASSES(LIMIT_OF, , , )};
	unsigned size_class = 0;

	while (bytes >= limits[size_class] && size_class + 1 < sizeof(limits) / sizeof(limits[0]))
		size_class++;
	return size_class;
}

/* --- a tally like another --- */

/* Whether the distribution is the verb's own, and not that of all passes. */
static bool has_own(const struct nm_tally *tally, uint32_t verb, unsigned time)
{
	const struct nm_hist *hist = tally->verbs[verb].times[time];

	return hist && hist != tally->times[time];
}

size_t nm_tally_bytes(const struct nm_tally *tally)
{
	size_t n_hists = 0;

	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		n_hists += tally->times[i] != NULL;
	for (uint32_t v = 0; v < tally->n_verbs; v++)
		for (unsigned i = 0; i < NM_TIME__SIZED; i++)
			n_hists += has_own(tally, v, i);
	return tally->n_verbs * sizeof *tally->verbs + n_hists * sizeof(struct nm_hist);
}

/* An empty histogram in zeroed memory, of which *next is the first that is free. */
static struct nm_hist *take_hist(struct nm_hist **next)
{
	nm_hist_init_zeroed(*next);
	return (*next)++;
}

void nm_tally_init_like(struct nm_tally *tally, const struct nm_tally *like, void *memory)
{
	struct nm_verb_tally *verbs = memory;
	struct nm_hist *next = (void *)&verbs[like->n_verbs];

	tally->sparse = true;
	tally->n_verbs = like->n_verbs;
	tally->verbs = like->verbs ? verbs : NULL;
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		if (like->times[i])
			tally->times[i] = take_hist(&next);
	for (uint32_t v = 0; v < like->n_verbs; v++) {
		const struct nm_verb_tally *from = &like->verbs[v];

		/* What nothing asks with stays untouched. */
		if (!from->name)
			continue;
		verbs[v].name = from->name;
		verbs[v].usual = from->usual;
		verbs[v].missed = from->missed;
		for (unsigned i = 0; i < NM_TIME__SIZED; i++)
			verbs[v].times[i] = has_own(like, v, i) ? take_hist(&next)
					    : from->times[i]	? tally->times[i]
								: NULL;
	}
}

/* --- snapshots --- */

struct nm_tally_snap *nm_tally_snap_new(uint32_t n_verbs)
{
	/* The memory of distributions that are never kept stays untouched. */
	struct nm_tally_snap *snap = calloc(1, sizeof *snap + n_verbs * sizeof *snap->verbs);

	if (!snap)
		return NULL;
	snap->n_verbs = n_verbs;
	snap->verbs = n_verbs ? (void *)(snap + 1) : NULL;
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		snap->times[i].min_ns = UINT64_MAX;
	for (uint32_t v = 0; v < n_verbs; v++)
		for (unsigned i = 0; i < NM_TIME__SIZED; i++)
			snap->verbs[v].times[i].min_ns = UINT64_MAX;
	return snap;
}

void nm_tally_snap_init(struct nm_tally_snap *snap)
{
	memset(&snap->counts, 0, sizeof snap->counts);
	snap->kept = 0;
	snap->n_verbs = 0;
	snap->verbs = NULL;
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		nm_hist_snap_init(&snap->times[i]);
}

/* --- distributions: of a tally, or of one of its verbs --- */

static void clear_times(struct nm_hist_snap *times, unsigned n, unsigned *kept)
{
	for (unsigned i = 0; i < n; i++)
		if (*kept >> i & 1)
			nm_hist_snap_init(&times[i]);
	*kept = 0;
}

static void copy_times(struct nm_hist_snap *into, unsigned n, unsigned *kept,
		       const struct nm_hist_snap *from, unsigned from_kept)
{
	for (unsigned i = 0; i < n; i++)
		if ((from_kept | *kept) >> i & 1)
			into[i] = from[i];
	*kept = from_kept;
}

static void collect_times(struct nm_hist_snap *into, unsigned n, unsigned *kept,
			  struct nm_hist *const *from, bool sparse)
{
	for (unsigned i = 0; i < n; i++) {
		if (!from[i])
			continue;
		*kept |= 1u << i;
		if (sparse)
			nm_hist_collect_touched(&into[i], from[i]);
		else
			nm_hist_collect(&into[i], from[i]);
	}
}

static void subtract_times(struct nm_hist_snap *into, unsigned n, unsigned kept,
			   const struct nm_hist_snap *earlier)
{
	for (unsigned i = 0; i < n; i++)
		/* Subtracting nothing would still round the extremes to the edges of buckets. */
		if ((kept >> i & 1) && earlier[i].count)
			nm_hist_snap_subtract(&into[i], &earlier[i]);
}

/* --- verbs --- */

void nm_verb_count_named(struct nm_verb_tally *verb, enum nm_answer answer, bool refused)
{
	struct nm_named_counters *named = &verb->named[answer];
	_Atomic uint64_t *has = &verb->has_named[answer / 64];

	nm_counter_add(refused ? &named->refused : &named->ok, 1);
	atomic_store_explicit(has, nm_counter_read(has) | UINT64_C(1) << answer % 64,
			      memory_order_relaxed);
}

static void collect_named(struct nm_outcomes *into, uint64_t answers[NM_ANSWER__COUNT],
			  const struct nm_verb_tally *from, unsigned answer)
{
	const uint64_t ok = nm_counter_read(&from->named[answer].ok);
	const uint64_t refused = nm_counter_read(&from->named[answer].refused);

	into->ok += ok;
	into->refused += refused;
	if (answers)
		answers[answer] += ok + refused;
}

void nm_verb_collect(struct nm_outcomes *into, uint64_t answers[NM_ANSWER__COUNT],
		     const struct nm_verb_tally *from)
{
	struct nm_outcomes all = {.requests = 0};

	nm_outcomes_collect(&all, &from->outcomes);
	if (answers && from->usual) {
		const uint64_t missed = from->missed ? all.misses : 0;

		answers[from->usual] += nm_outcomes_answered(&all) - missed;
		answers[from->missed] += missed;
	}
	for (unsigned i = 0; i < sizeof from->has_named / sizeof *from->has_named; i++)
		for (uint64_t bits = nm_counter_read(&from->has_named[i]); bits; bits &= bits - 1)
			collect_named(&all, answers, from,
				      64 * i + (unsigned)__builtin_ctzll(bits));
	all.requests = nm_outcomes_sum(&all); /* anew: with those that have a name */
	nm_outcomes_add(into, &all);
}

static void add_answers(uint64_t into[NM_ANSWER__COUNT], const uint64_t from[NM_ANSWER__COUNT])
{
	for (unsigned a = 0; a < NM_ANSWER__COUNT; a++)
		into[a] += from[a];
}

/* --- tallies --- */

/* Those that both have. */
static uint32_t common_verbs(const struct nm_tally_snap *a, uint32_t n)
{
	return a->n_verbs < n ? a->n_verbs : n;
}

void nm_tally_snap_clear(struct nm_tally_snap *snap)
{
	memset(&snap->counts, 0, sizeof snap->counts);
	clear_times(snap->times, NM_TIME__COUNT, &snap->kept);
	for (uint32_t v = 0; v < snap->n_verbs; v++) {
		struct nm_verb_snap *verb = &snap->verbs[v];

		verb->name = NULL;
		verb->outcomes = (struct nm_outcomes){.requests = 0};
		memset(verb->answers, 0, sizeof verb->answers);
		clear_times(verb->times, NM_TIME__SIZED, &verb->kept);
	}
}

void nm_tally_forget_passes(struct nm_tally_snap *snap)
{
	struct nm_counts counts = snap->counts;

	nm_tally_snap_clear(snap);
	nm_counts_take_passes(&counts, &snap->counts);
	snap->counts = counts;
}

void nm_tally_copy(struct nm_tally_snap *into, const struct nm_tally_snap *from)
{
	copy_times(into->times, NM_TIME__COUNT, &into->kept, from->times, from->kept);
	into->counts = from->counts;
	for (uint32_t v = 0; v < common_verbs(into, from->n_verbs); v++) {
		struct nm_verb_snap *verb = &into->verbs[v];

		verb->name = from->verbs[v].name;
		verb->outcomes = from->verbs[v].outcomes;
		memcpy(verb->answers, from->verbs[v].answers, sizeof verb->answers);
		copy_times(verb->times, NM_TIME__SIZED, &verb->kept, from->verbs[v].times,
			   from->verbs[v].kept);
	}
}

void nm_tally_counts(struct nm_counts *into, const struct nm_tally *from)
{
	struct nm_outcomes outcomes = {.requests = 0};

	nm_counts_collect(into, &from->counters);
	for (uint32_t v = 0; v < from->n_verbs; v++)
		nm_verb_collect(&outcomes, NULL, &from->verbs[v]);
	nm_counts_add_outcomes(into, &outcomes);
}

void nm_tally_collect(struct nm_tally_snap *into, const struct nm_tally *from)
{
	nm_counts_collect(&into->counts, &from->counters);
	collect_times(into->times, NM_TIME__COUNT, &into->kept, from->times, from->sparse);
	for (uint32_t v = 0; v < from->n_verbs; v++) {
		const struct nm_verb_tally *of = &from->verbs[v];
		struct nm_outcomes outcomes = {.requests = 0};
		uint64_t answers[NM_ANSWER__COUNT] = {0};

		/* Read once: so those of the verbs make up those of all. */
		nm_verb_collect(&outcomes, answers, of);
		nm_counts_add_outcomes(&into->counts, &outcomes);
		if (v >= into->n_verbs || !of->name)
			continue;
		into->verbs[v].name = of->name;
		nm_outcomes_add(&into->verbs[v].outcomes, &outcomes);
		add_answers(into->verbs[v].answers, answers);
		collect_times(into->verbs[v].times, NM_TIME__SIZED, &into->verbs[v].kept, of->times,
			      from->sparse);
	}
}

/* The whole passes; where a tally does not keep them nobody thinks, and they are its latency. */
static const struct nm_hist_snap *passes_of(const struct nm_tally_snap *snap)
{
	return nm_tally_keeps(snap, NM_TIME_PASS) ? &snap->pass : &snap->latency;
}

static void add_verb(struct nm_verb_snap *into, const struct nm_verb_snap *from)
{
	into->name = from->name ? from->name : into->name;
	nm_outcomes_add(&into->outcomes, &from->outcomes);
	add_answers(into->answers, from->answers);
	for (unsigned i = 0; i < NM_TIME__SIZED; i++)
		if (from->kept >> i & 1)
			nm_hist_snap_merge(&into->times[i], &from->times[i]);
	into->kept |= from->kept;
}

void nm_tally_add(struct nm_tally_snap *into, const struct nm_tally_snap *from)
{
	unsigned kept = into->kept | from->kept;

	nm_counts_add(&into->counts, &from->counts);
	if (kept >> NM_TIME_PASS & 1) {
		if (passes_of(into) != &into->pass)
			into->pass = into->latency;
		nm_hist_snap_merge(&into->pass, passes_of(from));
	}
	for (unsigned i = 0; i < NM_TIME__COUNT; i++)
		if (i != NM_TIME_PASS && nm_tally_keeps(from, i))
			nm_hist_snap_merge(&into->times[i], &from->times[i]);
	into->kept = kept;
	for (uint32_t v = 0; v < common_verbs(into, from->n_verbs); v++)
		add_verb(&into->verbs[v], &from->verbs[v]);
}

void nm_tally_subtract(struct nm_tally_snap *into, const struct nm_tally_snap *earlier)
{
	nm_counts_subtract(&into->counts, &earlier->counts);
	subtract_times(into->times, NM_TIME__COUNT, into->kept, earlier->times);
	for (uint32_t v = 0; v < common_verbs(into, earlier->n_verbs); v++) {
		nm_outcomes_subtract(&into->verbs[v].outcomes, &earlier->verbs[v].outcomes);
		for (unsigned a = 0; a < NM_ANSWER__COUNT; a++)
			into->verbs[v].answers[a] -= earlier->verbs[v].answers[a];
		subtract_times(into->verbs[v].times, NM_TIME__SIZED, into->verbs[v].kept,
			       earlier->verbs[v].times);
	}
}

void nm_tally_set_back_outcomes(struct nm_tally_snap *into, const struct nm_tally_snap *earlier)
{
	for (uint32_t v = 0; v < common_verbs(into, earlier->n_verbs); v++) {
		nm_outcomes_set_back(&into->verbs[v].outcomes, &earlier->verbs[v].outcomes);
		/* What has failed was not answered. */
		memcpy(into->verbs[v].answers, earlier->verbs[v].answers,
		       sizeof into->verbs[v].answers);
	}
}
