/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requirements: terms of a figure, an operator and a value with a unit, joined by blanks. */
#include "report/requirement.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "report/named.h"

#define BLANKS	   " \t\r\n"
#define OPERATORS  "<>=!"
#define MAX_DIGITS 18
#define ERRORS	   "errors" /* the member of a window */
#define SHOWN	   40	    /* characters of the text in a message about a place in it */

struct reader {
	const char *at;
	const struct nm_named_list *list;
	const json_t *names;
	char *why;
	size_t why_size;
};

bool nm_requirement_holds(const struct nm_requirement_term *term, double value)
{
	switch (term->relation) {
	case NM_RELATION_LESS:
		return value < term->limit;
	case NM_RELATION_AT_MOST:
		return value <= term->limit;
	case NM_RELATION_MORE:
		return value > term->limit;
	case NM_RELATION_AT_LEAST:
		return value >= term->limit;
	case NM_RELATION_EQUAL:
		return value == term->limit;
	case NM_RELATION_UNEQUAL:
		break;
	}
	return value != term->limit;
}

const char *nm_relation_text(enum nm_relation relation)
{
	static const char *const texts[] = {
		[NM_RELATION_LESS] = "<",   [NM_RELATION_AT_MOST] = "<=",
		[NM_RELATION_MORE] = ">",   [NM_RELATION_AT_LEAST] = ">=",
		[NM_RELATION_EQUAL] = "==", [NM_RELATION_UNEQUAL] = "!=",
	};

	return texts[relation];
}

static void skip_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, BLANKS);
}

/* An error about the place that the reader is at. */
__attribute__((format(printf, 2, 3))) static int wrong(const struct reader *reader, const char *fmt,
						       ...)
{
	char shown[SHOWN + 1];
	va_list args;
	int used;

	snprintf(shown, sizeof(shown), "%s", reader->at);
	nm_make_plain(shown);
	used = *shown ? snprintf(reader->why, reader->why_size, "at \"%s%s\": ", shown,
				 strlen(reader->at) > SHOWN ? "..." : "")
		      : snprintf(reader->why, reader->why_size, "at the end: ");
	va_start(args, fmt);
	if (used >= 0 && (size_t)used < reader->why_size)
		vsnprintf(reader->why + used, reader->why_size - (size_t)used, fmt, args);
	va_end(args);
	return -EINVAL;
}

/* --- values --- */

struct unit {
	const char *name;
	double times, by; /* a division by a power of ten is exact where a factor is not */
};

static const struct unit time_units[] = {{"ns", 1, 1e9}, {"us", 1, 1e6}, {"ms", 1, 1e3},
					 {"s", 1, 1},	 {"min", 60, 1}, {"h", 3600, 1},
					 {NULL, 0, 0}};
static const struct unit byte_units[] = {{"", 1, 1},	     {"B", 1, 1},	 {"kB", 1e3, 1},
					 {"MB", 1e6, 1},     {"GB", 1e9, 1},	 {"TB", 1e12, 1},
					 {"KiB", 0x1p10, 1}, {"MiB", 0x1p20, 1}, {"GiB", 0x1p30, 1},
					 {"TiB", 0x1p40, 1}, {NULL, 0, 0}};
static const struct unit share_units[] = {{"%", 1, 100}, {NULL, 0, 0}};
static const struct unit plain_units[] = {{"", 1, 1},	 {"k", 1e3, 1}, {"K", 1e3, 1},
					  {"M", 1e6, 1}, {"G", 1e9, 1}, {"T", 1e12, 1},
					  {NULL, 0, 0}};
/* Behind one of the plain units. */
static const struct unit rate_ends[] = {{"", 1, 1}, {"/s", 1, 1}, {NULL, 0, 0}};
static const struct unit bit_ends[] = {{"", 1, 1},	 {"b/s", 1, 1}, {"bit/s", 1, 1},
				       {"bits/s", 1, 1}, {"bps", 1, 1}, {"B/s", 8, 1},
				       {NULL, 0, 0}};

