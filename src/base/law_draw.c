/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by each law, from whole numbers alone. */
#include "base/law.h"

#include "base/fixed.h"
#include "base/rng.h"

#define LN2_64	     UINT64_C(0xb17217f7d1cf79ab) /* 64 bits behind the point */
#define LOG2E_62     UINT64_C(0x5c551d94ae0bf85e) /* 62 bits behind the point */
#define PARAM_BITS   32
#define MAX_ATTEMPTS 1000

struct point {
	uint64_t value;
	unsigned permille; /* of the flows that are at most so large */
};

/* conf/DCTCP_CDF.txt of HKUST-SING/TrafficGenerator; from a figure of the DCTCP paper. */
static const struct point websearch[] = {
	{0, 0},		{10000, 150},	{20000, 200},	 {30000, 300},
	{50000, 400},	{80000, 530},	{200000, 600},	 {1000000, 700},
	{2000000, 800}, {5000000, 900}, {10000000, 970}, {30000000, 1000},
};
/* py/CDF_datamining.txt of NetSys/simulator (pFabric), packets of 1460 bytes; from a figure of the
 * VL2 paper. */
static const struct point datamining[] = {
	{1460, 0},     {1460, 500},    {2920, 600},	{4380, 700},	   {10220, 800},
	{389820, 900}, {3076220, 950}, {97333820, 990}, {973333820, 1000},
};
/* conf/VL2_CDF.txt of HKUST-SING/TrafficGenerator; from the same figure. */
static const struct point vl2[] = {
	{0, 0},		{180, 100},	  {216, 200},	      {560, 300},   {900, 400},
	{1100, 500},	{1870, 600},	  {3160, 700},	      {10000, 800}, {400000, 900},
	{3160000, 950}, {100000000, 980}, {1000000000, 1000},
};

/* The value at k / 2^64: between two points it lies on the straight line. */
static uint64_t interpolate(const struct point *points, uint64_t k)
{
	/* 2^32 parts of a permille */
	uint64_t at = (k >> 32) * 1000;
	uint64_t permille = at >> 32;

	while (points[1].permille <= permille)
		points++;
	uint64_t part =
		(at - ((uint64_t)points->permille << 32)) / (points[1].permille - points->permille);

	return points->value + nm_fixed_scale(points[1].value - points->value, part, 32);
}

static uint64_t normal(const struct nm_law *law, uint64_t k)
{
	int64_t x = nm_fixed_quantile(k);
	uint64_t off =
		nm_fixed_scale(law->params[1], x < 0 ? -(uint64_t)x : (uint64_t)x, NM_FIXED_BITS);

	if (x >= 0)
		return law->params[0] + off;
	return off < law->params[0] ? law->params[0] - off : 0;
}

static uint64_t lognormal(const struct nm_law *law, uint64_t k)
{
	int64_t x = nm_fixed_quantile(k);
	uint64_t log =
		nm_fixed_scale(x < 0 ? -(uint64_t)x : (uint64_t)x, law->params[1], PARAM_BITS);
	int64_t exponent = (int64_t)nm_fixed_scale(log, LOG2E_62, 62);

	return nm_fixed_exp2(law->params[0], x < 0 ? -exponent : exponent);
}

/* The value of a uniform number above 0 and below 1, times 2^64. */
static uint64_t value_at(const struct nm_law *law, uint64_t k)
{
	switch (law->kind) {
	case NM_LAW_EXP:
		return nm_fixed_scale(law->params[0],
				      nm_fixed_scale(nm_fixed_neg_log2(k), LN2_64, 64),
				      NM_FIXED_BITS);
	case NM_LAW_NORMAL:
		return normal(law, k);
	case NM_LAW_LOGNORMAL:
		return lognormal(law, k);
	case NM_LAW_PARETO:
		return nm_fixed_exp2(law->params[0],
				     (int64_t)nm_fixed_scale(nm_fixed_neg_log2(k),
							     UINT64_MAX / law->params[1],
							     PARAM_BITS));
	case NM_LAW_BIMODAL:
		return law->params[(k >> PARAM_BITS) < law->params[2] ? 0 : 1];
	case NM_LAW_WEBSEARCH:
		return interpolate(websearch, k);
	case NM_LAW_DATAMINING:
		return interpolate(datamining, k);
	case NM_LAW_VL2:
		return interpolate(vl2, k);
	default:
		return law->min;
	}
}

static uint64_t draw_within(const struct nm_law *law, uint64_t drawn)
{
	for (uint64_t attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
		uint64_t value = value_at(law, drawn | 1);

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
