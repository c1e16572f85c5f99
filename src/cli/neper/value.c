/* SPDX-License-Identifier: Apache-2.0 */
/* The values of neper's options: how they are written, and how netmodel reads them. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/neper/neper.h"
#include "report/throughput.h"

/* Digits, a point and a sign: a number without a unit. */
static bool is_bare(const char *text)
{
	return *text && text[strspn(text, "0123456789.+-")] == '\0';
}

static int to_duration(const char *text, const char *unit, char *to, size_t size, const char **why)
{
	uint64_t ns;

	*why = "not a time: a number, and ns, us, ms or s";
	if (snprintf(to, size, "%s%s", text, is_bare(text) ? unit : "") >= (int)size)
		return -EINVAL;
	int error = nm_parse_duration(to, NM_READING_NETMODEL, &ns);

	if (error == -ERANGE)
		*why = "too large for a duration";
	return error ? -EINVAL : 0;
}

static int to_bit_rate(const char *text, char *to, size_t size, const char **why)
{
	char *end;
	double value = strtod(text, &end);
	const struct nm_throughput_unit *unit = nm_throughput_unit(*end ? end : "B", 0);

	*why = "not a rate: a number of bytes/s, or with a unit of --throughput-opt, as 100Mb";
	if (end == text || !unit || strncmp(end, "auto", 4) == 0 || !(value >= 0 && value < 1e15))
		return -EINVAL;
	*why = "less than 1 byte/s, which is the least that the kernel knows; 0: no limit";
	if (value > 0 && value * unit->bytes_per_s < 1)
		return -EINVAL;
	snprintf(to, size, "%.0f", value * unit->bytes_per_s * 8);
	return 0;
}

/* neper takes any character between two numbers. */
static int to_percentiles(const char *text, char *to, size_t size, const char **why)
{
	size_t used = 0;

	*why = "not a list of percentiles: numbers from 0 to 100, as 50,99.9";
	for (;;) {
		char *end;
		double value = strtod(text, &end);

		value = value == 999 ? 99.9 : value == 9999 ? 99.99 : value;
		if (end == text || !(value >= 0 && value <= 100) || used + 24 > size)
			return -EINVAL;
		used += (size_t)snprintf(to + used, size - used, "%s%.10g", used ? "," : "", value);
		if (*end == '\0')
			return 0;
		text = end + 1;
	}
}

static int to_count(const char *text, char *to, size_t size, const char **why)
{
	char *end;
	long long value;

	*why = "not a number of 0 or more";
	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || end == text || *end || value < 0)
		return -EINVAL;
	snprintf(to, size, "%lld", value);
	return 0;
}

static int to_size(const char *text, char *to, size_t size, const char **why)
{
	uint64_t bytes;

	*why = "not a size: a number and an optional k, m, g or t";
	if (nm_parse_size(text, NM_READING_NETMODEL, &bytes) != 0)
		return -EINVAL;
	snprintf(to, size, "%s", text);
	return strlen(text) < size ? 0 : -EINVAL;
}

/* How values are told in a help, and of times the unit of a bare number. */
static const struct {
	const char *text, *unit;
} kinds[] = {
	[NM_NEPER_FLAG] = {"", NULL},
	[NM_NEPER_TEXT] = {" TEXT", NULL},
	[NM_NEPER_COUNT] = {" N", NULL},
	[NM_NEPER_SIZE] = {" BYTES", NULL},
	[NM_NEPER_LENGTH] = {" SECONDS", "s"},
	[NM_NEPER_S] = {" SECONDS", "s"},
	[NM_NEPER_REAL_S] = {" SECONDS", "s"},
	[NM_NEPER_MS] = {" MILLISECONDS", "ms"},
	[NM_NEPER_US] = {" MICROSECONDS", "us"},
	[NM_NEPER_NS] = {" NANOSECONDS", "ns"},
	[NM_NEPER_BYTE_RATE] = {" BYTES/S", NULL},
	[NM_NEPER_PERCENTILES] = {" LIST", NULL},
	[NM_NEPER_FILE] = {"[=FILE]", NULL},
};

const char *nm_neper_value_text(enum nm_neper_value kind)
{
	return kinds[kind].text;
}

uint64_t nm_neper_unit_ns(enum nm_neper_value kind)
{
	char one[8];
	uint64_t ns = 1;

	if (kinds[kind].unit) {
		(void)snprintf(one, sizeof(one), "1%s", kinds[kind].unit);
		(void)nm_parse_duration(one, NM_READING_NETMODEL, &ns);
	}
	return ns;
}

int nm_neper_value_read(enum nm_neper_value kind, const char *text, char *to, size_t size,
			const char **why)
{
	if (kinds[kind].unit)
		return to_duration(text, kinds[kind].unit, to, size, why);
	switch (kind) {
	case NM_NEPER_COUNT:
		return to_count(text, to, size, why);
	case NM_NEPER_SIZE:
		return to_size(text, to, size, why);
	case NM_NEPER_BYTE_RATE:
		return to_bit_rate(text, to, size, why);
	case NM_NEPER_PERCENTILES:
		return to_percentiles(text, to, size, why);
	default:
		break;
	}
	*why = "too long";
	return snprintf(to, size, "%s", text) < (int)size ? 0 : -EINVAL;
}