static const struct units {
	const struct unit *units, *ends;
	const char *allowed;
} of_quantity[] = {
	[NM_QUANTITY_COUNT] = {plain_units, NULL, "k, M, G, T or none"},
	[NM_QUANTITY_NUMBER] = {plain_units, NULL, "k, M, G, T or none"},
	[NM_QUANTITY_BYTES] = {byte_units, NULL,
			       "B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, "
			       "TiB or none"},
	[NM_QUANTITY_SECONDS] = {time_units, NULL, "ns, us, ms, s, min or h"},
	[NM_QUANTITY_RATE] = {plain_units, rate_ends, "/s, k/s, M/s, k, M or none"},
	[NM_QUANTITY_BITRATE] = {plain_units, bit_ends,
				 "b/s, kb/s, Mb/s, Gb/s, MB/s (bytes), k, M, "
				 "G or none"},
	[NM_QUANTITY_SHARE] = {share_units, NULL, "%"},
};

static const struct unit *find_unit(const struct unit *units, const char *word, size_t length)
{
	for (; units->name; units++)
		if (strlen(units->name) == length && strncmp(units->name, word, length) == 0)
			return units;
	return NULL;
}

/* The factor of a unit: 0 or -EINVAL. */
static int unit_factor(const struct units *units, const char *word, size_t length,
		       double *ret_times, double *ret_by)
{
	const struct unit *unit = find_unit(units->units, word, length), *end;

	for (size_t cut = 0; !unit && units->ends && cut <= length && cut <= 1; cut++) {
		end = find_unit(units->ends, word + cut, length - cut);
		unit = end ? find_unit(units->units, word, cut) : NULL;
		if (!unit)
			continue;
		*ret_times = unit->times * end->times;
		*ret_by = unit->by * end->by;
		return 0;
	}
	if (!unit)
		return -EINVAL;
	*ret_times = unit->times;
	*ret_by = unit->by;
	return 0;
}

/* Digits with an optional sign and fraction; nothing that depends on the locale. */
static int read_number(struct reader *reader, double *ret_number)
{
	const char *p = reader->at;
	double sign = *p == '-' ? -1 : 1, number = 0, scale = 1;
	int digits = 0;
	bool point = false;

	p += *p == '-' || *p == '+';
	for (; (*p >= '0' && *p <= '9') || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		if (++digits > MAX_DIGITS)
			return wrong(reader, "a number has at most %d digits", MAX_DIGITS);
		number = number * 10 + (*p - '0');
		scale *= point ? 10 : 1;
	}
	if (!digits)
		return wrong(reader, "a number must stand here, as in 10ms or 100k");
	reader->at = p;
	*ret_number = sign * number / scale;
	return 0;
}

/* Words by which other languages join terms. */
static bool is_joint(const char *word, size_t length)
{
	static const char *const joints[] = {"and", "&&", "&", ",", "or", "||"};

	for (size_t i = 0; i < sizeof(joints) / sizeof(joints[0]); i++)
		if (strlen(joints[i]) == length && strncmp(joints[i], word, length) == 0)
			return true;
	return false;
}

/* The length of the unit behind a number, at which the reader then is. A word behind blanks is a
 * unit, unless an operator follows it: then it is the figure of the next term. */
static size_t unit_length(struct reader *reader)
{
	size_t length = strcspn(reader->at, BLANKS OPERATORS);
	const char *word = reader->at + strspn(reader->at, BLANKS), *behind;

	if (length)
		return length;
	length = strcspn(word, BLANKS OPERATORS);
	behind = word + length + strspn(word + length, BLANKS);
	if (!length || (*behind && strchr(OPERATORS, *behind)) || is_joint(word, length))
		return 0;
	reader->at = word;
	return length;
}

#define JOINT "blanks alone join terms, and mean \"and\"; there is no \"or\""

/* Refuses a word that is no unit. A comma in it stands where terms are to be joined, unless
 * it is meant as the point of a number. */
static int refuse_unit(struct reader *reader, const struct nm_requirement_term *term, size_t length)
{
	const char *comma = memchr(reader->at, ',', length);

	if (comma && !(comma[1] >= '0' && comma[1] <= '9')) {
		reader->at = comma;
		return wrong(reader, JOINT);
	}
	return wrong(reader, "%s is %s: its units are %s%s", term->figure,
		     nm_quantity_text(term->quantity), of_quantity[term->quantity].allowed,
		     term->is_of_errors ? ", or % of all passes" : "");
}

