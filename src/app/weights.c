/* SPDX-License-Identifier: Apache-2.0 */
/* The alias method: what is above the mean fills up what is below it. */
#include "app/weights.h"

#include <stdlib.h>

#include "base/rng.h"

struct nm_weights *nm_weights_new(const uint64_t *weights, size_t count)
{
	struct nm_weights *made = malloc(sizeof *made + count * sizeof *made->list);
	/* Those whose share is not full come from the left, the others from the right. */
	uint32_t *open = malloc(count * sizeof *open);
	size_t low = 0, high = count;

	if (!made || !open) {
		free(made);
		free(open);
		return NULL;
	}
	made->total = 0;
	for (size_t i = 0; i < count; i++)
		made->total += weights[i];
	for (size_t i = 0; i < count; i++) {
		made->list[i] = (struct nm_weight){.own = weights[i] * count, .other = (uint32_t)i};
		open[made->list[i].own < made->total ? low++ : --high] = (uint32_t)i;
	}
	while (low && high < count) {
		struct nm_weight *filled = &made->list[open[--low]];
		struct nm_weight *giver = &made->list[open[high]];

		filled->other = open[high];
		giver->own -= made->total - filled->own;
		if (giver->own < made->total)
			open[low++] = open[high++];
	}
	free(open);
	return made;
}

uint64_t nm_weights_draw(const struct nm_weights *weights, uint64_t count, uint64_t stream,
			 uint64_t n)
{
	const uint64_t key = nm_rng(stream, n), number = nm_rng_below(key, 0, count);
	const struct nm_weight *weight = &weights->list[number];

	return nm_rng_below(key, 1, weights->total) < weight->own ? number : weight->other;
}
