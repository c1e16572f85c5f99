/* SPDX-License-Identifier: Apache-2.0 */
/* Reads ranges in the units of a parameter's type. */
#include "search/range.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define FORM	     "must be FROM..TO, with a step behind it for --scan, as 10..50:10 or 1..64:*2"
#define LEAST_FACTOR 1.01
#define MOST	     1e15 /* every whole number up to it is a double */
#define NUMBER	     48

/* What a number with a unit is made of. */
#define LETTERS "0123456789.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/"

struct parts {
	char from[NUMBER], to[NUMBER], step[NUMBER]; /* step "": none */
};

static int copy_part(char part[NUMBER], const char *begin, size_t length)
{
	if (length == 0 || length >= NUMBER)
		return -EINVAL;
	snprintf(part, NUMBER, "%.*s", (int)length, begin);
	return 0;
}

/* Finds the range in its text, and takes it apart: 0 or -EINVAL. */
static int find_parts(struct nm_range *range, struct parts *parts)
{
	const char *text = range->text, *dots = strstr(text, ".."), *begin = dots, *end;

	*parts = (struct parts){.step = ""};
	if (!dots)
		return -EINVAL;
	while (begin > text && strchr(LETTERS, begin[-1]))
		begin--;
	end = dots + 2 + strspn(dots + 2, LETTERS);
	if (copy_part(parts->from, begin, (size_t)(dots - begin)) != 0 ||
	    copy_part(parts->to, dots + 2, (size_t)(end - dots - 2)) != 0)
		return -EINVAL;
	range->has_step = *end == ':';
	if (range->has_step) {
		const char *step = end + 1 + (end[1] == '*');

		range->is_factor = end[1] == '*';
		end = step + strspn(step, LETTERS);
		if (copy_part(parts->step, step, (size_t)(end - step)) != 0)
			return -EINVAL;
	}
	range->before = (size_t)(begin - text);
	range->after = (size_t)(end - text);
	return strstr(end, "..") ? -EINVAL : 0;
}

/* A number in the base unit of the type, and how those are written: 0 or -EINVAL. */
static int parse_number(const char *text, enum nm_type type, enum nm_reading reading, double *ret,
			const char **ret_suffix)
{
	uint64_t whole = 0;
	int error = -EINVAL;

	*ret = 0;
	*ret_suffix = "";
	switch (type) {
	case NM_TYPE_COUNT:
	case NM_TYPE_COUNTS:
	case NM_TYPE_INTEGER:
	case NM_TYPE_PORT:
		error = nm_parse_count(text, reading, &whole);
		break;
	case NM_TYPE_SIZE:
	case NM_TYPE_SIZES:
		error = nm_parse_size(text, reading, &whole);
		break;
	case NM_TYPE_DURATION:
	case NM_TYPE_DURATIONS:
		*ret_suffix = "ns";
		error = nm_parse_duration(text, reading, &whole);
		break;
	case NM_TYPE_BITRATE:
		*ret_suffix = "b/s";
		return nm_parse_bitrate(text, ret);
	case NM_TYPE_RATE:
	case NM_TYPE_STRING:
		*ret_suffix = strstr(text, "/s") ? "/s" : "";
		return nm_parse_rate(text, reading, ret);
	default:
		return -EINVAL;
	}
	*ret = (double)whole;
	return error;
}

static bool has_numbers(enum nm_type type)
{
	return type != NM_TYPE_FLAG && type != NM_TYPE_HOST && type != NM_TYPE_ENUM;
}

static bool is_whole(double value)
{
	return value >= 1 && value <= MOST && value == floor(value);
}

static int read_parts(struct nm_range *range, const struct parts *parts, enum nm_type type,
		      enum nm_reading reading, char *why, size_t why_size)
{
	const char *suffix;
	char *end;

	if (!has_numbers(type)) {
		snprintf(why, why_size, "a parameter of the type %s has no range",
			 nm_type_name(type));
		return -EINVAL;
	}
	if (parse_number(parts->from, type, reading, &range->from, &suffix) != 0 ||
	    parse_number(parts->to, type, reading, &range->to, &range->suffix) != 0 ||
	    !is_whole(range->from) || !is_whole(range->to) || range->from > range->to) {
		snprintf(
			why, why_size,
			"%s..%s: must be two whole values of the type %s, from 1 on, the lower one "
			"first",
			parts->from, parts->to,
			nm_type_name(type == NM_TYPE_STRING ? NM_TYPE_RATE : type));
		return -EINVAL;
	}
	if (!range->has_step)
		return 0;
	if (range->is_factor) {
		range->step = strtod(parts->step, &end);
		if (*end || !(range->step >= LEAST_FACTOR)) {
			snprintf(why, why_size, ":*%s: a factor must be a number from %g on",
				 parts->step, LEAST_FACTOR);
			return -EINVAL;
		}
	} else if (parse_number(parts->step, type, reading, &range->step, &suffix) != 0 ||
		   !is_whole(range->step)) {
		snprintf(why, why_size, ":%s: a step must be a whole value of the same type",
			 parts->step);
		return -EINVAL;
	}
	if (nm_range_count(range) <= NM_RANGE_MAX)
		return 0;
	snprintf(why, why_size, "at most %d values, and these are more", NM_RANGE_MAX);
	return -EINVAL;
}

int nm_range_parse(const char *text, enum nm_type type, enum nm_reading reading,
		   struct nm_range *ret_range, char *why, size_t why_size)
{
	struct parts parts;

	*ret_range = (struct nm_range){.text = strdup(text), .suffix = ""};
	if (!ret_range->text) {
		snprintf(why, why_size, "out of memory");
		return -ENOMEM;
	}
	if (find_parts(ret_range, &parts) == 0)
		return read_parts(ret_range, &parts, type, reading, why, why_size);
	snprintf(why, why_size, FORM);
	return -EINVAL;
}

/* Walks along at most `most` values: how many there are, and the last of those. Steps that round to
 * the same number are one value. */
static size_t walk(const struct nm_range *range, size_t most, double *ret_last)
{
	size_t count = 0;

	for (double i = 0; count < most; i++) {
		double value = round(range->is_factor ? range->from * pow(range->step, i)
						      : range->from + range->step * i);

		if (value > range->to)
			break;
		count += count == 0 || value > *ret_last;
		*ret_last = value;
	}
	return count;
}

size_t nm_range_count(const struct nm_range *range)
{
	double last;

	return walk(range, NM_RANGE_MAX + 1, &last);
}

double nm_range_value(const struct nm_range *range, size_t index)
{
	double last = range->from;

	(void)walk(range, index + 1, &last);
	return last;
}

char *nm_range_text(const struct nm_range *range, double value)
{
	char *text = NULL;

	if (asprintf(&text, "%.*s%.0f%s%s", (int)range->before, range->text, value, range->suffix,
		     range->text + range->after) < 0)
		return NULL;
	return text;
}

void nm_range_fini(struct nm_range *range)
{
	free(range->text);
	*range = (struct nm_range){.text = NULL};
}