/* Makes the term one of a share of the passes. */
static int make_share(struct nm_requirement_term *term)
{
	size_t prefix = strlen(term->figure) - strlen(ERRORS);

	term->quantity = NM_QUANTITY_SHARE;
	if (asprintf(&term->passes, "%.*stransactions", (int)prefix, term->figure) < 0 ||
	    asprintf(&term->unanswered, "%.*smessages.unanswered", (int)prefix, term->figure) < 0)
		return -ENOMEM;
	return 0;
}

static int read_limit(struct reader *reader, struct nm_requirement_term *term)
{
	const struct units *units;
	double number = 0, times = 1, by = 1;
	int error = read_number(reader, &number);
	size_t length = error ? 0 : unit_length(reader);

	if (!error && term->is_of_errors && length == 1 && *reader->at == '%')
		error = make_share(term);
	if (error)
		return error;
	units = &of_quantity[term->quantity];
	if (length == 0 && (number == 0 || find_unit(units->units, "", 0))) {
		term->limit = number;
		return 0;
	}
	if (length == 0)
		return wrong(reader, "%s needs a unit: %s", nm_quantity_text(term->quantity),
			     units->allowed);
	if (term->quantity == NM_QUANTITY_SECONDS && length == 1 && *reader->at == 'm')
		return wrong(reader, "m may be minutes or milliseconds: write min or ms");
	if (unit_factor(units, reader->at, length, &times, &by) != 0)
		return refuse_unit(reader, term, length);
	reader->at += length;
	term->limit = number * times / by;
	return 0;
}

/* --- terms --- */

static int read_relation(struct reader *reader, enum nm_relation *ret_relation)
{
	static const struct {
		const char *word;
		enum nm_relation relation;
	} relations[] = {
		{"<=", NM_RELATION_AT_MOST}, {">=", NM_RELATION_AT_LEAST},
		{"==", NM_RELATION_EQUAL},   {"!=", NM_RELATION_UNEQUAL},
		{"<", NM_RELATION_LESS},     {">", NM_RELATION_MORE},
	};
	size_t length = strspn(reader->at, OPERATORS);

	for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
		if (length != strlen(relations[i].word) ||
		    strncmp(reader->at, relations[i].word, length) != 0)
			continue;
		*ret_relation = relations[i].relation;
		reader->at += length;
		return 0;
	}
	if (length == 0)
		return wrong(reader, "an operator must stand here: <, <=, >, >=, == or !=");
	return wrong(reader, "no operator; did you mean %s?",
		     strncmp(reader->at, "=<", 2) == 0	 ? "<="
		     : strncmp(reader->at, "=>", 2) == 0 ? ">="
		     : strncmp(reader->at, "!", 1) == 0	 ? "!="
		     : strncmp(reader->at, "<>", 2) == 0 ? "!="
		     : strncmp(reader->at, "<", 1) == 0	 ? "<="
		     : strncmp(reader->at, ">", 1) == 0	 ? ">="
							 : "==");
}

static int read_figure(struct reader *reader, struct nm_requirement_term *term)
{
	size_t length = strcspn(reader->at, BLANKS OPERATORS);
	struct nm_named_at at;
	char why[512];

	if (length == 0)
		return wrong(reader, "a figure must stand here, as latency.p99");
	if (is_joint(reader->at, length))
		return wrong(reader, JOINT);
	term->figure = strndup(reader->at, length);
	if (!term->figure)
		return -ENOMEM;
	if (nm_named_find(reader->list, reader->names, term->figure, &at, why, sizeof(why)) != 0) {
		snprintf(reader->why, reader->why_size, "%s", why);
		nm_make_plain(reader->why);
		return -EINVAL;
	}
	term->quantity = at.named.quantity;
	term->percentile = at.percentile;
	term->is_of_errors = strcmp(at.named.member, ERRORS) == 0;
	reader->at += length;
	return 0;
}

static int read_term(struct reader *reader, struct nm_requirement_term *term)
{
	int error = read_figure(reader, term);

	if (error)
		return error;
	skip_blanks(reader);
	error = read_relation(reader, &term->relation);
	if (error)
		return error;
	skip_blanks(reader);
	return read_limit(reader, term);
}

