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

static int fill_verbs(struct nm_window *window, const struct nm_tally_snap *sample,
		      const struct nm_percentiles *percentiles)
{
	if (!window->counts.requests || !sample->n_verbs)
		return 0;
	window->verbs = calloc(sample->n_verbs, sizeof(*window->verbs));
	if (!window->verbs)
		return -ENOMEM;
	for (uint32_t v = 0; v < sample->n_verbs; v++) {
		const struct nm_verb_snap *from = &sample->verbs[v];

		if (!from->name)
			continue;
		struct nm_verb_window *verb = &window->verbs[window->n_verbs++];

		snprintf(verb->name, sizeof(verb->name), "%s", from->name);
		verb->seconds = window->seconds;
		verb->outcomes = from->outcomes;
		for (unsigned i = 0; i < NM_TIME__SIZED; i++)
			nm_latency_from_hist(&verb->times[i], &from->times[i], percentiles);
	}
	return 0;
}

int nm_window_fill(struct nm_window *ret_window, const struct nm_tally_snap *sample, uint64_t ns,
		   const struct nm_percentiles *percentiles)
{
	*ret_window = (struct nm_window){.seconds = (double)ns / 1e9, .counts = sample->counts};
	for (unsigned i = 0; i < NM_TIME__SIZED; i++)
		nm_latency_from_hist(&ret_window->times[i], &sample->times[i], percentiles);
	int error = fill_flows(ret_window, sample, percentiles);

	return error ? error : fill_verbs(ret_window, sample, percentiles);
}

/* A copy of n bytes, owned; NULL: there are none, or out of memory. */
static void *copy_of(const void *from, size_t n)
{
	void *copy = from ? malloc(n) : NULL;

	if (copy)
		memcpy(copy, from, n);
	return copy;
}

int nm_window_copy(struct nm_window *ret_copy, const struct nm_window *window)
{
	*ret_copy = *window;
	ret_copy->sized = copy_of(window->sized, NM_SIZED__COUNT * sizeof(*window->sized));
	ret_copy->verbs = copy_of(window->verbs, window->n_verbs * sizeof(*window->verbs));
	ret_copy->n_verbs = ret_copy->verbs ? window->n_verbs : 0;
	return (window->sized && !ret_copy->sized) || (window->verbs && !ret_copy->verbs) ? -ENOMEM
											   : 0;
}

void nm_window_fini(struct nm_window *window)
{
	free(window->sized);
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
	after->seconds = fmax(after->seconds, more.seconds);
}
