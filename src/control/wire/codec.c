/* SPDX-License-Identifier: Apache-2.0 */
#include "control/wire/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

json_t *nm_text_pack(const char *text)
{
	json_t *value = json_string(text);

	if (value)
		return value;
	char *plain = strdup(text);
	if (!plain)
		return NULL;
	for (char *c = plain; *c; c++) {
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	}
	value = json_string(plain);
	free(plain);
	return value;
}

int nm_text_unpack(const json_t *value, size_t max, const char **ret_text)
{
	if (!json_is_string(value) || json_string_length(value) > max)
		return -EPROTO;
	*ret_text = json_string_value(value);
	return 0;
}

int nm_text_copy(const json_t *value, char *to, size_t size)
{
	const char *text;
	int error = nm_text_unpack(value, size - 1, &text);

	if (!error)
		memcpy(to, text, strlen(text) + 1);
	return error;
}

int nm_u64_unpack(const json_t *value, uint64_t max, uint64_t *ret)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max)
		return -EPROTO;
	*ret = (uint64_t)json_integer_value(value);
	return 0;
}

int nm_u32_unpack(const json_t *value, uint32_t max, uint32_t *ret)
{
	uint64_t wide;
	int error = nm_u64_unpack(value, max, &wide);

	if (!error)
		*ret = (uint32_t)wide;
	return error;
}

json_t *nm_u64s_pack(const uint64_t *values, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < count; i++) {
		uint64_t value = values[i] < INT64_MAX ? values[i] : INT64_MAX;

		if (json_array_append_new(list, json_integer((json_int_t)value)) < 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

int nm_u64s_unpack(const json_t *list, uint64_t *ret_values, size_t count)
{
	if (!json_is_array(list) || json_array_size(list) != count)
		return -EPROTO;
	for (size_t i = 0; i < count; i++) {
		int error = nm_u64_unpack(json_array_get(list, i), INT64_MAX, &ret_values[i]);
		if (error)
			return error;
	}
	return 0;
}

json_t *nm_counts_pack(const struct nm_counts *counts)
{
#define VALUE(name) counts->name,
	const uint64_t values[] = {NM_COUNTERS(VALUE)};
#undef VALUE

	return nm_u64s_pack(values, sizeof values / sizeof *values);
}

int nm_counts_unpack(const json_t *list, struct nm_counts *ret)
{
#define FIELD(name) &ret->name,
	uint64_t *const fields[] = {NM_COUNTERS(FIELD)};
#undef FIELD
	enum { N_COUNTS = sizeof fields / sizeof *fields };
	uint64_t values[N_COUNTS];
	int error = nm_u64s_unpack(list, values, N_COUNTS);

	for (size_t i = 0; !error && i < N_COUNTS; i++)
		*fields[i] = values[i];
	return error;
}
