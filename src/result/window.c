/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees windows. */
#include "result/window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

static bool has_flows(const struct nm_tally_snap *sample)
{
	return nm_tally_keeps(sample, NM_TIME_SLOWDOWN) && sample->slowdown.count;
}

int nm_window_fill(struct nm_window *ret_window, const struct nm_tally_snap *sample, uint64_t ns,
		   const struct nm_percentiles *percentiles)
{
	*ret_window = (struct nm_window){.seconds = (double)ns / 1e9, .counts = sample->counts};
	for (unsigned i = 0; i < NM_TIME__SIZED; i++)
		nm_latency_from_hist(&ret_window->times[i], &sample->times[i], percentiles);
	if (!has_flows(sample))
		return 0;
	ret_window->sized = calloc(NM_SIZED__COUNT, sizeof(*ret_window->sized));
	if (!ret_window->sized)
		return -ENOMEM;
	for (unsigned i = 0; i < NM_SIZED__COUNT; i++)
		nm_latency_from_hist(&ret_window->sized[i], &sample->times[NM_TIME__SIZED + i],
				     percentiles);
	return 0;
}

int nm_window_copy(struct nm_window *ret_copy, const struct nm_window *window)
{
	const size_t size = NM_SIZED__COUNT * sizeof(*window->sized);

	*ret_copy = *window;
	if (!window->sized)
		return 0;
	ret_copy->sized = malloc(size);
	if (!ret_copy->sized)
		return -ENOMEM;
	memcpy(ret_copy->sized, window->sized, size);
	return 0;
}

void nm_window_fini(struct nm_window *window)
{
	free(window->sized);
	window->sized = NULL;
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
