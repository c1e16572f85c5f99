/* SPDX-License-Identifier: Apache-2.0 */
/* Takes lines and numbers out of what has come. */
#include "app/line.h"

#include <string.h>

static void keep(struct nm_line *line, uint32_t most, const char *data, size_t n)
{
	size_t room = line->length < most ? most - line->length : 0;

	memcpy(line->kept + (most - room), data, n < room ? n : room);
	line->length += (uint32_t)n;
	/* Of a longer line the last byte is there, too: it tells how the line ends. */
	if (n && line->length > most)
		line->kept[most - 1] = data[n - 1];
}

static enum nm_line_status bad(struct nm_line *line, uint32_t most, const char *data, size_t n)
{
	keep(line, most, data, n < most ? n : most);
	return NM_LINE_BAD;
}

enum nm_line_status nm_line_take_as(struct nm_line *line, struct nm_line_form form,
				    const char *data, size_t n, struct nm_line_text *ret,
				    size_t *ret_taken)
{
	size_t most = NM_LINE_MAX - line->length;
	const char *end = memchr(data, '\n', n < most ? n : most);

	if (!end) {
		*ret_taken = n;
		if (n >= most)
			return bad(line, form.kept, data, n);
		keep(line, form.kept, data, n);
		return NM_LINE_MORE;
	}
	size_t taken = (size_t)(end - data) + 1;
	size_t kept = line->length < form.kept ? line->length : form.kept;
	char before = taken > 1 ? end[-1] : '\0';

	*ret_taken = taken;
	if (taken == 1 && kept)
		before = line->kept[kept - 1];
	const uint32_t ending = before == '\r' ? 2 : 1;

	if (ending == 1 && !form.bare)
		return bad(line, form.kept, data, taken);

	if (!line->length) {
		ret->text = data;
		ret->length = ret->there = (uint32_t)taken - ending;
		return NM_LINE_WHOLE;
	}
	keep(line, form.kept, data, taken);
	ret->text = line->kept;
	ret->length = line->length - ending;
	ret->there = line->length <= form.kept ? ret->length : form.kept - 1;
	line->length = 0;
	return NM_LINE_WHOLE;
}

bool nm_line_gather(struct nm_line *line, size_t most, const char *data, size_t n, size_t *taken)
{
	size_t some = most - line->length < n - *taken ? most - line->length : n - *taken;

	memcpy(line->kept + line->length, data + *taken, some);
	line->length += (uint32_t)some;
	*taken += some;
	return line->length == most;
}

char *nm_number_put(uint64_t number, char *at)
{
	char digits[NM_NUMBER_MAX];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		*at++ = digits[--n];
	return at;
}

size_t nm_line_number(const char *text, size_t n, uint64_t most, uint64_t *ret)
{
	const uint64_t tenth = most / 10, last = most % 10;
	uint64_t value = 0;
	size_t at = 0;

	for (; at < n; at++) {
		unsigned digit = (unsigned char)text[at] - (unsigned)'0';

		if (digit > 9)
			break;
		if (__builtin_expect(value >= tenth, 0) && (value > tenth || digit > last))
			return 0;
		value = value * 10 + digit;
	}
	*ret = value;
	return at;
}
