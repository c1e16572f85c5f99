/* SPDX-License-Identifier: Apache-2.0 */
/* A sampler that reads nothing: looks for lost resets are due by the clock, and more often where
 * some have been lost. What an eager look finds may be late, and does not prolong them; where some
 * were late the peer is busy, and has to be waited for. */
#include "control/ends.h"

/* Eager looks after a lost reset: so many that the usual ones between them, which then take a third
 * of a second to find another one, cost little. */
#define EAGER_LOOKS 200u
/* Usual looks after a late one. */
#define CALM_LOOKS 32u

static struct nm_end_sampler *sampler_of(struct nm_sampler *base)
{
	return (struct nm_end_sampler *)base;
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_end_sampler *sampler = sampler_of(base);

	sampler->phase = order->phase;
	sampler->seen = nm_engine_ends(sampler->engine);
	sampler->eager = sampler->calm = 0;
	uint64_t every_ns = nm_engine_ends_ns(sampler->engine, sampler->phase, false);

	sampler->next_ns = every_ns ? begin_ns + every_ns : UINT64_MAX;
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	return ((const struct nm_end_sampler *)base)->next_ns;
}

/* How the next looks are, by what the last ones have found. */
static void judge(struct nm_end_sampler *sampler)
{
	struct nm_engine_ends ends = nm_engine_ends(sampler->engine);

	if (ends.late != sampler->seen.late) {
		sampler->calm = CALM_LOOKS;
		sampler->eager = 0;
	} else if (sampler->calm) {
		sampler->calm--;
	} else if (ends.lost != sampler->seen.lost) {
		sampler->eager = EAGER_LOOKS;
	} else if (sampler->eager) {
		sampler->eager--;
	}
	sampler->seen = ends;
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_end_sampler *sampler = sampler_of(base);

	if (now_ns < sampler->next_ns)
		return;
	judge(sampler);
	nm_engine_look_for_ends(sampler->engine, sampler->eager);
	sampler->next_ns =
		now_ns + nm_engine_ends_ns(sampler->engine, sampler->phase, sampler->eager);
}

static void end(struct nm_sampler *base, uint64_t now_ns)
{
	(void)now_ns;
	sampler_of(base)->next_ns = UINT64_MAX;
}

void nm_end_sampler_init(struct nm_end_sampler *sampler, struct nm_engine *engine)
{
	static const struct nm_sampler_ops ops = {
		.begin = begin, .next_ns = next_ns, .run = run, .end = end};

	*sampler = (struct nm_end_sampler){
		.base = {.ops = &ops}, .engine = engine, .next_ns = UINT64_MAX};
}
