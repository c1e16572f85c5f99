/* SPDX-License-Identifier: Apache-2.0 */
/* How laws are written: their forms, and a law as text. */
#include <stdio.h>
#include <string.h>

#include "base/law_priv.h"

/* Names of tables that are written whole. */
#define NAME_MAX_SHOWN 48

const struct nm_law_form nm_law_forms[] = {
	{.name = "const",
	 .kind = NM_LAW_CONST,
	 .args = "A",
	 .whole = true,
	 .params = {NM_LAW_VALUE}},
	{.name = "rand",
	 .kind = NM_LAW_UNIFORM,
	 .args = "A,B",
	 .also = ", A at most B",
	 .whole = true,
	 .params = {NM_LAW_VALUE, NM_LAW_VALUE}},
	{.name = "uniform",
	 .kind = NM_LAW_UNIFORM,
	 .args = "A,B",
	 .also = ", A at most B",
	 .whole = true,
	 .params = {NM_LAW_VALUE, NM_LAW_VALUE}},
	{.name = "exp", .kind = NM_LAW_EXP, .args = "MEAN", .params = {NM_LAW_VALUE}},
	{.name = "normal",
	 .kind = NM_LAW_NORMAL,
	 .args = "MEAN,DEVIATION",
	 .params = {NM_LAW_VALUE, NM_LAW_VALUE}},
	{.name = "lognormal",
	 .kind = NM_LAW_LOGNORMAL,
	 .args = "MEDIAN,S",
	 .also = " and S, of the logarithm, from 0 to 10",
	 .params = {NM_LAW_VALUE, NM_LAW_SIGMA}},
	{.name = "pareto",
	 .kind = NM_LAW_PARETO,
	 .args = "LEAST,SHAPE",
	 .also = " and a shape from 0.1 to 100",
	 .params = {NM_LAW_VALUE, NM_LAW_SHAPE}},
	{.name = "gpareto",
	 .kind = NM_LAW_GPARETO,
	 .args = "LOCATION,SCALE,SHAPE",
	 .also = " and a shape of 0 or from 0.001 to 10",
	 .params = {NM_LAW_SCALE, NM_LAW_SCALE, NM_LAW_TAIL}},
	{.name = "gev",
	 .kind = NM_LAW_GEV,
	 .args = "LOCATION,SCALE,SHAPE",
	 .also = " and a shape of 0 or from 0.001 to 10",
	 .params = {NM_LAW_SCALE, NM_LAW_SCALE, NM_LAW_TAIL}},
	{.name = "zipf",
	 .kind = NM_LAW_ZIPF,
	 .args = "S,N",
	 .also = ", N at least 1, and S, the exponent, from 0 to 10",
	 .bounded = true,
	 .params = {NM_LAW_EXPONENT, NM_LAW_VALUE}},
	{.name = "bimodal",
	 .kind = NM_LAW_BIMODAL,
	 .args = "A,B,P",
	 .also = " and the probability of A from 0 to 1",
	 .bounded = true,
	 .params = {NM_LAW_VALUE, NM_LAW_VALUE, NM_LAW_PROBABILITY}},
	{.name = "discrete",
	 .kind = NM_LAW_DISCRETE,
	 .args = "A:WEIGHT,B:WEIGHT,...",
	 .also = " and weights up to 1000000, one of them more than 0",
	 .bounded = true},
	{.name = "cdf",
	 .kind = NM_LAW_CDF,
	 .args = "A:P,B:P,...",
	 .also = " and probabilities, neither of which falls, the last one 1 or 100; or "
		 "cdf(websearch), cdf(datamining), cdf(vl2), cdf(FILE)",
	 .bounded = true},
	{.name = NULL}};

const char *nm_law_name(size_t n)
{
	return nm_law_forms[n].name;
}

