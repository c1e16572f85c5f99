/* SPDX-License-Identifier: Apache-2.0 */
/* Reads sizes, counts, durations and rates as users write them with units, and formats figures for
 * people. */
#include "base/units.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

struct unit {
	const char *name;
	double factor;
};

/* Digits are accumulated here and not by strtod, which takes signs, blanks, hexadecimal, "inf" and
 * the locale's decimal point. */
struct number {
	uint64_t whole;
	double fraction; /* 0 <= fraction < 1 */
};

/* Further digits of a fraction make no difference. */
#define MAX_FRACTION_DIGITS 18

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Adds digits to the end of a number, so many at most; skips the others. Returns how many it has
 * added, or -ERANGE. */
static int read_digits(const char **text, int count, uint64_t most, uint64_t *number)
{
	int n = 0;

	for (; is_digit(**text); (*text)++) {
		uint64_t digit = (uint64_t)(**text - '0');

		if (n == count)
			continue;
		if (digit > most || *number > (most - digit) / 10)
			return -ERANGE;
		*number = *number * 10 + digit;
		n++;
	}
	return n;
}

/* Digits with an optional fraction; one of the two may be empty before the point, none after it. */
static int parse_number(const char **text, struct number *ret)
{
	const char *p = *text;
	uint64_t whole = 0, fraction = 0, scale = 1;

	if (!is_digit(*p) && !(*p == '.' && is_digit(p[1])))
		return -EINVAL;
	if (read_digits(&p, INT_MAX, UINT64_MAX, &whole) < 0)
		return -ERANGE;
	if (*p == '.') {
		if (!is_digit(*++p))
			return -EINVAL;
		for (int n = read_digits(&p, MAX_FRACTION_DIGITS, UINT64_MAX, &fraction); n > 0;
		     n--)
			scale *= 10;
	}
	*text = p;
	*ret = (struct number){whole, (double)fraction / (double)scale};
	return 0;
}

/* The words of the tables, in any case; but b is bits and B is bytes where `b_matters`. */
static bool same_word(const char *word, const char *text, bool b_matters)
{
	for (; *word && *text; word++, text++) {
		if (b_matters && nm_ascii_lower(*word) == 'b'
			    ? *word != *text
			    : nm_ascii_lower(*word) != nm_ascii_lower(*text))
			return false;
	}
	return *word == *text;
}

static const struct unit *find_unit(const struct unit *units, const char *word, bool b_matters)
{
	for (; units->name; units++)
		if (same_word(units->name, word, b_matters))
			return units;
	return NULL;
}

/* uperf reads the first letter of a suffix and no further. The unit of that letter; NULL when
 * `word` is not one of letters. */
static const struct unit *first_letter_unit(const struct unit *units, const char *word)
{
	const char letter[] = {word[0], '\0'};

	for (const char *c = word; *c; c++)
		if (nm_ascii_lower(*c) < 'a' || nm_ascii_lower(*c) > 'z')
			return NULL;
	return *word ? find_unit(units, letter, false) : NULL;
}

/* Exact but for the fraction, which is rounded; there is no half of the smallest unit. Returns 1
 * when letters behind the first one of the suffix went unread. */
static int parse_whole(const char *text, enum nm_reading reading, const struct unit *units,
		       uint64_t *ret)
{
	struct number number;
	int r = parse_number(&text, &number);

	if (r < 0)
		return r;
	const struct unit *unit = find_unit(units, text, false);
	bool unread = !unit;

	if (!unit && reading == NM_READING_UPERF)
		unit = first_letter_unit(units, text);
	if (!unit || (unit->factor <= 1 && number.fraction > 0))
		return -EINVAL;
	uint64_t rest = (uint64_t)llround(number.fraction * unit->factor);

	if (number.whole > (UINT64_MAX - rest) / (uint64_t)unit->factor)
		return -ERANGE;
	*ret = number.whole * (uint64_t)unit->factor + rest;
	return unread;
}

