/* SPDX-License-Identifier: Apache-2.0 */
/* `together` is one word, so that it changes as a whole. Its lowest bit tells whether several runs
 * are under way. The next eight count the changes of the runs: a session that is interrupted
 * between counting the runs and writing the word finds another word after any change meanwhile,
 * and counts anew. The others hold the time until now or, while the lowest bit is set, that time
 * less the clock when it was set. Whoever changes the runs counts them anew, so that a session
 * which was killed between two steps is forgotten at the next one. */
#include "control/slave/runs.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define SEVERAL	     UINT64_C(1)
#define CHANGE	     UINT64_C(2)
#define CHANGES_MASK UINT64_C(0x1fe)
#define TIME_SHIFT   9 /* what is left for the time, in ns, lasts for a year */
#define TIME_MASK    (UINT64_MAX >> TIME_SHIFT)

uint64_t nm_slave_run_id(const char *text)
{
	return nm_hash_nonzero(text, strlen(text));
}

static uint64_t time_of(uint64_t word, uint64_t now_ns)
{
	return ((word >> TIME_SHIFT) + (word & SEVERAL ? now_ns : 0)) & TIME_MASK;
}

static uint64_t id_under_way(const struct nm_slave_runs *runs, size_t index)
{
	return atomic_load(&runs->of[index].under_way) ? atomic_load(&runs->of[index].id) : 0;
}

/* Whether a session before `index`, or any but it, has the run under way. */
static bool is_under_way(const struct nm_slave_runs *runs, uint64_t id, size_t before, size_t but)
{
	for (size_t i = 0; i < before; i++) {
		if (i != but && id_under_way(runs, i) == id)
			return true;
	}
	return false;
}

/* How many runs other than this are under way; id 0: all of them. */
static uint32_t count_others(const struct nm_slave_runs *runs, uint64_t id)
{
	uint32_t count = 0;

	for (size_t i = 0; i < NM_SLAVE_RUNS; i++) {
		uint64_t one = id_under_way(runs, i);

		count += one && one != id && !is_under_way(runs, one, i, i);
	}
	return count;
}

/* Takes the time by, after the runs have changed. */
static void note_change(struct nm_slave_runs *runs, uint64_t now_ns)
{
	uint64_t before = atomic_load(&runs->together), after;

	do {
		bool several = count_others(runs, 0) > 1;
		uint64_t time_ns = time_of(before, now_ns) - (several ? now_ns : 0);

		after = time_ns << TIME_SHIFT | ((before + CHANGE) & CHANGES_MASK) |
			(several ? SEVERAL : 0);
	} while (!atomic_compare_exchange_weak(&runs->together, &before, after));
}

bool nm_slave_runs_claim(struct nm_slave_runs *runs, size_t index, uint64_t id, const char *master,
			 bool alone, uint64_t now_ns)
{
	struct nm_slave_run *run = &runs->of[index];
	uint64_t nobody = 0;

	(void)snprintf(run->master, sizeof run->master, "%s", master);
	atomic_store(&run->since_ns, now_ns);
	atomic_store(&run->id, id);
	if (!alone || atomic_compare_exchange_strong(&runs->alone, &nobody, id) || nobody == id)
		return true;
	atomic_store(&run->id, 0);
	return false;
}

bool nm_slave_runs_other(const struct nm_slave_runs *runs, char *buf, size_t size,
			 uint64_t *ret_since_ns)
{
	uint64_t id = atomic_load(&runs->alone);

	for (size_t i = 0; id && i < NM_SLAVE_RUNS; i++) {
		if (atomic_load(&runs->of[i].id) != id)
			continue;
		(void)snprintf(buf, size, "%.*s", NM_SLAVE_RUN_MASTER - 1, runs->of[i].master);
		*ret_since_ns = atomic_load(&runs->of[i].since_ns);
		return true;
	}
	return false;
}

void nm_slave_runs_begin(struct nm_slave_runs *runs, size_t index, uint64_t now_ns,
			 struct nm_slave_run_begin *ret_begin)
{
	struct nm_slave_run *run = &runs->of[index];
	uint64_t id = atomic_load(&run->id);

	/* Several sessions of a run have begun it once. */
	if (!is_under_way(runs, id, NM_SLAVE_RUNS, index))
		(void)atomic_fetch_add(&runs->begun, 1);
	atomic_store(&run->under_way, true);
	note_change(runs, now_ns);
	*ret_begin = (struct nm_slave_run_begin){
		.at_ns = now_ns,
		.together_ns = time_of(atomic_load(&runs->together), now_ns),
		.others = count_others(runs, id),
		.begun = atomic_load(&runs->begun),
	};
}

void nm_slave_runs_end(struct nm_slave_runs *runs, size_t index, uint64_t now_ns,
		       const struct nm_slave_run_begin *begin, struct nm_msg_others *ret_others)
{
	uint64_t together_ns = time_of(atomic_load(&runs->together), now_ns);
	uint64_t of_ns = now_ns - begin->at_ns;
	uint64_t ns = (together_ns - begin->together_ns) & TIME_MASK;
	uint32_t begun = atomic_load(&runs->begun) - begin->begun;

	/* Each session reads the clock for itself: one that read it a moment earlier than another
	 * changed the word seems to go back in time. */
	if (ns > TIME_MASK / 2)
		ns = 0;
	*ret_others = (struct nm_msg_others){
		.runs = begin->others + begun, .ns = ns < of_ns ? ns : of_ns, .of_ns = of_ns};
	nm_slave_runs_leave(runs, index, now_ns);
}

void nm_slave_runs_leave(struct nm_slave_runs *runs, size_t index, uint64_t now_ns)
{
	struct nm_slave_run *run = &runs->of[index];
	uint64_t id = atomic_exchange(&run->id, 0);

	if (atomic_exchange(&run->under_way, false))
		note_change(runs, now_ns);
	if (!id || atomic_load(&runs->alone) != id)
		return;
	for (size_t i = 0; i < NM_SLAVE_RUNS; i++) {
		if (atomic_load(&runs->of[i].id) == id)
			return;
	}
	(void)atomic_compare_exchange_strong(&runs->alone, &id, 0);
}
