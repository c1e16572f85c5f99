/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of real numbers that are made of whole numbers alone: equal on every machine. Numbers
 * have NM_FIXED_BITS bits behind the point unless their comment says otherwise. */
#ifndef NM_BASE_FIXED_H
#define NM_BASE_FIXED_H

#include <stdint.h>

#define NM_FIXED_BITS 40
/* The natural logarithm of 2, 64 bits behind the point. */
#define NM_FIXED_LN2_64 UINT64_C(0xb17217f7d1cf79ab)

static inline uint64_t nm_fixed_magnitude(int64_t a)
{
	return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

/* a * b / 2^shift, rounded half up; UINT64_MAX if it does not fit. The shift is 1 to 127. */
uint64_t nm_fixed_scale(uint64_t a, uint64_t b, unsigned shift);
/* -log2(k / 2^64); k is not 0. */
uint64_t nm_fixed_neg_log2(uint64_t k);
/* value * 2^exponent, rounded half up; UINT64_MAX if it does not fit. */
uint64_t nm_fixed_exp2(uint64_t value, int64_t exponent);
/* The quantile of the standard normal law at (k + 1/2) / 2^64, its relative
 * error at most 1e-8. */
int64_t nm_fixed_quantile(uint64_t k);

#endif
