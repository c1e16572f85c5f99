/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers without state: each is a function of a key and of its number, so that two hosts
 * that know the key draw the same numbers, no matter in which order and on which threads. Not for
 * secrets. */
#ifndef NM_BASE_RNG_H
#define NM_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* The n-th number of the stream that the key stands for: uniform over all 64 bits. The number may
 * be a key itself, so that streams are told apart by several things, one after the other. */
static inline uint64_t nm_rng(uint64_t key, uint64_t n)
{
	/* SplitMix64: an odd step, and a mix in which each bit of the input changes half of the
	 * output. */
	uint64_t x = key + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* Fills memory with bytes that nothing on the way can compress, always with the same ones, as their
 * values do not matter. */
void nm_rng_fill(char *bytes, size_t count);

/* nm_rng as a whole number from 0 to bound - 1, each as likely as the others; the bound is not
 * 0. */
uint64_t nm_rng_below(uint64_t key, uint64_t n, uint64_t bound);

#endif
