/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by each law, from whole numbers alone. */
#include "base/law.h"

#include "base/fixed.h"
#include "base/law_priv.h"
#include "base/rng.h"

#define LOG2E_62     UINT64_C(0x5c551d94ae0bf85e) /* 62 bits behind the point */
#define MAX_ATTEMPTS 1000

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
	case NM_LAW_BIMODAL:
		return law->params[(k >> NM_LAW_REAL_BITS) < law->params[2] ? 0 : 1];
	case NM_LAW_CDF:
		return nm_law_table_value(law->table, k);
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

uint64_t nm_law_draw(const struct nm_law *law, uint64_t key, uint64_t n)
{
	uint64_t span = law->max - law->min;

	if (law->kind == NM_LAW_CONST || span == 0)
		return law->min;
	if (law->kind != NM_LAW_UNIFORM)
		return draw_within(law, nm_rng(key, n));
	return span == UINT64_MAX ? nm_rng(key, n) : law->min + nm_rng_below(key, n, span + 1);
}
