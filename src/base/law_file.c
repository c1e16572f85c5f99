/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the points of distribution functions from the text of files. */
#include "base/law_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/law_priv.h"
#include "base/units.h"

#define BLANKS	     " \t\r"
#define VALUE_DIGITS 6 /* behind the point */
#define VALUE_ONE    UINT64_C(1000000)
#define VALUE_MAX    UINT64_C(1000000000000)
#define BELOW_DIGITS 9
#define BELOW_ONE    UINT64_C(1000000000)
#define MOST_SHOWN   24 /* bytes of what is wrong */

/* What is read of a file, up to one line. */
struct points {
	char *buf;
	size_t size, used;
	uint64_t factor;    /* of the unit */
	const char *suffix; /* of the unit */
	bool any;
	unsigned count;
	uint64_t value, below; /* of the last line */
	char *why;
	size_t why_size;
};

bool nm_law_names_file(const char *text, size_t length)
{
	char name[32];

	if (memchr(text, ':', length) && *text >= '0' && *text <= '9')
		return false;
	if (length >= sizeof name)
		return true;
	memcpy(name, text, length);
	name[length] = '\0';
	return !nm_law_table_find(name);
}

static int refuse(struct points *p, const char *what, const char *text)
{
	snprintf(p->why, p->why_size, "\"%.*s\": %s", MOST_SHOWN, text, what);
	return -EINVAL;
}

static int put(struct points *p, uint64_t value, const char *below)
{
	char fraction[VALUE_DIGITS + 2] = "";
	size_t length;

	value *= p->factor;
	if (value % VALUE_ONE) {
		snprintf(fraction, sizeof fraction, ".%06llu",
			 (unsigned long long)(value % VALUE_ONE));
		for (length = strlen(fraction); fraction[length - 1] == '0'; length--)
			fraction[length - 1] = '\0';
	}
	p->used += (size_t)snprintf(p->buf + p->used, p->size - p->used, "%s%llu%s%s:%s%s",
				    p->any ? "," : "", (unsigned long long)(value / VALUE_ONE),
				    fraction, p->suffix, *below == '.' ? "0" : "", below);
	if (p->used < p->size)
		return 0;
	snprintf(p->why, p->why_size,
		 "the points before it are too many already: at most %zu bytes", p->size - 1);
	return -EINVAL;
}

static int read_line(struct points *p, char *line)
{
	char *save = NULL, *columns[4], *last;
	uint64_t value, below;
	size_t count = 0;

	line[strcspn(line, "#")] = '\0';
	for (char *c = strtok_r(line, BLANKS, &save); c && count < 4;
	     c = strtok_r(NULL, BLANKS, &save))
		columns[count++] = c;
	if (count == 0)
		return 0;
	if (count != 2 && count != 3)
		return refuse(p, "not two or three columns: a value, and last its probability",
			      columns[0]);
	last = columns[count - 1];
	if (nm_parse_decimal(columns[0], VALUE_DIGITS, VALUE_MAX / p->factor, &value) < 0)
		return refuse(p, "not a number that can be a value", columns[0]);
	if (nm_parse_decimal(last, BELOW_DIGITS, 100, &below) < 0 || below > 100 * BELOW_ONE)
		return refuse(p, "not a probability: from 0 to 1, or to 100", last);
	if (p->any && value < p->value)
		return refuse(p, "less than the value before; values must not fall", columns[0]);
	if (p->any && below < p->below)
		return refuse(p, "less than the probability before; they must not fall", last);
	if (p->count++ == NM_LAW_MAX_POINTS) {
		snprintf(p->why, p->why_size, "more points than %u", NM_LAW_MAX_POINTS);
		return -EINVAL;
	}
	p->value = value;
	p->below = below;
	int error = put(p, value, last);

	p->any = true;
	return error;
}

int nm_law_file_points(char *text, const char *unit, char *buf, size_t size, unsigned *ret_line,
		       char *why, size_t why_size)
{
	struct points p = {.buf = buf,
			   .size = size,
			   .factor = 1,
			   .suffix = unit + strspn(unit, "0123456789"),
			   .why = why,
			   .why_size = why_size};
	unsigned number = 0;

	*ret_line = 0;
	if (p.suffix != unit)
		p.factor = strtoull(unit, NULL, 10);
	if (p.factor == 0 || p.factor > VALUE_MAX)
		return refuse(&p, "not a unit: a number with or without a suffix", unit);
	for (char *next = text; next; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		*ret_line = ++number;
		if (read_line(&p, text) < 0)
			return -EINVAL;
		if (!next)
			break;
	}
	*ret_line = 0;
	if (p.any && (p.below == BELOW_ONE || p.below == 100 * BELOW_ONE))
		return 0;
	snprintf(why, why_size, p.any ? "the last probability must be 1 or 100" : "has no points");
	return -EINVAL;
}
