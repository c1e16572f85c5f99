/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by each law, from whole numbers alone. */
#include "base/law.h"

#include "base/fixed.h"
#include "base/law_priv.h"
#include "base/rng.h"

#define LOG2E_62     UINT64_C(0x5c551d94ae0bf85e) /* 62 bits behind the point */
#define MAX_ATTEMPTS 1000
/* Up to 2^-10 a logarithm is a short series. */
#define SMALL	    (UINT64_C(1) << 54)
#define MAX_SCALED  (NM_LAW_MAX << NM_LAW_SCALE_BITS)
#define HALF_SCALED (UINT64_C(1) << (NM_LAW_SCALE_BITS - 1))

static uint64_t normal(const struct nm_law *law, uint64_t k)
{
	int64_t x = nm_fixed_quantile(k);
	uint64_t off = nm_fixed_scale(law->params[1], nm_fixed_magnitude(x), NM_FIXED_BITS);

	if (x >= 0)
		return law->params[0] + off;
	return off < law->params[0] ? law->params[0] - off : 0;
}

static uint64_t lognormal(const struct nm_law *law, uint64_t k)
{
	int64_t x = nm_fixed_quantile(k);
	uint64_t log = nm_fixed_scale(nm_fixed_magnitude(x), law->params[1], NM_LAW_REAL_BITS);
	int64_t exponent = (int64_t)nm_fixed_scale(log, LOG2E_62, 62);

	return nm_fixed_exp2(law->params[0], x < 0 ? -exponent : exponent);
}

/* location + scale * (2^(shape * log2) - 1) / shape; with a shape of 0 its limit. Not below 0. */
static uint64_t spread(const struct nm_law *law, int64_t log2)
{
	uint64_t location = law->params[0], scale = law->params[1], shape = law->params[2], off;
	uint64_t magnitude = nm_fixed_magnitude(log2);

	if (shape == 0) {
		off = nm_fixed_scale(scale, nm_fixed_scale(magnitude, NM_FIXED_LN2_64, 64),
				     NM_FIXED_BITS);
	} else {
		int64_t exponent = (int64_t)nm_fixed_scale(magnitude, shape, NM_LAW_REAL_BITS);
		uint64_t power = nm_fixed_exp2(scale, log2 < 0 ? -exponent : exponent);

		off = nm_fixed_scale(log2 < 0 ? scale - power : power - scale, UINT64_MAX / shape,
				     NM_LAW_REAL_BITS);
	}
	if (log2 < 0)
		location = off < location ? location - off : 0;
	else
		location += off < MAX_SCALED ? off : MAX_SCALED;
	return (location + HALF_SCALED) >> NM_LAW_SCALE_BITS;
}

/* -log2(-ln(1 - k / 2^64)) */
static int64_t log_of_log(uint64_t k)
{
	if (k < SMALL) {
		uint64_t square = nm_fixed_scale(k, k, 64);

		return (int64_t)nm_fixed_neg_log2(k + square / 2 +
						  nm_fixed_scale(square, k, 64) / 3);
	}
	uint64_t log = nm_fixed_scale(nm_fixed_neg_log2((0 - k) | 1), NM_FIXED_LN2_64, 64);

	return (int64_t)nm_fixed_neg_log2(log) - ((int64_t)(64 - NM_FIXED_BITS) << NM_FIXED_BITS);
}

/* Whether a rank is taken, by a number below 2^62. What its part of the octave says is enough for
 * nearly all numbers, and spares a logarithm and a power, whose last bits are not compared. */
static bool takes(const struct nm_law *law, uint64_t x, uint64_t number)
{
	const uint64_t *taken = law->table->taken + (x >> (63 - NM_ZIPF_PART_BITS)) - NM_ZIPF_PARTS;
	const uint64_t last = UINT64_C(1) << 20;

	if (number + last < taken[1])
		return true;
	if (number > taken[0] + last)
		return false;
	return number < nm_law_zipf_taken(law->params[0], nm_law_zipf_log2(x));
}

/* The ranks of an octave are as likely as its first one, and each is taken as often as it should
 * be: rejection from steps. Most draws are taken, whatever the exponent. */
static uint64_t zipf(const struct nm_law *law, uint64_t k)
{
	const uint64_t own = nm_rng(k, UINT64_MAX); /* apart from the numbers of other attempts */
	size_t octave = nm_law_table_at(law->table, k);
	uint64_t first = UINT64_C(1) << octave;
	uint64_t beyond = law->params[1] - first + 1;
	uint64_t rank = first + nm_rng_below(own, 0, beyond < first ? beyond : first);

	return takes(law, rank << (63 - octave), nm_rng(own, 1) >> 2) ? rank : NM_LAW_REJECTED;
}

uint64_t nm_law_value(const struct nm_law *law, uint64_t k)
{
	switch (law->kind) {
	case NM_LAW_EXP:
		return nm_fixed_scale(law->params[0],
				      nm_fixed_scale(nm_fixed_neg_log2(k), NM_FIXED_LN2_64, 64),
				      NM_FIXED_BITS);
	case NM_LAW_NORMAL:
		return normal(law, k);
	case NM_LAW_LOGNORMAL:
		return lognormal(law, k);
	case NM_LAW_PARETO:
		return nm_fixed_exp2(law->params[0],
				     (int64_t)nm_fixed_scale(nm_fixed_neg_log2(k),
							     UINT64_MAX / law->params[1],
							     NM_LAW_REAL_BITS));
	case NM_LAW_GPARETO:
		return spread(law, (int64_t)nm_fixed_neg_log2(k));
	case NM_LAW_GEV:
		return spread(law, log_of_log(k));
	case NM_LAW_ZIPF:
		return zipf(law, k);
	case NM_LAW_BIMODAL:
		return law->params[(k >> NM_LAW_REAL_BITS) < law->params[2] ? 0 : 1];
	case NM_LAW_DISCRETE:
		return nm_law_table_value(law->table, true, k);
	case NM_LAW_CDF:
		return nm_law_table_value(law->table, law->steps, k);
	default:
		return law->min;
	}
}

static uint64_t draw_within(const struct nm_law *law, uint64_t drawn)
{
	for (uint64_t attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		uint64_t value = nm_law_value(law, drawn | 1);

		if (value >= law->min && value <= law->max)
			return value;
		drawn = nm_rng(drawn, attempt);
	}
	return law->max;
}

uint64_t nm_law_in_order(const struct nm_law *law, uint64_t n, uint64_t n_draws)
{
	const uint64_t part = UINT64_MAX / n_draws;

	return nm_law_value(law, n * part + part / 2);
}

uint64_t nm_law_draw(const struct nm_law *law, uint64_t key, uint64_t n)
{
	uint64_t span = law->max - law->min;

	if (law->kind == NM_LAW_CONST || span == 0)
		return law->min;
	if (law->kind != NM_LAW_UNIFORM)
		return draw_within(law, nm_rng(key, n));
	return span == UINT64_MAX ? nm_rng(key, n) : law->min + nm_rng_below(key, n, span + 1);
}
