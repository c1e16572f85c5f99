/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the distributions of several runs. */
#include "result/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void unpack(struct nm_hist_snap *times, unsigned n, unsigned *kept,
		   struct nm_hist_packed *const *list)
{
	for (unsigned i = 0; list && i < n; i++) {
		if (!list[i])
			continue;
		*kept |= 1u << i;
		nm_hist_snap_add_packed(&times[i], list[i]);
	}
}

static const struct nm_verb_window *find_verb(const struct nm_window *window, const char *name)
{
	for (size_t v = 0; v < window->n_verbs; v++)
		if (strcmp(window->verbs[v].name, name) == 0)
			return &window->verbs[v];
	return NULL;
}

/* A window as the sample from which it was filled, but for its answers; the verbs are those of
 * `last`. */
static void sample_of(const struct nm_window *window, const struct nm_window *last,
		      struct nm_tally_snap *ret_sample)
{
	nm_tally_snap_clear(ret_sample);
	ret_sample->counts = window->counts;
	unpack(ret_sample->times, NM_TIME__COUNT, &ret_sample->kept, window->kept);
	for (size_t v = 0; v < last->n_verbs; v++) {
		const struct nm_verb_window *from = find_verb(window, last->verbs[v].name);
		struct nm_verb_snap *verb = &ret_sample->verbs[v];

		if (!from)
			continue;
		verb->name = last->verbs[v].name;
		verb->outcomes = from->outcomes;
		unpack(verb->times, NM_TIME__SIZED, &verb->kept, from->kept);
	}
}

/* Which window of a run. */
struct place {
	size_t group, phase, step;
};

/* One window of a run; NULL: the run has no such. */
typedef struct nm_window *(*window_fn)(struct nm_result *run, const struct place *at);

static struct nm_window *totals_of(struct nm_result *run, const struct place *at)
{
	(void)at;
	return &run->totals;
}

static struct nm_window *group_of(struct nm_result *run, const struct place *at)
{
	return at->group < run->n_groups ? &run->groups[at->group].totals : NULL;
}

static struct nm_result_phase *find_phase(struct nm_result *run, const struct place *at)
{
	if (at->group >= run->n_groups || at->phase >= run->groups[at->group].n_phases)
		return NULL;
	return &run->groups[at->group].phases[at->phase];
}

static struct nm_window *phase_of(struct nm_result *run, const struct place *at)
{
	struct nm_result_phase *phase = find_phase(run, at);

	return phase ? &phase->whole : NULL;
}

static struct nm_window *step_of(struct nm_result *run, const struct place *at)
{
	struct nm_result_phase *phase = find_phase(run, at);

	return phase && at->step < phase->n_steps ? &phase->steps[at->step].window : NULL;
}

/* Runs that are pooled. */
struct runs {
	struct nm_result *const *items;
	size_t n;
};

/* Pools a window into that of the pool. */
static int pool_window(const struct runs *runs, window_fn window_of, struct place at,
		       struct nm_result *pool)
{
	const struct nm_window *last = window_of(runs->items[runs->n - 1], &at);
	struct nm_window *pooled = window_of(pool, &at);
	struct nm_tally_snap *sum = nm_tally_snap_new((uint32_t)last->n_verbs);
	struct nm_tally_snap *one = nm_tally_snap_new((uint32_t)last->n_verbs);
	double seconds = 0;
	int error = sum && one ? 0 : -ENOMEM;

	*pooled = (struct nm_window){.seconds = 0};
	for (size_t i = 0; i < runs->n && !error; i++) {
		const struct nm_window *window = window_of(runs->items[i], &at);

		if (!window)
			continue;
		sample_of(window, last, one);
		nm_tally_add(sum, one);
		seconds += window->seconds;
	}
	if (!error)
		error = nm_window_fill(pooled, sum, (uint64_t)(seconds * 1e9), &pool->percentiles);
	free(sum);
	free(one);
	return error;
}

/* Steps of the pool's own, with windows that are empty yet. */
static int copy_steps(const struct nm_result_phase *from, struct nm_result_phase *to)
{
	to->steps = calloc(from->n_steps + 1, sizeof(*to->steps));
	for (size_t i = 0; to->steps && i < from->n_steps; i++) {
		to->steps[i] = from->steps[i];
		to->steps[i].window = (struct nm_window){.seconds = 0};
	}
	return to->steps ? 0 : -ENOMEM;
}

/* Groups and phases of the pool's own, with windows that are empty yet. */
static int copy_groups(const struct nm_result *last, struct nm_result *pool)
{
	pool->n_groups = 0;
	pool->groups = calloc(last->n_groups + 1, sizeof(*pool->groups));
	if (!pool->groups)
		return -ENOMEM;
	for (; pool->n_groups < last->n_groups; pool->n_groups++) {
		struct nm_result_group *group = &pool->groups[pool->n_groups];
		const struct nm_result_group *from = &last->groups[pool->n_groups];

		*group = *from;
		group->totals = (struct nm_window){.seconds = 0};
		group->phases = calloc(from->n_phases + 1, sizeof(*group->phases));
		if (!group->phases)
			return -ENOMEM;
		for (size_t k = 0; k < from->n_phases; k++) {
			group->phases[k] = from->phases[k];
			group->phases[k].whole = (struct nm_window){.seconds = 0};
			if (copy_steps(&from->phases[k], &group->phases[k]) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int pool_phase(const struct runs *runs, struct place at, struct nm_result *pool)
{
	const size_t n_steps = find_phase(pool, &at)->n_steps;
	int error = pool_window(runs, phase_of, at, pool);

	for (; at.step < n_steps && !error; at.step++)
		error = pool_window(runs, step_of, at, pool);
	return error;
}

int nm_pool_runs(struct nm_result *const *runs, size_t n, struct nm_result *ret_pool)
{
	const struct runs all = {.items = runs, .n = n};

	*ret_pool = *runs[n - 1];
	ret_pool->totals = (struct nm_window){.seconds = 0};
	int error = copy_groups(runs[n - 1], ret_pool);

	if (!error)
		error = pool_window(&all, totals_of, (struct place){.group = 0}, ret_pool);
	for (size_t g = 0; g < ret_pool->n_groups && !error; g++) {
		error = pool_window(&all, group_of, (struct place){.group = g}, ret_pool);
		for (size_t k = 0; k < ret_pool->groups[g].n_phases && !error; k++)
			error = pool_phase(&all, (struct place){.group = g, .phase = k}, ret_pool);
	}
	return error;
}

static void fini_phase(struct nm_result_phase *phase)
{
	nm_window_fini(&phase->whole);
	for (size_t i = 0; i < phase->n_steps; i++)
		nm_window_fini(&phase->steps[i].window);
	free(phase->steps);
}

void nm_pool_fini(struct nm_result *pool)
{
	nm_window_fini(&pool->totals);
	for (size_t g = 0; g < pool->n_groups; g++) {
		for (size_t k = 0; k < pool->groups[g].n_phases; k++)
			fini_phase(&pool->groups[g].phases[k]);
		free(pool->groups[g].phases);
		nm_window_fini(&pool->groups[g].totals);
	}
	free(pool->groups);
	*pool = (struct nm_result){.n_groups = 0};
}