const char *nm_law_form(size_t n, enum nm_law_of of, char *buf, size_t size)
{
	const struct nm_law_form *form = &nm_law_forms[n];
	static const char *const values[] = {[NM_LAW_OF_BYTES] = "sizes",
					     [NM_LAW_OF_NS] = "durations",
					     [NM_LAW_OF_COUNTS] = "counts"};
	bool open = of != NM_LAW_OF_NS && !form->bounded && !form->whole;

	if (!form->name)
		return NULL;
	snprintf(buf, size, "%s(%s%s) with %s%s", form->name, form->args, open ? ";..MAX" : "",
		 values[of], form->also ? form->also : "");
	return buf;
}

/* A real number; or a value with a fraction, which has fewer bits. */
static size_t write_real(uint64_t value, unsigned bits, unsigned digits, char *buf, size_t size)
{
	uint64_t ten = 1, fraction = value & ((UINT64_C(1) << bits) - 1);

	for (unsigned i = 0; i < digits; i++)
		ten *= 10;
	return (size_t)snprintf(
		buf, size, "%llu.%0*llu", (unsigned long long)(value >> bits), (int)digits,
		(unsigned long long)((fraction * ten + (UINT64_C(1) << (bits - 1))) >> bits));
}

static size_t write_param(enum nm_law_param param, uint64_t value, const char *unit, char *buf,
			  size_t size)
{
	const uint64_t fraction = (UINT64_C(1) << NM_LAW_SCALE_BITS) - 1;

	if (param == NM_LAW_SCALE && (value & fraction))
		return write_real(value, NM_LAW_SCALE_BITS, 4, buf, size);
	if (param == NM_LAW_SCALE)
		value >>= NM_LAW_SCALE_BITS;
	if (param == NM_LAW_VALUE || param == NM_LAW_SCALE)
		return (size_t)snprintf(buf, size, "%llu%s", (unsigned long long)value, unit);
	return write_real(value, NM_LAW_REAL_BITS, 9, buf, size);
}

/* What stands between the parentheses, before the first semicolon. */
static size_t write_args(const struct nm_law *law, const struct nm_law_form *form, const char *unit,
			 char *buf, size_t size)
{
	size_t used = 0;

	if (form->params[0] == NM_LAW_NO_PARAM)
		return (size_t)snprintf(buf, size, "%.*s%s", NAME_MAX_SHOWN, law->table->name,
					strlen(law->table->name) > NAME_MAX_SHOWN ? "..." : "");
	for (size_t i = 0; i < NM_LAW_PARAMS && form->params[i] && used < size; i++) {
		if (i > 0)
			used += (size_t)snprintf(buf + used, size - used, ",");
		if (used < size)
			used += write_param(form->params[i], law->params[i], unit, buf + used,
					    size - used);
	}
	return used;
}

char *nm_law_text(const struct nm_law *law, char *buf, size_t size)
{
	const struct nm_law_form *form = nm_law_forms;
	const char *unit = law->of == NM_LAW_OF_NS ? "ns" : "";
	unsigned long long min = law->min, max = law->max;
	size_t used;

	if (law->kind == NM_LAW_CONST) {
		snprintf(buf, size, "%llu%s", min, unit);
		return buf;
	}
	while (form->kind != law->kind)
		form++;
	if (form->whole) {
		snprintf(buf, size, "%s(%llu%s,%llu%s)", form->name, min, unit, max, unit);
		return buf;
	}
	used = (size_t)snprintf(buf, size, "%s(", form->name);
	if (used < size)
		used += write_args(law, form, unit, buf + used, size - used);
	if (used < size)
		snprintf(buf + used, size - used, "%s;%llu%s..%llu%s)", law->steps ? ";step" : "",
			 min, unit, max, unit);
	return buf;
}

bool nm_law_equals(const struct nm_law *a, const struct nm_law *b)
{
	return a->kind == b->kind && a->of == b->of && a->min == b->min && a->max == b->max &&
	       a->steps == b->steps && nm_law_table_equals(a->table, b->table) &&
	       memcmp(a->params, b->params, sizeof a->params) == 0;
}
