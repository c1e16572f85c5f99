/* SPDX-License-Identifier: Apache-2.0 */
/* Laws that are tables of points of their distribution function: those that are built in, those
 * that are made, and what is asked of any. */
#include <stdlib.h>
#include <string.h>

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
		if (strcmp(tables[i].name, name) == 0)
			return &tables[i];
	return NULL;
}

struct nm_law_table *nm_law_table_new(const char *name, const struct nm_law_point *points,
				      size_t count)
{
	struct nm_law_table *table;
	size_t points_size = count * sizeof *points, name_size = strlen(name) + 1;
	char *memory = malloc(sizeof *table + points_size + name_size);

	if (!memory)
		return NULL;
	table = (struct nm_law_table *)(void *)memory;
	memcpy(memory + sizeof *table, points, points_size);
	memcpy(memory + sizeof *table + points_size, name, name_size);
	*table = (struct nm_law_table){
		.name = memory + sizeof *table + points_size,
		.count = count,
		.points = (const struct nm_law_point *)(void *)(memory + sizeof *table)};
	return table;
}

void nm_law_points_weigh(struct nm_law_point *points, size_t count)
{
	uint64_t sum = 0;
	unsigned shift = 0;

	for (size_t i = 0; i < count; i++)
		points[i].below = sum += points[i].below;
	/* So that the product with NM_LAW_WHOLE has 64 bits. */
	while (sum >> shift >> 34)
		shift++;
	for (size_t i = 0; i + 1 < count; i++)
		points[i].below = (points[i].below >> shift) * NM_LAW_WHOLE / (sum >> shift);
	points[count - 1].below = NM_LAW_WHOLE;
}

uint64_t nm_law_zipf_log2(uint64_t x)
{
	return (UINT64_C(1) << NM_FIXED_BITS) - nm_fixed_neg_log2(x);
}

uint64_t nm_law_zipf_taken(uint64_t s, uint64_t log2)
{
	return nm_fixed_exp2(UINT64_C(1) << 62,
			     -(int64_t)nm_fixed_scale(log2, s, NM_LAW_REAL_BITS));
}

struct zipf_table {
	struct nm_law_table table;
	uint64_t taken[NM_ZIPF_PARTS + 1];
	struct nm_law_point octaves[64];
};

static struct nm_law_table *make_zipf(uint64_t s, const struct nm_law_point *octaves, size_t count)
{
	struct zipf_table *zipf = malloc(sizeof *zipf);

	if (!zipf)
		return NULL;
	memcpy(zipf->octaves, octaves, count * sizeof *octaves);
	for (uint64_t i = 0; i < NM_ZIPF_PARTS; i++)
		zipf->taken[i] = nm_law_zipf_taken(
			s, nm_law_zipf_log2((NM_ZIPF_PARTS + i) << (63 - NM_ZIPF_PART_BITS)));
	zipf->taken[NM_ZIPF_PARTS] = nm_law_zipf_taken(s, UINT64_C(1) << NM_FIXED_BITS);
	zipf->table = (struct nm_law_table){
		.name = "", .count = count, .points = zipf->octaves, .taken = zipf->taken};
	return &zipf->table;
}

struct nm_law_table *nm_law_table_new_zipf(uint64_t s, uint64_t n)
{
	struct nm_law_point octaves[64];
	size_t count = 0;
	int64_t rise = ((INT64_C(1) << NM_LAW_REAL_BITS) - (int64_t)s) *
		       (1 << (NM_FIXED_BITS - NM_LAW_REAL_BITS));
	int64_t top = 0;

	while (n >> count)
		count++;
	if (rise > 0)
		top = rise * (int64_t)(count - 1);
	for (size_t i = 0; i < count; i++) {
		uint64_t first = UINT64_C(1) << i;
		uint64_t ranks = n - first + 1 < first ? n - first + 1 : first;
		uint64_t part = nm_fixed_scale(ranks, UINT64_C(1) << (63 - i), 7);

		octaves[i] =
			(struct nm_law_point){first, nm_fixed_exp2(part, rise * (int64_t)i - top)};
	}
	nm_law_points_weigh(octaves, count);
	return make_zipf(s, octaves, count);
}

uint64_t nm_law_table_smallest(const struct nm_law_table *table)
{
	return table->points[0].value;
}

uint64_t nm_law_table_largest(const struct nm_law_table *table)
{
	return table->points[table->count - 1].value;
}

bool nm_law_table_equals(const struct nm_law_table *a, const struct nm_law_table *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->count == b->count &&
	       memcmp(a->points, b->points, a->count * sizeof *a->points) == 0;
}

/* NM_LAW_WHOLE * k / 2^64, with 32 bits behind the point. */
static uint64_t part_of_whole(uint64_t k)
{
	return (k >> 32) * NM_LAW_WHOLE;
}

size_t nm_law_table_at(const struct nm_law_table *table, uint64_t k)
{
	uint64_t at = part_of_whole(k) >> 32;
	size_t low = 0, high = table->count - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (table->points[middle].below > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t nm_law_table_value(const struct nm_law_table *table, bool steps, uint64_t k)
{
	size_t at = nm_law_table_at(table, k);
	const struct nm_law_point *to = &table->points[at];

	if (steps || at == 0)
		return to->value;
	const struct nm_law_point *from = to - 1;
	uint64_t part = (part_of_whole(k) - (from->below << 32)) / (to->below - from->below);

	return from->value + nm_fixed_scale(to->value - from->value, part, 32);
}

double nm_law_table_mean(const struct nm_law_table *table, bool steps, uint64_t min, uint64_t max)
{
	double sum = 0, within = 0;
	uint64_t from = table->points[0].value, below = 0;

	for (size_t i = 0; i < table->count; i++) {
		uint64_t to = table->points[i].value;

		if (steps)
			from = to;
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
