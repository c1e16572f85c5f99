/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of calls, which mostly fit what the slots are likely to be by then. */
#include "script.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"

#define ANY_IN	12 /* one of so many calls takes any slot */
#define SAME_IN 2  /* one of so many stays with the connection of the call before */

struct chooser {
	uint64_t key, drawn;
	unsigned kinds[SIM_SLOTS];
	unsigned peers[SIM_SLOTS]; /* the other end; of a listener, who has connected last */
	unsigned present;	   /* the slot of the call before, or its other end */
	bool fits;		   /* the last choice had a slot of the kind */
};

static uint64_t draw(struct chooser *chooser, uint64_t bound)
{
	return nm_rng_below(chooser->key, chooser->drawn++, bound);
}

static unsigned choose_call(struct chooser *chooser)
{
	unsigned sum = 0, call = 0;

	for (unsigned i = 0; i < sim_n_script_calls; i++)
		sum += sim_script_calls[i].weight;
	unsigned at = (unsigned)draw(chooser, sum);

	for (; at >= sim_script_calls[call].weight; call++)
		at -= sim_script_calls[call].weight;
	return call;
}

/* One of those of the kinds, other than that one. */
static unsigned choose_slot(struct chooser *chooser, unsigned kinds, unsigned other_than)
{
	unsigned found = 0, n = 0;

	if (chooser->present != other_than && (chooser->kinds[chooser->present] & kinds) &&
	    draw(chooser, SAME_IN) == 0)
		return chooser->present;
	bool any = kinds && kinds != SIM_EMPTY && draw(chooser, ANY_IN) == 0;

	for (unsigned slot = 0; slot < SIM_SLOTS; slot++)
		if (slot != other_than && (any || (chooser->kinds[slot] & kinds)) &&
		    draw(chooser, ++n) == 0)
			found = slot;
	chooser->fits &= n || !kinds;
	return found;
}

/* Only an accept joins two ends: with who has connected last. */
static void join(struct chooser *chooser, const struct sim_script_call *call,
		 const struct sim_step *step)
{
	if (call->makes == SIM_STREAM)
		chooser->peers[step->other] = step->slot;
	if (call->gives == SIM_STREAM) {
		chooser->peers[step->other] = chooser->peers[step->slot];
		chooser->peers[chooser->peers[step->slot]] = step->other;
	}
	chooser->present = draw(chooser, 2) ? step->slot : chooser->peers[step->slot];
}

static struct sim_step choose(struct chooser *chooser)
{
	struct sim_step step;
	const struct sim_script_call *call;

	do {
		chooser->fits = true;
		step.call = choose_call(chooser);
		call = &sim_script_calls[step.call];
		step.slot = choose_slot(chooser, call->of, SIM_SLOTS);
		step.other = choose_slot(chooser, call->with, step.slot);
		step.number = draw(chooser, UINT32_MAX);
	} while (!chooser->fits);
	if (call->makes)
		chooser->kinds[step.slot] = call->makes;
	if (call->gives)
		chooser->kinds[step.other] = call->gives;
	join(chooser, call, &step);
	return step;
}

void sim_script_of_seed(uint64_t seed, struct sim_script *ret)
{
	struct chooser chooser = {.key = nm_rng(seed, 3)};

	for (unsigned i = 0; i < SIM_SLOTS; i++) {
		chooser.kinds[i] = SIM_EMPTY;
		chooser.peers[i] = i;
	}
	for (unsigned i = 0; i < SIM_STEPS; i++)
		ret->steps[i] = choose(&chooser);
}

void sim_step_print(const struct sim_step *step, char line[SIM_SAY_BYTES])
{
	const struct sim_script_call *call = &sim_script_calls[step->call];
	size_t used = (size_t)snprintf(line, SIM_SAY_BYTES, "%s %u", call->name, step->slot);

	if (call->with)
		used += (size_t)snprintf(line + used, SIM_SAY_BYTES - used, " %u", step->other);
	(void)snprintf(line + used, SIM_SAY_BYTES - used, " (%" PRIu64 ")", step->number);
}
