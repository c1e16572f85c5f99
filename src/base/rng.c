/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers within a bound, and bytes that do not compress. */
#include "base/rng.h"

void nm_rng_fill(char *bytes, size_t count)
{
	uint64_t x = UINT64_C(88172645463325252);

	/* Xorshift, as it takes less time than nm_rng. */
	for (size_t i = 0; i < count; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (char)x;
	}
}

uint64_t nm_rng_below(uint64_t key, uint64_t n, uint64_t bound)
{
	/* The last numbers, which do not fill a whole round of the bound, would make the first ones
	 * likelier. */
	const uint64_t whole = UINT64_MAX - UINT64_MAX % bound;
	uint64_t drawn = nm_rng(key, n);

	for (uint64_t again = 0; drawn >= whole; again++)
		drawn = nm_rng(drawn, again);
	return drawn % bound;
}
