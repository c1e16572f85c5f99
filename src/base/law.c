/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of random numbers as text: parsed, checked and written. */
#include "base/law.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/law_priv.h"

#define MAX_VALUE   (UINT64_C(1) << 50)
#define TRIALS	    400
#define MIN_WITHIN  (TRIALS / 20)
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* What a parameter is: a value, or a real number and what it may be. */
enum param { NONE, VALUE, SIGMA, SHAPE, PROBABILITY };

static const struct {
	const char *name;
	enum nm_law_kind kind;
	const char *form;
	enum param params[NM_LAW_PARAMS];
} laws[] = {
	{.name = "exp",
	 .kind = NM_LAW_EXP,
	 .form = "exp(MEAN;..MAX) with sizes",
	 .params = {VALUE}},
	{.name = "normal",
	 .kind = NM_LAW_NORMAL,
	 .form = "normal(MEAN,DEVIATION;..MAX) with sizes",
	 .params = {VALUE, VALUE}},
	{.name = "lognormal",
	 .kind = NM_LAW_LOGNORMAL,
	 .form = "lognormal(MEDIAN,S;..MAX) with sizes and S, of the logarithm, from 0 to 10",
	 .params = {VALUE, SIGMA}},
	{.name = "pareto",
	 .kind = NM_LAW_PARETO,
	 .form = "pareto(LEAST,SHAPE;..MAX) with sizes and a shape from 0.1 to 100",
	 .params = {VALUE, SHAPE}},
	{.name = "bimodal",
	 .kind = NM_LAW_BIMODAL,
	 .form = "bimodal(A,B,P) with two sizes and the probability of A from 0 to 1",
	 .params = {VALUE, VALUE, PROBABILITY}},
	{.name = "cdf", .kind = NM_LAW_CDF, .form = "cdf(websearch), cdf(datamining) or cdf(vl2)"},
};

static bool has_name(const char *text, const char *name)
{
	while (*name)
		if (nm_ascii_lower(*text++) != *name++)
			return false;
	return *text == '(';
}

bool nm_law_is_named(const char *text)
{
	for (size_t i = 0; i < COUNT_OF(laws); i++)
		if (has_name(text, laws[i].name))
			return true;
	return false;
}

const char *nm_law_form(size_t n)
{
	return n < COUNT_OF(laws) ? laws[n].form : NULL;
}

/* A decimal number with at most 9 digits behind the point, never as floating point. */
static int parse_real(const char *text, uint64_t *ret)
{
	uint64_t whole = 0, fraction = 0, unit = 1000000000;
	const char *c = text;

	for (; *c >= '0' && *c <= '9'; c++) {
		whole = whole * 10 + (uint64_t)(*c - '0');
		if (whole > 100)
			return -EINVAL;
	}
	if (c == text)
		return -EINVAL;
	if (*c == '.')
		for (c++; *c >= '0' && *c <= '9' && unit > 1; c++) {
			unit /= 10;
			fraction += unit * (uint64_t)(*c - '0');
		}
	if (*c)
		return -EINVAL;
	*ret = (whole << NM_LAW_REAL_BITS) +
	       ((fraction << NM_LAW_REAL_BITS) + 500000000) / 1000000000;
	return 0;
}

static int parse_value(const char *text, enum nm_reading reading, uint64_t *ret)
{
	int r = nm_parse_size(text, reading, ret);

	return r < 0 || *ret > MAX_VALUE ? -EINVAL : 0;
}

static int parse_param(enum param param, const char *text, enum nm_reading reading, uint64_t *ret)
{
	const uint64_t one = UINT64_C(1) << NM_LAW_REAL_BITS;

	if (param == VALUE)
		return parse_value(text, reading, ret);
	if (parse_real(text, ret) < 0)
		return -EINVAL;
	switch (param) {
	case SIGMA:
		return *ret <= 10 * one ? 0 : -EINVAL;
	case SHAPE:
		return *ret >= one / 10 && *ret <= 100 * one ? 0 : -EINVAL;
	default:
		return *ret <= one ? 0 : -EINVAL;
	}
}

/* The parameters of "A,B": as many as the law has. */
static int parse_params(size_t of, char *text, enum nm_reading reading, struct nm_law *law)
{
	if (law->kind == NM_LAW_CDF) {
		law->table = nm_law_table_find(text);
		return law->table ? 0 : -EINVAL;
	}
	for (size_t i = 0; i < NM_LAW_PARAMS && laws[of].params[i] != NONE; i++) {
		char *comma = text ? strchr(text, ',') : NULL;

		if (comma)
			*comma = '\0';
		if (!text || parse_param(laws[of].params[i], text, reading, &law->params[i]) < 0)
			return -EINVAL;
		text = comma ? comma + 1 : NULL;
	}
	return text ? -EINVAL : 0;
}

/* What lies behind the semicolon: "MIN..MAX", of which either may be left out. */
static int parse_bounds(char *text, enum nm_reading reading, struct nm_law *law)
{
	char *dots = strstr(text, "..");

	if (!dots)
		return -EINVAL;
	*dots = '\0';
	if (*text && parse_value(text, reading, &law->min) < 0)
		return -EINVAL;
	if (dots[2] && parse_value(dots + 2, reading, &law->max) < 0)
		return -EINVAL;
	return 0;
}

