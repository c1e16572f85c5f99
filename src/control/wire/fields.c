/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where structs become JSON and JSON becomes structs: two switches over the types of
 * fields. */
#include "control/wire/fields.h"

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

static json_t *pack_u64(uint64_t value, uint64_t most)
{
	return json_integer((json_int_t)(value < most ? value : most));
}

json_t *nm_u64s_pack(const uint64_t *values, size_t count)
{
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < count; i++)
		error = json_array_append_new(list, pack_u64(values[i], NM_FIELD_MOST));
	return nm_list_or_nothing(list, error);
}

int nm_u64s_unpack(const json_t *list, uint64_t *ret_values, size_t count)
{
	if (!json_is_array(list) || json_array_size(list) != count)
		return -EPROTO;
	for (size_t i = 0; i < count; i++) {
		int error = nm_u64_unpack(json_array_get(list, i), NM_FIELD_MOST, &ret_values[i]);
		if (error)
			return error;
	}
	return 0;
}

json_t *nm_list_or_nothing(json_t *list, int error)
{
	if (!error)
		return list;
	json_decref(list);
	return NULL;
}

/* --- packing --- */

static json_t *pack_bytes(const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * size + 1);

	if (!text)
		return NULL;
	for (size_t i = 0; i < size; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	json_t *value = json_stringn(text, 2 * size);

	free(text);
	return value;
}

static json_t *pack_items(const struct nm_field *field, const void *from, const char *first)
{
	size_t count = *(const size_t *)((const char *)from + field->count_offset);
	json_t *list = json_array();
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < count; i++)
		error = json_array_append_new(
			list, nm_row_pack(field->fields, first + i * field->item_size));
	return nm_list_or_nothing(list, error);
}

static json_t *pack_value(const struct nm_field *field, const void *from)
{
	const void *at = (const char *)from + field->offset;

	switch (field->type) {
	case NM_FIELD_U64:
		return pack_u64(*(const uint64_t *)at, nm_field_most(field));
	case NM_FIELD_U32:
		return json_integer(*(const uint32_t *)at);
	case NM_FIELD_I64:
		return json_integer(*(const int64_t *)at);
	case NM_FIELD_BOOL:
		return json_boolean(*(const bool *)at);
	case NM_FIELD_REAL:
	case NM_FIELD_SHARE:
		return json_real(*(const double *)at);
	case NM_FIELD_TEXT: {
		const char *text = *(const char *const *)at;

		return text ? nm_text_pack(text) : field->optional ? json_null() : NULL;
	}
	case NM_FIELD_CHARS:
		return nm_text_pack(at);
	case NM_FIELD_BYTES:
		return pack_bytes(at, field->max);
	case NM_FIELD_VALUE: {
		json_t *value;

		memcpy(&value, at, sizeof value);
		return value || !field->optional ? value : json_null();
	}
	case NM_FIELD_OBJECT:
		return nm_fields_pack(field->fields, at);
	case NM_FIELD_ROW:
		return nm_row_pack(field->fields, at);
	case NM_FIELD_LIST:
		return pack_items(field, from, at);
	case NM_FIELD_VECTOR:
		return pack_items(field, from, *(const char *const *)at);
	case NM_FIELD_EITHER:
		return pack_value(&field->fields[*(const bool *)at ? 0 : 1], from);
	case NM_FIELD_NULL:
		break;
	}
	return json_null();
}

json_t *nm_fields_pack(const struct nm_field *fields, const void *from)
{
	json_t *body = json_object();
	int error = body ? 0 : -ENOMEM;

	/* To the end also after an error: values that are taken must not be lost. */
	for (; fields->name; fields++)
		if (json_object_set_new(body, fields->name, pack_value(fields, from)) < 0)
			error = -ENOMEM;
	return nm_list_or_nothing(body, error);
}

int nm_fields_append(json_t *list, const struct nm_field *fields, const void *from)
{
	int error = 0;

	for (; fields->name; fields++)
		if (json_array_append_new(list, pack_value(fields, from)) < 0)
			error = -ENOMEM;
	return error;
}

json_t *nm_row_pack(const struct nm_field *fields, const void *from)
{
	json_t *list = json_array();

	return nm_list_or_nothing(list, nm_fields_append(list, fields, from));
}

/* --- unpacking --- */

static int unpack_u64(const struct nm_field *field, const json_t *value, uint64_t *ret)
{
	uint64_t number;

	if (nm_u64_unpack(value, nm_field_most(field), &number) || number < field->min)
		return -EPROTO;
	*ret = number;
	return 0;
}

static int unpack_u32(const struct nm_field *field, const json_t *value, uint32_t *ret)
{
	uint64_t wide;
	int error = unpack_u64(field, value, &wide);

	if (!error)
		*ret = (uint32_t)wide;
	return error;
}

static int unpack_i64(const json_t *value, int64_t *ret)
{
	if (!json_is_integer(value) || json_integer_value(value) < -1)
		return -EPROTO;
	*ret = json_integer_value(value);
	return 0;
}

static int unpack_bool(const json_t *value, bool *ret)
{
	if (!json_is_boolean(value))
		return -EPROTO;
	*ret = json_is_true(value);
	return 0;
}

