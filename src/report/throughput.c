/* SPDX-License-Identifier: Apache-2.0 */
/* Units of throughput by neper's words. */
#include "report/throughput.h"

#include <stddef.h>
#include <string.h>

#define KIB 1024.0
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

/* Units of one letter: bits with powers of 1000, bytes with powers of 1024. Each family of more
 * letters is in ascending order. */
static const struct nm_throughput_unit units[] = {
	{"b", "bits/s", 1 / 8.0},
	{"k", "10^3bits/s", 1e3 / 8},
	{"m", "10^6bits/s", 1e6 / 8},
	{"g", "10^9bits/s", 1e9 / 8},
	{"B", "B/s", 1},
	{"K", "KBytes/s", KIB},
	{"M", "MBytes/s", MIB},
	{"G", "GBytes/s", GIB},
	{"Kb", "Kbit/s", 1e3 / 8},
	{"Mb", "Mbit/s", 1e6 / 8},
	{"Gb", "Gbit/s", 1e9 / 8},
	{"KB", "KB/s", 1e3},
	{"MB", "MB/s", 1e6},
	{"GB", "GB/s", 1e9},
	{"Kib", "Kibit/s", KIB / 8},
	{"Mib", "Mibit/s", MIB / 8},
	{"Gib", "Gibit/s", GIB / 8},
	{"KiB", "KiB/s", KIB},
	{"MiB", "MiB/s", MIB},
	{"GiB", "GiB/s", GIB},
};

static const char words[] = "b k m g B K M G Kb Mb Gb KB MB GB Kib Mib Gib KiB MiB GiB auto-b "
			    "auto-ib auto-B auto-iB";

#define N_UNITS	   (sizeof(units) / sizeof(units[0]))
#define AUTO	   "auto-"
#define AUTO_FIRST "KMG"

static const struct nm_throughput_unit *find(const char *word)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (strcmp(units[i].word, word) == 0)
			return &units[i];
	return NULL;
}

/* The letters behind the first of its units tell the family: "b", "ib", "B" or "iB". */
static const struct nm_throughput_unit *choose(const char *family, double bytes_per_s)
{
	const struct nm_throughput_unit *best = NULL;

	for (const char *c = AUTO_FIRST; *c; c++) {
		const char word[4] = {*c, family[0], family[0] ? family[1] : '\0', '\0'};
		const struct nm_throughput_unit *unit = strlen(family) <= 2 ? find(word) : NULL;

		if (unit && unit->word[1] && (!best || bytes_per_s >= unit->bytes_per_s))
			best = unit;
	}
	return best;
}

const struct nm_throughput_unit *nm_throughput_unit(const char *word, double bytes_per_s)
{
	if (strncmp(word, AUTO, sizeof(AUTO) - 1) == 0)
		return choose(word + sizeof(AUTO) - 1, bytes_per_s);
	return find(word);
}

const char *nm_throughput_words(void)
{
	return words;
}