static void term_fini(struct nm_requirement_term *term)
{
	free(term->figure);
	free(term->passes);
	free(term->unanswered);
	*term = (struct nm_requirement_term){.figure = NULL};
}

static void requirement_fini(struct nm_requirement *requirement)
{
	for (size_t i = 0; i < requirement->n_terms; i++)
		term_fini(&requirement->terms[i]);
	free(requirement->terms);
	free(requirement->text);
	free(requirement->origin);
	*requirement = (struct nm_requirement){.text = NULL};
}

/* Takes the term over. */
static int add_term(struct nm_requirement *requirement, struct nm_requirement_term *term)
{
	struct nm_requirement_term *terms =
		realloc(requirement->terms, (requirement->n_terms + 1) * sizeof(*terms));

	if (!terms)
		return -ENOMEM;
	requirement->terms = terms;
	terms[requirement->n_terms++] = *term;
	*term = (struct nm_requirement_term){.figure = NULL};
	return 0;
}

/* A new one at the end of the list, of the text up to `end`. NULL: out of memory. */
static struct nm_requirement *begin_requirement(struct nm_requirements *list, const char *text,
						const char *end, const char *origin, bool negated)
{
	struct nm_requirement *items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (!items)
		return NULL;
	list->items = items;
	struct nm_requirement *made = &items[list->count];

	*made = (struct nm_requirement){.text = strndup(text, (size_t)(end - text)),
					.origin = strdup(origin),
					.negated = negated};
	if (!made->text || !made->origin) {
		requirement_fini(made);
		return NULL;
	}
	nm_make_plain(made->text);
	list->count++;
	return made;
}

static int read_all(struct reader *reader, struct nm_requirements *list, const char *origin,
		    bool negated)
{
	struct nm_requirement *requirement = NULL;
	const char *end = reader->at + strlen(reader->at);

	skip_blanks(reader);
	while (end > reader->at && strchr(BLANKS, end[-1]))
		end--;
	do {
		struct nm_requirement_term term = {.figure = NULL};
		const char *begin = reader->at;
		int error = read_term(reader, &term);

		if (!error && (!requirement || !negated)) {
			requirement = begin_requirement(list, begin, negated ? end : reader->at,
							origin, negated);
			error = requirement ? 0 : -ENOMEM;
		}
		if (!error)
			error = add_term(requirement, &term);
		term_fini(&term);
		if (error)
			return error;
		skip_blanks(reader);
	} while (*reader->at);
	return 0;
}

int nm_requirements_add(struct nm_requirements *requirements, const char *text, const char *origin,
			bool negated, const struct nm_plan *plan, char *why, size_t why_size)
{
	struct nm_requirements added = {.items = NULL};
	struct nm_requirement *items = NULL;
	struct nm_named_list list;
	json_t *names = nm_named_of_plan(plan);
	int error = nm_named_list(&list);
	struct reader reader = {
		.at = text, .list = &list, .names = names, .why = why, .why_size = why_size};

	if (!error)
		error = names ? read_all(&reader, &added, origin, negated) : -ENOMEM;
	if (!error)
		items = realloc(requirements->items,
				(requirements->count + added.count) * sizeof(*items));
	if (items) {
		memcpy(items + requirements->count, added.items, added.count * sizeof(*items));
		requirements->items = items;
		requirements->count += added.count;
		added.count = 0;
	} else if (!error) {
		error = -ENOMEM;
	}
	nm_requirements_fini(&added);
	nm_named_fini(&list);
	json_decref(names);
	if (error == -ENOMEM)
		snprintf(why, why_size, "out of memory");
	return error;
}

int nm_requirements_percentiles(const struct nm_requirements *requirements,
				struct nm_percentiles *percentiles)
{
	int error = 0;

	for (size_t i = 0; i < requirements->count; i++)
		for (size_t k = 0; k < requirements->items[i].n_terms && !error; k++)
			if (!isnan(requirements->items[i].terms[k].percentile))
				error = nm_percentiles_add(
					percentiles, requirements->items[i].terms[k].percentile);
	return error;
}

void nm_requirements_fini(struct nm_requirements *requirements)
{
	for (size_t i = 0; i < requirements->count; i++)
		requirement_fini(&requirements->items[i]);
	free(requirements->items);
	*requirements = (struct nm_requirements){.items = NULL};
}