static int unpack_real(const struct nm_field *field, const json_t *value, double *ret)
{
	double number = json_number_value(value);
	double most = field->type == NM_FIELD_SHARE ? 1 : (double)nm_field_most(field);

	if (!json_is_number(value) || !(number >= (double)field->min && number <= most))
		return -EPROTO;
	*ret = number;
	return 0;
}

static int unpack_text(const struct nm_field *field, const json_t *value, const char **ret)
{
	if (field->optional && json_is_null(value)) {
		*ret = NULL;
		return 0;
	}
	return nm_text_unpack(value, field->max, ret);
}

static int unpack_chars(const struct nm_field *field, const json_t *value, char *ret)
{
	const char *text;
	int error = nm_text_unpack(value, field->max, &text);

	if (!error)
		memcpy(ret, text, strlen(text) + 1);
	return error;
}

static int unpack_bytes(const struct nm_field *field, const json_t *value, unsigned char *ret)
{
	const char *text;

	if (nm_text_unpack(value, 2 * field->max, &text) ||
	    strspn(text, "0123456789abcdef") != 2 * field->max)
		return -EPROTO;
	for (size_t i = 0; i < field->max; i++) {
		const char digits[3] = {text[2 * i], text[2 * i + 1]};

		ret[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	return 0;
}

/* The room of a LIST is in the struct, and the caller provides the room of a VECTOR, in which case
 * exactly *count values must come. */
static int unpack_items(const struct nm_field *field, const json_t *list, void *ret, char *first)
{
	size_t *count = (size_t *)((char *)ret + field->count_offset);
	size_t there = json_array_size(list);

	if (!json_is_array(list) ||
	    (field->type == NM_FIELD_LIST ? there > field->max : there != *count))
		return -EPROTO;
	for (size_t i = 0; i < there; i++)
		if (nm_row_unpack(field->fields, json_array_get(list, i),
				  first + i * field->item_size))
			return -EPROTO;
	*count = there;
	return 0;
}

static int unpack_value(const struct nm_field *field, const json_t *value, void *ret);

static int unpack_either(const struct nm_field *field, const json_t *value, void *ret,
			 bool *is_first)
{
	const struct nm_field *other = &field->fields[1];

	*is_first = other->type == NM_FIELD_NULL ? !json_is_null(value) : !json_is_string(value);
	return unpack_value(&field->fields[*is_first ? 0 : 1], value, ret);
}

static int unpack_value(const struct nm_field *field, const json_t *value, void *ret)
{
	void *at = (char *)ret + field->offset;

	switch (field->type) {
	case NM_FIELD_U64:
		return unpack_u64(field, value, at);
	case NM_FIELD_U32:
		return unpack_u32(field, value, at);
	case NM_FIELD_I64:
		return unpack_i64(value, at);
	case NM_FIELD_BOOL:
		return unpack_bool(value, at);
	case NM_FIELD_REAL:
	case NM_FIELD_SHARE:
		return unpack_real(field, value, at);
	case NM_FIELD_TEXT:
		return unpack_text(field, value, at);
	case NM_FIELD_CHARS:
		return unpack_chars(field, value, at);
	case NM_FIELD_BYTES:
		return unpack_bytes(field, value, at);
	case NM_FIELD_VALUE:
		if (field->optional && json_is_null(value))
			value = NULL;
		else if (!value)
			return -EPROTO;
		memcpy(at, &value, sizeof value);
		return 0;
	case NM_FIELD_OBJECT:
		return nm_fields_unpack(field->fields, value, at);
	case NM_FIELD_ROW:
		return nm_row_unpack(field->fields, value, at);
	case NM_FIELD_LIST:
		return unpack_items(field, value, ret, at);
	case NM_FIELD_VECTOR:
		return unpack_items(field, value, ret, *(char **)at);
	case NM_FIELD_EITHER:
		return unpack_either(field, value, ret, at);
	case NM_FIELD_NULL:
		break;
	}
	return json_is_null(value) ? 0 : -EPROTO;
}

int nm_fields_unpack_known(const struct nm_field *fields, const json_t *body, void *ret)
{
	int error = json_is_object(body) ? 0 : -EPROTO;

	for (; !error && fields->name; fields++)
		error = unpack_value(fields, json_object_get(body, fields->name), ret);
	return error;
}

int nm_fields_unpack(const struct nm_field *fields, const json_t *body, void *ret)
{
	if (json_object_size(body) != nm_fields_count(fields))
		return -EPROTO;
	return nm_fields_unpack_known(fields, body, ret);
}

int nm_fields_take(const json_t *list, size_t *at, const struct nm_field *fields, void *ret)
{
	int error = 0;

	for (; !error && fields->name; fields++)
		error = unpack_value(fields, json_array_get(list, (*at)++), ret);
	return error;
}

int nm_row_unpack(const struct nm_field *fields, const json_t *list, void *ret)
{
	size_t at = 0;

	if (!json_is_array(list) || json_array_size(list) != nm_fields_count(fields))
		return -EPROTO;
	return nm_fields_take(list, &at, fields, ret);
}
