/* SPDX-License-Identifier: Apache-2.0 */
/* Takes lines and numbers out of what has come. */
#include "app/line.h"

#include <string.h>

static void keep(struct nm_line *line, const char *data, size_t n)
{
	size_t room = line->length < NM_LINE_KEPT ? NM_LINE_KEPT - line->length : 0;

	memcpy(line->kept + (NM_LINE_KEPT - room), data, n < room ? n : room);
	line->length += (uint32_t)n;
	/* Of a longer line the last byte is there, too: it tells how the line ends. */
	if (n && line->length > NM_LINE_KEPT)
		line->kept[NM_LINE_KEPT - 1] = data[n - 1];
}

static enum nm_line_status bad(struct nm_line *line, const char *data, size_t n)
{
	keep(line, data, n < NM_LINE_KEPT ? n : NM_LINE_KEPT);
	return NM_LINE_BAD;
}

enum nm_line_status nm_line_take(struct nm_line *line, const char *data, size_t n,
				 struct nm_line_text *ret, size_t *ret_taken)
{
	size_t most = NM_LINE_MAX - line->length;
	const char *end = memchr(data, '\n', n < most ? n : most);

	if (!end) {
		*ret_taken = n;
		if (n >= most)
			return bad(line, data, n);
		keep(line, data, n);
		return NM_LINE_MORE;
	}
	size_t taken = (size_t)(end - data) + 1;
	size_t kept = line->length < NM_LINE_KEPT ? line->length : NM_LINE_KEPT;
	char before = taken > 1 ? end[-1] : '\0';

	*ret_taken = taken;
	if (taken == 1 && kept)
		before = line->kept[kept - 1];
	if (before != '\r')
		return bad(line, data, taken);

	if (!line->length) {
		ret->text = data;
		ret->length = ret->there = (uint32_t)taken - 2;
		return NM_LINE_WHOLE;
	}
	keep(line, data, taken);
	ret->text = line->kept;
	ret->length = line->length - 2;
	ret->there = line->length <= NM_LINE_KEPT ? ret->length : NM_LINE_KEPT - 1;
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
