/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attribute `arrivals`, and merges lanes. */
#include "flowop/arrival_law/schedule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"

/* As no clock here is finer than a nanosecond, and no run is longer than months. */
#define LEAST_PER_S 1e-6
#define MOST_PER_S  1e9

static const struct nm_arrival_law *find_law(const char *name, size_t length)
{
	for (size_t i = 0; nm_arrival_laws[i]; i++)
		if (strncmp(nm_arrival_laws[i]->name, name, length) == 0 &&
		    !nm_arrival_laws[i]->name[length])
			return nm_arrival_laws[i];
	return NULL;
}

static int refuse_form(const char *text, char *why, size_t why_size)
{
	size_t used = (size_t)snprintf(why, why_size, "\"%.64s\": must be", text);

	for (size_t i = 0; nm_arrival_laws[i] && used < why_size; i++)
		used += (size_t)snprintf(why + used, why_size - used, "%s %s(RATE)",
					 !i			  ? ""
					 : nm_arrival_laws[i + 1] ? ","
								  : " or",
					 nm_arrival_laws[i]->name);
	if (used < why_size)
		snprintf(why + used, why_size - used, ", as poisson(50k/s)");
	return -EINVAL;
}

int nm_arrivals_parse(const char *text, struct nm_arrivals *ret, char *why, size_t why_size)
{
	size_t length = strcspn(text, "("), n_rate = strcspn(text + length, ")");
	char rate[48];

	*ret = (struct nm_arrivals){.law = find_law(text, length)};
	if (!ret->law || !text[length] || strcmp(text + length + n_rate, ")") != 0)
		return refuse_form(text, why, why_size);
	snprintf(rate, sizeof(rate), "%.*s", (int)n_rate - 1, text + length + 1);
	if (n_rate > sizeof(rate) || nm_parse_rate(rate, NM_READING_NETMODEL, &ret->per_s) != 0 ||
	    !(ret->per_s >= LEAST_PER_S && ret->per_s <= MOST_PER_S)) {
		snprintf(why, why_size,
			 "\"%.64s\": \"%.47s\" is no rate of arrivals: from 0.000001 to 1G a "
			 "second, as 500, 2.5k/s or 50k",
			 text, rate);
		return -EINVAL;
	}
	return 0;
}

char *nm_arrivals_text(const struct nm_arrivals *arrivals, char *buf, size_t size)
{
	char rate[32];
	size_t length = (size_t)snprintf(rate, sizeof(rate), "%.9f", arrivals->per_s);

	while (rate[length - 1] == '0')
		rate[--length] = '\0';
	if (rate[length - 1] == '.')
		rate[--length] = '\0';
	snprintf(buf, size, "%s(%s/s)", arrivals->law->name, rate);
	return buf;
}

double nm_lane_draw(const struct nm_lane *lane)
{
	return ((double)(nm_rng(lane->key, lane->number) >> 11) + 1) * 0x1p-53;
}

int nm_schedule_init(struct nm_schedule *schedule, uint32_t worker, uint32_t n_workers)
{
	uint32_t n = (NM_LANES - worker + n_workers - 1) / n_workers;

	*schedule = (struct nm_schedule){.lanes = calloc(n, sizeof *schedule->lanes), .n_lanes = n};
	for (uint32_t i = 0; schedule->lanes && i < n; i++)
		schedule->lanes[i].index = worker + i * n_workers;
	return schedule->lanes ? 0 : -ENOMEM;
}

void nm_schedule_fini(struct nm_schedule *schedule)
{
	free(schedule->lanes);
	schedule->lanes = NULL;
}

/* Puts the lane where it belongs at or below the place `at` of the heap. */
static void sift_down(struct nm_schedule *schedule, uint32_t at, struct nm_lane lane)
{
	struct nm_lane *heap = schedule->lanes;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < schedule->n_lanes && heap[child + 1].at_ns < heap[child].at_ns)
			child++;
		if (child >= schedule->n_lanes || heap[child].at_ns >= lane.at_ns)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = lane;
}

void nm_schedule_begin(struct nm_schedule *schedule, const struct nm_arrivals *arrivals,
		       uint64_t key)
{
	schedule->law = arrivals->law;
	schedule->period_ns = 1e9 / arrivals->per_s;
	for (uint32_t i = 0; i < schedule->n_lanes; i++) {
		struct nm_lane *lane = &schedule->lanes[i];

		lane->number = 0;
		lane->at_ns = 0;
		lane->key = nm_rng(key, lane->index);
		lane->at_ns = schedule->law->due_ns(lane, schedule->period_ns);
	}
	for (uint32_t i = schedule->n_lanes / 2; i-- > 0;)
		sift_down(schedule, i, schedule->lanes[i]);
}

void nm_schedule_step(struct nm_schedule *schedule)
{
	struct nm_lane lane = schedule->lanes[0];

	lane.number++;
	lane.at_ns = schedule->law->due_ns(&lane, schedule->period_ns);
	sift_down(schedule, 0, lane);
}

uint64_t nm_schedule_skip(struct nm_schedule *schedule, double at_ns, uint64_t most)
{
	uint64_t count = 0;

	for (; count < most && nm_schedule_at_ns(schedule) < at_ns; count++)
		nm_schedule_step(schedule);
	double left_ns = at_ns - nm_schedule_at_ns(schedule);

	if (left_ns > 0)
		count += (uint64_t)(left_ns / schedule->period_ns * schedule->n_lanes / NM_LANES);
	return count;
}
