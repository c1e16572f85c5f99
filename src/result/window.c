/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees windows. */
#include "result/window.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

static bool has_flows(const struct nm_tally_snap *sample)
{
	return nm_tally_keeps(sample, NM_TIME_SLOWDOWN) && sample->slowdown.count;
}

static int fill_flows(struct nm_window *window, const struct nm_tally_snap *sample,
		      const struct nm_percentiles *percentiles)
{
	if (!has_flows(sample))
		return 0;
	window->sized = calloc(NM_SIZED__COUNT, sizeof(*window->sized));
	if (!window->sized)
		return -ENOMEM;
	for (unsigned i = 0; i < NM_SIZED__COUNT; i++)
		nm_latency_from_hist(&window->sized[i], &sample->times[NM_TIME__SIZED + i],
				     percentiles);
	return 0;
}

/* Percentiles with failures, where there are any, of the distributions that are kept. What never
 * began has no service time that could have been long: its response is what never came. */
static int fill_failing(struct nm_failing *failing[NM_TIME__SIZED],
			const struct nm_hist_snap *times, unsigned kept, uint64_t unanswered,
			uint64_t never_begun, const struct nm_percentiles *percentiles)
{
	for (unsigned i = 0; i < NM_TIME__SIZED; i++) {
		uint64_t failures = unanswered + (i == NM_TIME_RESPONSE ? never_begun : 0);

		if (!failures || !(kept >> i & 1) || !nm_time_may_fail(i))
			continue;
		failing[i] = nm_failing_from_hist(&times[i], failures, percentiles);
		if (!failing[i])
			return -ENOMEM;
	}
	return 0;
}

/* Bytes of a latency with so many percentiles: rows have those of each verb. */
static size_t latency_bytes(size_t n_percentiles)
{
	return offsetof(struct nm_latency, pct_s) + n_percentiles * sizeof(double);
}

static int fill_answers(struct nm_verb_window *verb, const struct nm_verb_snap *from)
{
	const uint64_t *counts = from->answers;
	size_t n = 0;

	for (unsigned a = NM_ANSWER_NONE + 1; a < NM_ANSWER__COUNT; a++)
		n += counts[a] > 0;
	if (!n)
		return 0;
	verb->answers = calloc(n, sizeof(*verb->answers));
	if (!verb->answers)
		return -ENOMEM;
	for (unsigned a = NM_ANSWER_NONE + 1; a < NM_ANSWER__COUNT; a++)
		if (counts[a])
			verb->answers[verb->n_answers++] =
				(struct nm_answer_count){.name = nm_answer_names[a],
							 .count = counts[a],
							 .is_usual = nm_answer_is_usual(a)};
	return 0;
}

static int fill_verb(struct nm_verb_window *verb, const struct nm_verb_snap *from,
		     const struct nm_percentiles *percentiles)
{
	const struct nm_outcomes *outcomes = &from->outcomes;

	snprintf(verb->name, sizeof(verb->name), "%s", from->name);
	verb->outcomes = *outcomes;
	verb->n_percentiles = percentiles->count;
	if (fill_answers(verb, from) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < NM_TIME__SIZED; i++) {
		if (!from->times[i].count)
			continue;
		struct nm_latency latency;

		nm_latency_from_hist(&latency, &from->times[i], percentiles);
		verb->times[i] = malloc(latency_bytes(percentiles->count));
		if (!verb->times[i])
			return -ENOMEM;
		memcpy(verb->times[i], &latency, latency_bytes(percentiles->count));
	}
	return fill_failing(verb->failing, from->times, from->kept, nm_outcomes_failed(outcomes), 0,
			    percentiles);
}

static int fill_verbs(struct nm_window *window, const struct nm_tally_snap *sample,
		      const struct nm_percentiles *percentiles)
{
	int error = 0;

	if (!window->counts.requests || !sample->n_verbs)
		return 0;
	window->verbs = calloc(sample->n_verbs, sizeof(*window->verbs));
	if (!window->verbs)
		return -ENOMEM;
	for (uint32_t v = 0; v < sample->n_verbs && !error; v++) {
		if (!sample->verbs[v].name)
			continue;
		struct nm_verb_window *verb = &window->verbs[window->n_verbs++];

		verb->seconds = window->seconds;
		error = fill_verb(verb, &sample->verbs[v], percentiles);
	}
	return error;
}

int nm_window_fill(struct nm_window *ret_window, const struct nm_tally_snap *sample, uint64_t ns,
		   const struct nm_percentiles *percentiles)
{
	*ret_window = (struct nm_window){.seconds = (double)ns / 1e9, .counts = sample->counts};
	for (unsigned i = 0; i < NM_TIME__SIZED; i++)
		nm_latency_from_hist(&ret_window->times[i], &sample->times[i], percentiles);
	int error = fill_flows(ret_window, sample, percentiles);

	if (!error)
		error = fill_failing(ret_window->failing, sample->times, sample->kept,
				     sample->counts.unanswered,
				     nm_counts_never_begun(&sample->counts), percentiles);
	return error ? error : fill_verbs(ret_window, sample, percentiles);
}