static void take_own_bounds(uint64_t least, struct nm_law *law)
{
	const uint64_t *params = law->params;

	law->min = least;
	law->max = 0;
	if (law->kind == NM_LAW_CDF)
		law->max = nm_law_table_largest(law->table);
	if (law->kind == NM_LAW_PARETO)
		law->min = params[0];
	if (law->kind == NM_LAW_BIMODAL) {
		law->min = params[0] < params[1] ? params[0] : params[1];
		law->max = params[0] < params[1] ? params[1] : params[0];
	}
}

static bool is_mostly_within(const struct nm_law *law)
{
	struct nm_law free = *law;
	unsigned within = 0;

	free.min = 0;
	free.max = UINT64_MAX;
	for (uint64_t n = 0; n < TRIALS; n++) {
		uint64_t value = nm_law_draw(&free, 1, n);

		within += value >= law->min && value <= law->max;
	}
	return within >= MIN_WITHIN;
}

static int check_bounds(const struct nm_law *law, char *why, size_t why_size)
{
	if (law->max == 0)
		snprintf(why, why_size,
			 "has no largest size; write it behind a semicolon, as in "
			 "exp(4k;..1m)");
	else if (law->min > law->max)
		snprintf(why, why_size,
			 "the least size, %llu, must not be larger than the "
			 "largest, %llu",
			 (unsigned long long)law->min, (unsigned long long)law->max);
	else if (!is_mostly_within(law))
		snprintf(why, why_size,
			 "fewer than 1 in 20 draws are from %llu to %llu; draws "
			 "outside are made again",
			 (unsigned long long)law->min, (unsigned long long)law->max);
	else
		return 0;
	return -EINVAL;
}

static int parse_as(size_t of, const char *text, enum nm_reading reading, uint64_t least,
		    struct nm_law *law)
{
	char inner[128];
	const char *open = text + strlen(laws[of].name) + 1;
	size_t length = strlen(open);

	if (length < 2 || length > sizeof inner || open[length - 1] != ')')
		return -EINVAL;
	memcpy(inner, open, length - 1);
	inner[length - 1] = '\0';
	char *bounds = strchr(inner, ';');

	if (bounds)
		*bounds++ = '\0';
	*law = (struct nm_law){.kind = laws[of].kind};
	if (parse_params(of, inner, reading, law) < 0)
		return -EINVAL;
	take_own_bounds(least, law);
	return bounds ? parse_bounds(bounds, reading, law) : 0;
}

int nm_law_parse(const char *text, enum nm_reading reading, uint64_t least, struct nm_law *ret,
		 char *why, size_t why_size)
{
	struct nm_law law;
	size_t of = 0;

	while (of < COUNT_OF(laws) && !has_name(text, laws[of].name))
		of++;
	if (of == COUNT_OF(laws) || parse_as(of, text, reading, least, &law) < 0) {
		snprintf(why, why_size, "not of the form %s, without blanks",
			 of < COUNT_OF(laws) ? laws[of].form : "of a law");
		return -EINVAL;
	}
	if (check_bounds(&law, why, why_size) < 0)
		return -EINVAL;
	*ret = law;
	return 0;
}

static size_t write_param(enum param param, uint64_t value, char *buf, size_t size)
{
	const uint64_t half = UINT64_C(1) << (NM_LAW_REAL_BITS - 1);

	if (param == VALUE)
		return (size_t)snprintf(buf, size, "%llu", (unsigned long long)value);
	return (size_t)snprintf(buf, size, "%llu.%09llu",
				(unsigned long long)(value >> NM_LAW_REAL_BITS),
				(unsigned long long)(((value & UINT32_MAX) * 1000000000 + half) >>
						     NM_LAW_REAL_BITS));
}

char *nm_law_text(const struct nm_law *law, char *buf, size_t size)
{
	size_t of = 0, used;

	if (law->kind == NM_LAW_CONST || law->kind == NM_LAW_UNIFORM) {
		snprintf(buf, size, law->kind == NM_LAW_CONST ? "%llu" : "rand(%llu,%llu)",
			 (unsigned long long)law->min, (unsigned long long)law->max);
		return buf;
	}
	while (laws[of].kind != law->kind)
		of++;
	used = (size_t)snprintf(buf, size, "%s(%s", laws[of].name,
				law->table ? law->table->name : "");
	for (size_t i = 0; i < NM_LAW_PARAMS && laws[of].params[i] != NONE && used < size; i++) {
		if (i > 0)
			used += (size_t)snprintf(buf + used, size - used, ",");
		if (used < size)
			used += write_param(laws[of].params[i], law->params[i], buf + used,
					    size - used);
	}
	if (used < size)
		snprintf(buf + used, size - used, ";%llu..%llu)", (unsigned long long)law->min,
			 (unsigned long long)law->max);
	return buf;
}

bool nm_law_equals(const struct nm_law *a, const struct nm_law *b)
{
	return a->kind == b->kind && a->min == b->min && a->max == b->max && a->table == b->table &&
	       memcmp(a->params, b->params, sizeof a->params) == 0;
}
