/* SPDX-License-Identifier: Apache-2.0 */
/* Logarithm, power and normal quantile in fixed point. Nothing here computes with floating point
 * when it runs: constants are made of literals by the compiler, exactly. */
#include "base/fixed.h"

#include <stdbool.h>
#include <stddef.h>

#define ONE	    (INT64_C(1) << NM_FIXED_BITS)
#define FIXED(x)    ((int64_t)((x) * (double)ONE))
#define EXP2_BITS   62
#define EXP2_TERMS  20
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

struct wide {
	uint64_t high, low;
};

/* By halves, as not every machine has 128 bits. */
static struct wide multiply(uint64_t a, uint64_t b)
{
	uint64_t a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
	uint64_t low = a0 * b0, left = a1 * b0, right = a0 * b1;
	uint64_t middle = (low >> 32) + (left & UINT32_MAX) + (right & UINT32_MAX);

	return (struct wide){.high = a1 * b1 + (left >> 32) + (right >> 32) + (middle >> 32),
			     .low = (middle << 32) | (low & UINT32_MAX)};
}

uint64_t nm_fixed_scale(uint64_t a, uint64_t b, unsigned shift)
{
	struct wide x = multiply(a, b);
	uint64_t half = UINT64_C(1) << ((shift - 1) % 64);

	if (shift > 64) {
		x.high += half; /* never carries: the product is below 2^128 - 2^65 */
		return x.high < half ? UINT64_MAX : x.high >> (shift - 64);
	}
	x.low += half;
	x.high += x.low < half;
	if (shift == 64)
		return x.high;
	return x.high >> shift ? UINT64_MAX : (x.high << (64 - shift)) | (x.low >> shift);
}

uint64_t nm_fixed_neg_log2(uint64_t k)
{
	int zeros = __builtin_clzll(k);
	uint64_t x = k << zeros, fraction = 0; /* from 1 to 2, 63 bits behind the point */

	/* The square has twice the logarithm: each makes one bit known. */
	for (int i = 0; i < NM_FIXED_BITS; i++) {
		x = multiply(x, x).high;
		fraction = fraction << 1 | x >> 63;
		if (!(x >> 63))
			x <<= 1;
	}
	return ((uint64_t)(zeros + 1) << NM_FIXED_BITS) - fraction;
}

uint64_t nm_fixed_exp2(uint64_t value, int64_t exponent)
{
	const uint64_t one = UINT64_C(1) << EXP2_BITS;
	uint64_t fraction = (uint64_t)exponent & (uint64_t)(ONE - 1);
	int64_t whole = (exponent - (int64_t)fraction) / ONE;
	uint64_t y = multiply(fraction << (64 - NM_FIXED_BITS), NM_FIXED_LN2_64).high >>
		     (64 - EXP2_BITS);
	uint64_t power = one;

	/* The series of e^y. */
	for (uint64_t i = EXP2_TERMS; i > 0; i--)
		power = one + nm_fixed_scale(y, power, EXP2_BITS) / i;
	if (value == 0 || whole < -64)
		return 0;
	return whole >= EXP2_BITS ? UINT64_MAX
				  : nm_fixed_scale(value, power, (unsigned)(EXP2_BITS - whole));
}

static int64_t product(int64_t a, int64_t b)
{
	int64_t x = (int64_t)nm_fixed_scale(nm_fixed_magnitude(a), nm_fixed_magnitude(b),
					    NM_FIXED_BITS);

	return (a < 0) != (b < 0) ? -x : x;
}

static int64_t quotient(int64_t a, int64_t b)
{
	uint64_t by = nm_fixed_magnitude(b), x = nm_fixed_magnitude(a) / by,
		 rest = nm_fixed_magnitude(a) % by;

	for (int i = 0; i < NM_FIXED_BITS; i++) {
		rest <<= 1;
		x = x << 1 | (rest >= by);
		if (rest >= by)
			rest -= by;
	}
	return (a < 0) != (b < 0) ? -(int64_t)x : (int64_t)x;
}

static uint64_t square_root(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 62; bit; bit >>= 2) {
		bool fits = x >= root + bit;

		if (fits)
			x -= root + bit;
		root = (root >> 1) + (fits ? bit : 0);
	}
	return root;
}

static int64_t polynomial(const int64_t *factors, size_t count, int64_t x)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum = product(sum, x) + factors[i];
	return sum;
}

/* Acklam's rational approximation, its relative error 1.15e-9: in the middle by the square of the
 * distance from it, in the tail by the root of the logarithm. */
static const int64_t middle_over[] = {FIXED(-3.969683028665376e+01), FIXED(2.209460984245205e+02),
				      FIXED(-2.759285104469687e+02), FIXED(1.383577518672690e+02),
				      FIXED(-3.066479806614716e+01), FIXED(2.506628277459239e+00)};
static const int64_t middle_under[] = {FIXED(-5.447609879822406e+01), FIXED(1.615858368580409e+02),
				       FIXED(-1.556989798598866e+02), FIXED(6.680131188771972e+01),
				       FIXED(-1.328068155288572e+01), ONE};
static const int64_t tail_over[] = {FIXED(-7.784894002430293e-03), FIXED(-3.223964580411365e-01),
				    FIXED(-2.400758277161838e+00), FIXED(-2.549732539343734e+00),
				    FIXED(4.374664141464968e+00),  FIXED(2.938163982698783e+00)};
static const int64_t tail_under[] = {FIXED(7.784695709041462e-03), FIXED(3.224671290700398e-01),
				     FIXED(2.445134137142996e+00), FIXED(3.754408661907416e+00),
				     ONE};
#define TAIL FIXED(0.02425)

int64_t nm_fixed_quantile(uint64_t k)
{
	/* The lower half; the upper one is its mirror image. */
	uint64_t twice = (k >> 63 ? ~k : k) << 1 | 1;
	int64_t p = (int64_t)(twice >> (64 - NM_FIXED_BITS + 1)), x;

	if (p < TAIL) {
		uint64_t log2 = nm_fixed_neg_log2(twice) + (uint64_t)ONE;
		uint64_t squared = nm_fixed_scale(log2, NM_FIXED_LN2_64, 63);
		/* The root of a number with 56 bits behind the point has 28. */
		int64_t root = (int64_t)square_root(squared << 16) << (NM_FIXED_BITS - 28);

		x = quotient(polynomial(tail_over, COUNT_OF(tail_over), root),
			     polynomial(tail_under, COUNT_OF(tail_under), root));
	} else {
		int64_t off = p - ONE / 2, squared = product(off, off);

		x = quotient(product(polynomial(middle_over, COUNT_OF(middle_over), squared), off),
			     polynomial(middle_under, COUNT_OF(middle_under), squared));
	}
	return k >> 63 ? -x : x;
}
