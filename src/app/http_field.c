/* SPDX-License-Identifier: Apache-2.0 */
/* Reads field lines of HTTP (RFC 9110, 5), and those before chunks (RFC 9112, 7.1). */
#include <string.h>

#include "app/http.h"
#include "base/ascii.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool nm_http_field_read(const char *line, size_t n, struct nm_http_field *ret)
{
	const char *colon = memchr(line, ':', n), *end = line + n;

	/* A blank before the colon, or at the begin of the line, is no part of a name. */
	if (!colon || colon == line || is_blank(*line) || is_blank(colon[-1]))
		return false;
	const char *value = colon + 1;

	while (value < end && is_blank(*value))
		value++;
	while (end > value && is_blank(end[-1]))
		end--;
	*ret = (struct nm_http_field){.name = line,
				      .name_length = (size_t)(colon - line),
				      .value = value,
				      .value_length = (size_t)(end - value)};
	return true;
}

bool nm_http_field_is(const struct nm_http_field *field, const char *name)
{
	return nm_ascii_is(field->name, field->name_length, name);
}

/* Takes the next member off a list: its length, and where it begins. */
static size_t next_member(const char **at, const char *end, const char **ret)
{
	while (*at < end && (is_blank(**at) || **at == ','))
		(*at)++;
	const char *comma = memchr(*at, ',', (size_t)(end - *at)), *last = comma ? comma : end;

	*ret = *at;
	*at = last;
	while (last > *ret && is_blank(last[-1]))
		last--;
	return (size_t)(last - *ret);
}

bool nm_http_field_lists(const struct nm_http_field *field, const char *word)
{
	const char *at = field->value, *end = at + field->value_length, *member;
	size_t n;

	while ((n = next_member(&at, end, &member)))
		if (nm_ascii_is(member, n, word))
			return true;
	return false;
}

bool nm_http_field_length(const struct nm_http_field *field, uint64_t *ret)
{
	const char *at = field->value, *end = at + field->value_length, *member;
	uint64_t length = 0, other;
	bool any = false;
	size_t n;

	while ((n = next_member(&at, end, &member))) {
		if (nm_line_number(member, n, INT64_MAX, &other) != n || (any && other != length))
			return false;
		length = other;
		any = true;
	}
	*ret = length;
	return any;
}

size_t nm_http_chunk_read(const char *line, size_t n, uint64_t *ret)
{
	size_t i = 0;

	for (*ret = 0; i < n && nm_ascii_hex(line[i]) >= 0; i++) {
		if (*ret > INT64_MAX / 16)
			return 0;
		*ret = *ret * 16 + (unsigned)nm_ascii_hex(line[i]);
	}
	while (i > 0 && i < n && is_blank(line[i]))
		i++;
	return i == n || line[i] == ';' ? i : 0;
}
