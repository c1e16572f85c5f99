/* SPDX-License-Identifier: Apache-2.0 */
/* A sampler that reads nothing: looks for lost resets are due by the clock. */
#include "control/ends.h"

static struct nm_end_sampler *sampler_of(struct nm_sampler *base)
{
	return (struct nm_end_sampler *)base;
}

static void begin(struct nm_sampler *base, const struct nm_phase_order *order, uint64_t begin_ns)
{
	struct nm_end_sampler *sampler = sampler_of(base);

	sampler->every_ns = nm_engine_ends_ns(sampler->engine, order->phase);
	sampler->next_ns = sampler->every_ns ? begin_ns + sampler->every_ns : UINT64_MAX;
}

static uint64_t next_ns(const struct nm_sampler *base)
{
	return ((const struct nm_end_sampler *)base)->next_ns;
}

static void run(struct nm_sampler *base, uint64_t now_ns)
{
	struct nm_end_sampler *sampler = sampler_of(base);

	if (now_ns < sampler->next_ns)
		return;
	nm_engine_look_for_ends(sampler->engine);
	sampler->next_ns = now_ns + sampler->every_ns;
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
