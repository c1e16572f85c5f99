/* SPDX-License-Identifier: Apache-2.0 */
/* The one parser of laws: their text is read and checked. */
#include "base/law.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/diag.h"
#include "base/fixed.h"
#include "base/law_priv.h"

#define TRIALS	    400
#define MIN_WITHIN  (TRIALS / 20)
#define MAX_WEIGHT  1000000
#define WHOLE_MAX   (UINT64_C(1) << 31) /* of a value with a fraction */
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static const char *const value[] = {
	[NM_LAW_OF_BYTES] = "size", [NM_LAW_OF_NS] = "duration", [NM_LAW_OF_COUNTS] = "count"};

/* A law that is being read. */
struct reader {
	enum nm_law_of of;
	enum nm_reading reading;
	const struct nm_law_form *form;
	struct nm_law law;
};

/* A decimal number with at most 9 digits behind the point, never as floating point. */
static int parse_real(const char *text, uint64_t most, uint64_t *ret)
{
	uint64_t whole = 0, fraction = 0, unit = 1000000000;
	const char *c = text;

	for (; *c >= '0' && *c <= '9'; c++) {
		whole = whole * 10 + (uint64_t)(*c - '0');
		if (whole > most)
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

static int parse_value(const struct reader *r, const char *text, uint64_t *ret)
{
	int (*parse)(const char *text, enum nm_reading reading, uint64_t *ret) =
		r->of == NM_LAW_OF_NS	    ? nm_parse_duration
		: r->of == NM_LAW_OF_COUNTS ? nm_parse_count
					    : nm_parse_size;
	int error = parse(text, r->reading, ret);

	return error < 0 || *ret > NM_LAW_MAX ? -EINVAL : 0;
}

/* A value with a fraction; behind a unit there is none. */
static int parse_scale(const struct reader *r, const char *text, uint64_t *ret)
{
	const unsigned off = NM_LAW_REAL_BITS - NM_LAW_SCALE_BITS;

	if (r->of != NM_LAW_OF_NS && parse_real(text, WHOLE_MAX, ret) == 0) {
		*ret = (*ret + (UINT64_C(1) << (off - 1))) >> off;
		return 0;
	}
	if (parse_value(r, text, ret) < 0)
		return -EINVAL;
	*ret <<= NM_LAW_SCALE_BITS;
	return 0;
}

static int parse_param(const struct reader *r, enum nm_law_param param, const char *text,
		       uint64_t *ret)
{
	const uint64_t one = UINT64_C(1) << NM_LAW_REAL_BITS;

	if (param == NM_LAW_VALUE)
		return parse_value(r, text, ret);
	if (param == NM_LAW_SCALE)
		return parse_scale(r, text, ret);
	if (parse_real(text, 100, ret) < 0)
		return -EINVAL;
	switch (param) {
	case NM_LAW_SHAPE:
		return *ret >= one / 10 && *ret <= 100 * one ? 0 : -EINVAL;
	case NM_LAW_TAIL:
		return *ret == 0 || (*ret >= one / 1000 && *ret <= 10 * one) ? 0 : -EINVAL;
	case NM_LAW_PROBABILITY:
		return *ret <= one ? 0 : -EINVAL;
	default:
		return *ret <= 10 * one ? 0 : -EINVAL;
	}
}

/* The parameters of "A,B": as many as the law has. */
static int parse_params(struct reader *r, char *text)
{
	for (size_t i = 0; i < NM_LAW_PARAMS && r->form->params[i]; i++) {
		char *comma = text ? strchr(text, ',') : NULL;

		if (comma)
			*comma = '\0';
		if (!text || parse_param(r, r->form->params[i], text, &r->law.params[i]) < 0)
			return -EINVAL;
		text = comma ? comma + 1 : NULL;
	}
	if (text)
		return -EINVAL;
	if (r->law.kind != NM_LAW_ZIPF)
		return 0;
	if (r->law.params[1] == 0)
		return -EINVAL;
	r->law.table = nm_law_table_new_zipf(r->law.params[0], r->law.params[1]);
	r->law.owns_table = true;
	return r->law.table ? 0 : -ENOMEM;
}

static int by_value(const void *a, const void *b)
{
	const struct nm_law_point *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* The points of "A:REAL,B:REAL": reals of at most `most`, as they stand, into below. Returns their
 * number, at most NM_LAW_MAX_POINTS, or -EINVAL. */
static int parse_points(const struct reader *r, const char *text, uint64_t most,
			struct nm_law_point *points)
{
	const uint64_t half = UINT64_C(1) << (NM_LAW_SCALE_BITS - 1);
	int count = 0;

	for (bool more = true; more; count++) {
		size_t length = strcspn(text, ",");
		char item[64], *colon;

		if (count == NM_LAW_MAX_POINTS || length >= sizeof item)
			return -EINVAL;
		memcpy(item, text, length);
		item[length] = '\0';
		colon = strchr(item, ':');
		if (!colon)
			return -EINVAL;
		*colon = '\0';
		if (parse_scale(r, item, &points[count].value) < 0 ||
		    parse_real(colon + 1, most, &points[count].below) < 0)
			return -EINVAL;
		points[count].value = (points[count].value + half) >> NM_LAW_SCALE_BITS;
		more = text[length] == ',';
		text += length + more;
	}
	return count;
}

/* Makes weights probabilities. */
static int weigh(struct nm_law_point *points, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = points[i].below > most ? points[i].below : most;
	if (most == 0)
		return -EINVAL;
	qsort(points, count, sizeof *points, by_value);
	nm_law_points_weigh(points, count);
	return 0;
}

/* Makes what stands behind the colons, up to 1 or 100, probabilities. */
static int check_rising(struct nm_law_point *points, size_t count)
{
	const uint64_t one = UINT64_C(1) << NM_LAW_REAL_BITS;
	uint64_t last = points[count - 1].below;

	if (last != one && last != 100 * one)
		return -EINVAL;
	for (size_t i = 1; i < count; i++)
		if (points[i].value < points[i - 1].value || points[i].below < points[i - 1].below)
			return -EINVAL;
	for (size_t i = 0; i < count; i++)
		points[i].below = nm_fixed_scale(points[i].below,
						 last == one ? NM_LAW_WHOLE : NM_LAW_WHOLE / 100,
						 NM_LAW_REAL_BITS);
	return 0;
}

static int parse_table(struct reader *r, const char *text)
{
	bool weights = r->law.kind == NM_LAW_DISCRETE;
	struct nm_law_point *points = malloc(NM_LAW_MAX_POINTS * sizeof *points);
	int count = points ? parse_points(r, text, weights ? MAX_WEIGHT : 100, points) : -ENOMEM;
	int error = count < 0 ? count
		    : weights ? weigh(points, (size_t)count)
			      : check_rising(points, (size_t)count);

	if (error == 0) {
		r->law.table = nm_law_table_new(text, points, (size_t)count);
		r->law.owns_table = true;
		error = r->law.table ? 0 : -ENOMEM;
	}
	free(points);
	return error;
}

static int parse_args(struct reader *r, char *text)
{
	if (r->law.kind != NM_LAW_DISCRETE && r->law.kind != NM_LAW_CDF)
		return parse_params(r, text);
	if (r->law.kind == NM_LAW_CDF)
		r->law.table = nm_law_table_find(text);
	return r->law.table ? 0 : parse_table(r, text);
}

/* "MIN..MAX", of which either may be left out. */
static int parse_bounds(struct reader *r, char *text)
{
	char *dots = strstr(text, "..");

	if (!dots)
		return -EINVAL;
	*dots = '\0';
	if (*text && parse_value(r, text, &r->law.min) < 0)
		return -EINVAL;
	if (dots[2] && parse_value(r, dots + 2, &r->law.max) < 0)
		return -EINVAL;
	return 0;
}

/* What lies behind the first semicolon. */
static int parse_modifiers(struct reader *r, char *text)
{
	while (text) {
		char *next = strchr(text, ';');

		if (next)
			*next++ = '\0';
		if (r->law.kind == NM_LAW_CDF && nm_ascii_equals(text, "step"))
			r->law.steps = true;
		else if (r->form->whole || parse_bounds(r, text) < 0)
			return -EINVAL;
		text = next;
	}
	return 0;
}

static void take_own_bounds(struct reader *r, uint64_t least)
{
	struct nm_law *law = &r->law;
	const uint64_t *params = law->params;

	law->min = least;
	if (law->kind == NM_LAW_CONST || law->kind == NM_LAW_UNIFORM) {
		law->min = params[0];
		law->max = law->kind == NM_LAW_CONST ? params[0] : params[1];
	} else if (law->kind == NM_LAW_BIMODAL) {
		law->min = params[0] < params[1] ? params[0] : params[1];
		law->max = params[0] < params[1] ? params[1] : params[0];
	} else if (law->kind == NM_LAW_ZIPF) {
		law->min = 1;
		law->max = params[1];
	} else if (law->table) {
		law->max = nm_law_table_largest(law->table);
		if (law->kind == NM_LAW_DISCRETE)
			law->min = nm_law_table_smallest(law->table);
	} else if (r->of == NM_LAW_OF_NS) {
		uint64_t low = nm_law_value(law, 1), high = nm_law_value(law, UINT64_MAX);

		law->max = low > high ? low : high;
		law->max = law->max < NM_LAW_MAX ? law->max : NM_LAW_MAX;
	}
	if (law->kind == NM_LAW_PARETO)
		law->min = params[0];
}

static bool is_mostly_within(const struct nm_law *law)
{
	struct nm_law free = *law;
	unsigned within = 0;

	free.min = 0;
	free.max = NM_LAW_REJECTED - 1;
	for (uint64_t n = 0; n < TRIALS && within < MIN_WITHIN; n++) {
		uint64_t drawn = nm_law_draw(&free, 1, n);

		within += drawn >= law->min && drawn <= law->max;
	}
	return within >= MIN_WITHIN;
}

static char *bound_text(const struct nm_law *law, uint64_t bound, char *buf, size_t size)
{
	if (law->of == NM_LAW_OF_NS)
		return nm_format_duration((double)bound * 1e-9, buf, size);
	snprintf(buf, size, "%llu", (unsigned long long)bound);
	return buf;
}

static int check_bounds(const struct nm_law *law, bool whole, char *why, size_t why_size)
{
	char min[32], max[32];

	bound_text(law, law->min, min, sizeof min);
	bound_text(law, law->max, max, sizeof max);
	if (law->max == 0 && law->of != NM_LAW_OF_NS && !whole)
		snprintf(why, why_size, "has no largest %s; write it behind a semicolon, as in %s",
			 value[law->of],
			 law->of == NM_LAW_OF_BYTES ? "exp(4k;..1m)" : "exp(4;..100)");
	else if (law->min > law->max)
		snprintf(why, why_size, "the least %s, %s, must not be larger than the largest, %s",
			 value[law->of], min, max);
	else if (!whole && !is_mostly_within(law))
		snprintf(why, why_size,
			 "fewer than 1 in 20 draws are from %s to %s; draws outside are made again",
			 min, max);
	else
		return 0;
	return -EINVAL;
}

static void refuse_name(const char *text, char *why, size_t why_size)
{
	const char *names[32], *nearest;
	size_t count = 0, used;
	char word[16];

	for (const struct nm_law_form *form = nm_law_forms; form->name; form++)
		names[count++] = form->name;
	snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "("), text);
	nearest = nm_nearest(word, names, count);
	used = (size_t)snprintf(why, why_size, "unknown law \"%s\"%s%s%s; must be one of:", word,
				nearest ? ", did you mean " : "", nearest ? nearest : "",
				nearest ? "?" : "");
	for (size_t i = 0; i < count && used < why_size; i++)
		used += (size_t)snprintf(why + used, why_size - used, "%s %s", i ? "," : "",
					 names[i]);
}

static void refuse_form(const struct reader *r, char *why, size_t why_size)
{
	char form[256];

	snprintf(why, why_size, "not of the form %s, without blanks",
		 nm_law_form((size_t)(r->form - nm_law_forms), r->of, form, sizeof form));
}

static const struct nm_law_form *find_form(const char *text)
{
	const struct nm_law_form *form = nm_law_forms;

	for (; form->name; form++) {
		size_t length = strlen(form->name), i = 0;

		while (i < length && nm_ascii_lower(text[i]) == form->name[i])
			i++;
		if (i == length && text[i] == '(')
			return form;
	}
	return NULL;
}

/* Reads what stands between the parentheses. The text is changed. */
static int read_inner(struct reader *r, char *text, uint64_t least)
{
	size_t length = strlen(text);
	char *modifiers;

	if (length < 2 || text[length - 1] != ')')
		return -EINVAL;
	text[length - 1] = '\0';
	modifiers = strchr(text, ';');
	if (modifiers)
		*modifiers++ = '\0';
	int error = parse_args(r, text);

	if (error < 0)
		return error;
	take_own_bounds(r, least);
	return parse_modifiers(r, modifiers);
}

int nm_law_parse(const char *text, enum nm_law_of of, enum nm_reading reading, uint64_t least,
		 struct nm_law *ret, char *why, size_t why_size)
{
	struct reader r = {.of = of, .reading = reading, .form = find_form(text)};

	if (!r.form) {
		refuse_name(text, why, why_size);
		return -EINVAL;
	}
	r.law.kind = r.form->kind;
	r.law.of = of;
	char *inner = strdup(text + strlen(r.form->name) + 1);
	int error = inner ? read_inner(&r, inner, least) : -ENOMEM;

	free(inner);
	if (error == -EINVAL)
		refuse_form(&r, why, why_size);
	else if (error < 0)
		snprintf(why, why_size, "out of memory");
	else
		error = check_bounds(&r.law, r.form->whole, why, why_size);
	if (error < 0) {
		nm_law_fini(&r.law);
		return error;
	}
	*ret = r.law;
	return 0;
}

void nm_law_fini(struct nm_law *law)
{
	if (law->owns_table)
		free((void *)(uintptr_t)law->table);
	*law = (struct nm_law){.kind = NM_LAW_CONST};
}
