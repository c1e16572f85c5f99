/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by weights, each in the same time however many they are (the alias method: A. J. Walker,
 * 1977). Whole numbers alone, so that the shares are exact, and the same on any machine. */
#ifndef NM_APP_WEIGHTS_H
#define NM_APP_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

/* The most weights, and the largest: their products have room in 64 bits. */
#define NM_WEIGHTS_MAX	  10000000u
#define NM_WEIGHT_LARGEST UINT64_C(1000000000000)

/* Immutable, in one block of memory: any thread may draw. */
struct nm_weights {
	uint64_t total; /* of the weights */
	/* One for each weight. All have the same share of the draws, which a number divides: it
	 * has those below `own`, and another number the rest. */
	struct nm_weight {
		uint64_t own; /* of `total` */
		uint32_t other;
	} list[];
};

/* Of `count` weights, at least one, none of which is 0. NULL: out of memory; the caller frees
 * it. */
struct nm_weights *nm_weights_new(const uint64_t *weights, size_t count);
/* The number of a weight: the n-th draw of the stream that a key of base/rng.h stands for. */
uint64_t nm_weights_draw(const struct nm_weights *weights, uint64_t count, uint64_t stream,
			 uint64_t n);

#endif
