/* SPDX-License-Identifier: Apache-2.0 */
/* Laws that are tables of points of their distribution function: those that are built in, and what
 * is asked of any. */
#include "base/ascii.h"
#include "base/fixed.h"
#include "base/law_priv.h"

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))
#define PERMILLE(n) (UINT64_C(n) * (NM_LAW_WHOLE / 1000))

/* conf/DCTCP_CDF.txt of HKUST-SING/TrafficGenerator; from a figure of the DCTCP paper. */
static const struct nm_law_point websearch[] = {
	{0, PERMILLE(0)},	  {10000, PERMILLE(150)},    {20000, PERMILLE(200)},
	{30000, PERMILLE(300)},	  {50000, PERMILLE(400)},    {80000, PERMILLE(530)},
	{200000, PERMILLE(600)},  {1000000, PERMILLE(700)},  {2000000, PERMILLE(800)},
	{5000000, PERMILLE(900)}, {10000000, PERMILLE(970)}, {30000000, PERMILLE(1000)},
};
/* py/CDF_datamining.txt of NetSys/simulator (pFabric), packets of 1460 bytes; from a figure of the
 * VL2 paper. */
static const struct nm_law_point datamining[] = {
	{1460, PERMILLE(0)},	  {1460, PERMILLE(500)},     {2920, PERMILLE(600)},
	{4380, PERMILLE(700)},	  {10220, PERMILLE(800)},    {389820, PERMILLE(900)},
	{3076220, PERMILLE(950)}, {97333820, PERMILLE(990)}, {973333820, PERMILLE(1000)},
};
/* conf/VL2_CDF.txt of HKUST-SING/TrafficGenerator; from the same figure. */
static const struct nm_law_point vl2[] = {
	{0, PERMILLE(0)},
	{180, PERMILLE(100)},
	{216, PERMILLE(200)},
	{560, PERMILLE(300)},
	{900, PERMILLE(400)},
	{1100, PERMILLE(500)},
	{1870, PERMILLE(600)},
	{3160, PERMILLE(700)},
	{10000, PERMILLE(800)},
	{400000, PERMILLE(900)},
	{3160000, PERMILLE(950)},
	{100000000, PERMILLE(980)},
	{1000000000, PERMILLE(1000)},
};

static const struct nm_law_table tables[] = {
	{.name = "websearch", .count = COUNT_OF(websearch), .points = websearch},
	{.name = "datamining", .count = COUNT_OF(datamining), .points = datamining},
	{.name = "vl2", .count = COUNT_OF(vl2), .points = vl2},
};

const struct nm_law_table *nm_law_table_find(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(tables); i++)
		if (nm_ascii_equals(tables[i].name, name))
			return &tables[i];
	return NULL;
}

uint64_t nm_law_table_largest(const struct nm_law_table *table)
{
	return table->points[table->count - 1].value;
}

/* Between two points the value lies on the straight line. */
uint64_t nm_law_table_value(const struct nm_law_table *table, uint64_t k)
{
	uint64_t at = (k >> 32) * NM_LAW_WHOLE; /* 32 bits behind the point */
	size_t low = 0, high = table->count - 1;

	/* The first point whose probability is above. */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (table->points[middle].below > at >> 32)
			high = middle;
		else
			low = middle + 1;
	}
	const struct nm_law_point *to = &table->points[low];

	if (low == 0)
		return to->value;
	const struct nm_law_point *from = to - 1;
	uint64_t part = (at - (from->below << 32)) / (to->below - from->below);

	return from->value + nm_fixed_scale(to->value - from->value, part, 32);
}

double nm_law_table_mean(const struct nm_law_table *table, uint64_t min, uint64_t max)
{
	double sum = 0, within = 0;
	uint64_t from = table->points[0].value, below = 0;

	for (size_t i = 0; i < table->count; i++) {
		uint64_t to = table->points[i].value;
		uint64_t low = from < min ? min : from, high = to > max ? max : to;

		if (low <= high) {
			double share = (double)(table->points[i].below - below);

			if (to > from)
				share *= (double)(high - low) / (double)(to - from);
			sum += share * ((double)low + (double)high) / 2;
			within += share;
		}
		from = to;
		below = table->points[i].below;
	}
	return sum / within;
}