static int parse_real(const char *text, const struct unit *units, bool b_matters, double *ret)
{
	struct number number;
	int r = parse_number(&text, &number);

	if (r < 0)
		return r;
	const struct unit *unit = find_unit(units, text, b_matters);

	if (!unit)
		return -EINVAL;
	*ret = ((double)number.whole + number.fraction) * unit->factor;
	return 0;
}

int nm_parse_size(const char *text, enum nm_reading reading, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"", 1},	 {"b", 1},	 {"k", 0x1p10},	  {"kb", 0x1p10},  {"kib", 0x1p10},
		{"m", 0x1p20},	 {"mb", 0x1p20}, {"mib", 0x1p20}, {"g", 0x1p30},   {"gb", 0x1p30},
		{"gib", 0x1p30}, {"t", 0x1p40},	 {"tb", 0x1p40},  {"tib", 0x1p40}, {NULL, 0}};

	return parse_whole(text, reading, units, ret_bytes);
}

int nm_parse_count(const char *text, enum nm_reading reading, uint64_t *ret_count)
{
	static const struct unit decimal[] = {
		{"", 1}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {NULL, 0}};
	static const struct unit binary[] = {{"", 1},	    {"b", 1},	   {"k", 0x1p10},
					     {"m", 0x1p20}, {"g", 0x1p30}, {NULL, 0}};

	return parse_whole(text, reading, reading == NM_READING_UPERF ? binary : decimal,
			   ret_count);
}

int nm_parse_integer(const char *text, uint64_t *ret)
{
	static const struct unit units[] = {{"", 1}, {NULL, 0}};

	return text[strspn(text, "0123456789")]
		       ? -EINVAL
		       : parse_whole(text, NM_READING_NETMODEL, units, ret);
}

int nm_parse_decimal(const char *text, unsigned digits, uint64_t most, uint64_t *ret)
{
	const char *c = text;
	uint64_t number = 0;

	if (!is_digit(*c) && !(*c == '.' && is_digit(c[1])))
		return -EINVAL;
	if (read_digits(&c, INT_MAX, most, &number) < 0)
		return -ERANGE;
	if (*c == '.') {
		c++;
		digits -= (unsigned)read_digits(&c, (int)digits, UINT64_MAX, &number);
	}
	for (; digits > 0; digits--)
		number *= 10;
	if (*c)
		return -EINVAL;
	*ret = number;
	return 0;
}

/* Elsewhere a lone m is minutes. */
static bool has_bare_m(const char *text)
{
	return nm_ascii_equals(text + strspn(text, "0123456789."), "m");
}

/* Nobody means milliseconds by 1min or 5minutes, which uperf would take for these. */
static bool has_minutes(const char *text)
{
	const char *suffix = text + strspn(text, "0123456789.");

	return nm_ascii_lower(suffix[0]) == 'm' && nm_ascii_lower(suffix[1]) == 'i' &&
	       nm_ascii_lower(suffix[2]) == 'n';
}

int nm_parse_duration(const char *text, enum nm_reading reading, uint64_t *ret_ns)
{
	/* uperf's begin behind the first two: it knows nothing longer than a second. */
	static const struct unit units[] = {{"min", 60e9}, {"h", 3600e9}, {"", 1e9},	 {"s", 1e9},
					    {"sec", 1e9},  {"ms", 1e6},	  {"msec", 1e6}, {"m", 1e6},
					    {"us", 1e3},   {"usec", 1e3}, {"u", 1e3},	 {"ns", 1},
					    {"nsec", 1},   {"n", 1},	  {NULL, 0}};
	bool uperf = reading == NM_READING_UPERF;
	uint64_t ns = 0;

	if (uperf && has_minutes(text))
		return -EINVAL;
	int r = parse_whole(text, reading, uperf ? units + 2 : units, &ns);

	if (r < 0)
		return r;
	if (has_bare_m(text) && !uperf)
		return -EDOM;
	*ret_ns = ns;
	return r == 1 || has_bare_m(text);
}