/* A copy of n bytes, owned; NULL with *failed when out of memory. */
static void *copy_of(const void *from, size_t n, bool *failed)
{
	void *copy = from ? malloc(n) : NULL;

	if (copy)
		memcpy(copy, from, n);
	*failed |= from && !copy;
	return copy;
}

static struct nm_failing *copy_of_failing(const struct nm_failing *from, bool *failed)
{
	size_t n = from ? sizeof(*from) + from->count * sizeof(from->pct_s[0]) : 0;

	return copy_of(from, n, failed);
}

static bool copy_verbs(struct nm_window *copy, const struct nm_window *window)
{
	bool failed = false;

	copy->verbs = copy_of(window->verbs, window->n_verbs * sizeof(*window->verbs), &failed);
	copy->n_verbs = copy->verbs ? window->n_verbs : 0;
	for (size_t v = 0; v < copy->n_verbs; v++) {
		const struct nm_verb_window *from = &window->verbs[v];

		copy->verbs[v].kept = NULL;
		copy->verbs[v].answers =
			copy_of(from->answers, from->n_answers * sizeof(*from->answers), &failed);
		for (unsigned i = 0; i < NM_TIME__SIZED; i++) {
			copy->verbs[v].times[i] = copy_of(
				from->times[i], latency_bytes(from->n_percentiles), &failed);
			copy->verbs[v].failing[i] = copy_of_failing(from->failing[i], &failed);
		}
	}
	return failed;
}

int nm_window_copy(struct nm_window *ret_copy, const struct nm_window *window)
{
	bool failed = false;

	*ret_copy = *window;
	ret_copy->kept = NULL;
	ret_copy->sized = copy_of(window->sized, NM_SIZED__COUNT * sizeof(*window->sized), &failed);
	for (unsigned i = 0; i < NM_TIME__SIZED; i++)
		ret_copy->failing[i] = copy_of_failing(window->failing[i], &failed);
	failed |= copy_verbs(ret_copy, window);
	return failed ? -ENOMEM : 0;
}

/* The distributions of a window, or of a verb in it: owned. NULL: out of memory. */
static struct nm_hist_packed **keep(const struct nm_hist_snap *times, unsigned n, unsigned kept,
				    bool *failed)
{
	struct nm_hist_packed **list = calloc(n, sizeof(struct nm_hist_packed *));

	*failed |= !list;
	for (unsigned i = 0; list && i < n; i++) {
		if (!(kept >> i & 1))
			continue;
		list[i] = nm_hist_pack(&times[i]);
		*failed |= !list[i];
	}
	return list;
}

static void forget(struct nm_hist_packed ***list, unsigned n)
{
	for (unsigned i = 0; *list && i < n; i++)
		free((*list)[i]);
	free((void *)*list);
	*list = NULL;
}

int nm_window_keep(struct nm_window *window, const struct nm_tally_snap *sample)
{
	bool failed = false;

	window->kept = keep(sample->times, NM_TIME__COUNT, sample->kept, &failed);
	/* The window has those verbs that have asked, in their order. */
	for (uint32_t v = 0, at = 0; v < sample->n_verbs && at < window->n_verbs; v++)
		if (sample->verbs[v].name)
			window->verbs[at++].kept = keep(sample->verbs[v].times, NM_TIME__SIZED,
							sample->verbs[v].kept, &failed);
	return failed ? -ENOMEM : 0;
}

/* Frees those that are kept. */
static void forget_all(struct nm_window *window)
{
	forget(&window->kept, NM_TIME__COUNT);
	for (size_t v = 0; v < window->n_verbs; v++)
		forget(&window->verbs[v].kept, NM_TIME__SIZED);
}

void nm_window_fini(struct nm_window *window)
{
	forget_all(window);
	free(window->sized);
	for (unsigned i = 0; i < NM_TIME__SIZED; i++) {
		free(window->failing[i]);
		for (size_t v = 0; v < window->n_verbs; v++) {
			free(window->verbs[v].times[i]);
			free(window->verbs[v].failing[i]);
		}
		window->failing[i] = NULL;
	}
	for (size_t v = 0; v < window->n_verbs; v++)
		free(window->verbs[v].answers);
	free(window->verbs);
	window->sized = NULL;
	window->verbs = NULL;
	window->n_verbs = 0;
}

const struct nm_latency *nm_window_time(const struct nm_window *window, enum nm_time time)
{
	static const struct nm_latency none = {.count = 0};

	if (time < NM_TIME__SIZED)
		return &window->times[time];
	return window->sized ? &window->sized[time - NM_TIME__SIZED] : &none;
}

void nm_result_after_add(struct nm_result_after *after, struct nm_result_after more)
{
	after->transactions += more.transactions;
	after->unanswered += more.unanswered;
	after->seconds = fmax(after->seconds, more.seconds);
}
