/* SPDX-License-Identifier: Apache-2.0 */
/* A list of samplers, called as one. */
#include "control/sampler.h"

void nm_samplers_add(struct nm_samplers *samplers, struct nm_sampler *sampler)
{
	struct nm_sampler **at = &samplers->first;

	while (*at)
		at = &(*at)->next;
	sampler->next = NULL;
	*at = sampler;
}

void nm_samplers_add_first(struct nm_samplers *samplers, struct nm_sampler *sampler)
{
	sampler->next = samplers->first;
	samplers->first = sampler;
}

void nm_samplers_begin(const struct nm_samplers *samplers, const struct nm_phase_order *order,
		       uint64_t begin_ns)
{
	for (struct nm_sampler *at = samplers->first; at; at = at->next)
		at->ops->begin(at, order, begin_ns);
}

uint64_t nm_samplers_next_ns(const struct nm_samplers *samplers)
{
	uint64_t first_ns = UINT64_MAX;

	for (const struct nm_sampler *at = samplers->first; at; at = at->next) {
		uint64_t next_ns = at->ops->next_ns(at);

		first_ns = next_ns < first_ns ? next_ns : first_ns;
	}
	return first_ns;
}

void nm_samplers_run(const struct nm_samplers *samplers, uint64_t now_ns)
{
	for (struct nm_sampler *at = samplers->first; at; at = at->next)
		at->ops->run(at, now_ns);
}

void nm_samplers_end(const struct nm_samplers *samplers, bool all, uint64_t now_ns)
{
	for (struct nm_sampler *at = samplers->first; at; at = at->next) {
		if (all || !at->ops->until_all)
			at->ops->end(at, now_ns);
	}
}

bool nm_samplers_failed(const struct nm_samplers *samplers)
{
	bool failed = false;

	for (const struct nm_sampler *at = samplers->first; at; at = at->next)
		failed |= at->failed;
	return failed;
}