int nm_parse_rate(const char *text, enum nm_reading reading, double *ret_per_s)
{
	static const struct unit decimal[] = {{"", 1},	    {"/s", 1},	  {"k", 1e3},
					      {"k/s", 1e3}, {"m", 1e6},	  {"m/s", 1e6},
					      {"g", 1e9},   {"g/s", 1e9}, {NULL, 0}};
	static const struct unit binary[] = {
		{"", 1},       {"/s", 1},	{"b", 1},      {"k", 0x1p10},	{"k/s", 0x1p10},
		{"m", 0x1p20}, {"m/s", 0x1p20}, {"g", 0x1p30}, {"g/s", 0x1p30}, {NULL, 0}};

	return parse_real(text, reading == NM_READING_UPERF ? binary : decimal, false, ret_per_s);
}

int nm_parse_bitrate(const char *text, double *ret_bps)
{
	static const struct unit units[] = {{"", 1},	{"b/s", 1},    {"bps", 1},    {"B/s", 8},
					    {"k", 1e3}, {"kb/s", 1e3}, {"kbps", 1e3}, {"kB/s", 8e3},
					    {"m", 1e6}, {"mb/s", 1e6}, {"mbps", 1e6}, {"mB/s", 8e6},
					    {"g", 1e9}, {"gb/s", 1e9}, {"gbps", 1e9}, {"gB/s", 8e9},
					    {NULL, 0}};

	return parse_real(text, units, true, ret_bps);
}

static const int powers[] = {1, 10, 100}; /* of ten, by decimals */

static int decimals_of(double value, bool smallest)
{
	if (value >= 100 || (smallest && value == floor(value)))
		return 0;
	return value >= 10 ? 1 : 2;
}

/* The decimal point is a point in every locale, so the printing is done in whole numbers. */
static void print_number(double value, int decimals, const char *name, char *buf, size_t size)
{
	const char *gap = *name ? " " : "";
	const char *sign = value < 0 ? "-" : "";

	if (decimals == 0) {
		snprintf(buf, size, "%.0f%s%s", value, gap, name);
		return;
	}
	long all = lround(fabs(value) * powers[decimals]);

	snprintf(buf, size, "%s%ld.%0*ld%s%s", all ? sign : "", all / powers[decimals], decimals,
		 all % powers[decimals], gap, name);
}

/* Three significant digits with the largest unit that leaves at least 1, also after rounding. */
static char *format_scaled(double value, double step, const char *const *names, size_t n_names,
			   char *buf, size_t size)
{
	size_t i = 0;
	int decimals = 0;

	if (!isfinite(value)) {
		snprintf(buf, size, "-");
		return buf;
	}
	for (;; i++, value /= step) {
		decimals = decimals_of(fabs(value), i == 0);
		double rounded = round(fabs(value) * powers[decimals]) / powers[decimals];

		if (i + 1 < n_names && rounded >= step)
			continue;
		if (decimals)
			decimals = decimals_of(rounded, false);
		break;
	}
	print_number(value, decimals, names[i], buf, size);
	return buf;
}

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

char *nm_format_bitrate(double bps, char *buf, size_t size)
{
	static const char *const names[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"};

	return format_scaled(bps, 1000, names, COUNT_OF(names), buf, size);
}

char *nm_format_duration(double seconds, char *buf, size_t size)
{
	static const char *const names[] = {"ns", "us", "ms", "s"};

	return format_scaled(seconds * 1e9, 1000, names, COUNT_OF(names), buf, size);
}

char *nm_format_size(double bytes, char *buf, size_t size)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

	return format_scaled(bytes, 1024, names, COUNT_OF(names), buf, size);
}

char *nm_format_amount(double bytes, char *buf, size_t size)
{
	static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB"};

	return format_scaled(bytes, 1000, names, COUNT_OF(names), buf, size);
}

char *nm_format_count(double value, char *buf, size_t size)
{
	static const char *const names[] = {"", "k", "M", "G", "T"};

	return format_scaled(value, 1000, names, COUNT_OF(names), buf, size);
}
