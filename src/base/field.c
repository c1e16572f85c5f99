/* SPDX-License-Identifier: Apache-2.0 */
/* Counts fields, and takes differences of readings, by any table of fields, without knowing an
 * encoding. */
#include "base/field.h"

uint64_t nm_field_most(const struct nm_field *field)
{
	if (field->max)
		return field->max;
	return field->type == NM_FIELD_U32 ? UINT32_MAX : NM_FIELD_MOST;
}

size_t nm_fields_count(const struct nm_field *fields)
{
	size_t count = 0;

	while (fields[count].name)
		count++;
	return count;
}

static uint64_t difference(uint64_t from, uint64_t to, enum nm_field_unit unit)
{
	if (unit == NM_UNIT_PEAK)
		return to;
	return to > from ? to - from : 0;
}

static int64_t known_difference(int64_t from, int64_t to, enum nm_field_unit unit)
{
	return from < 0 || to < 0 ? -1 : (int64_t)difference((uint64_t)from, (uint64_t)to, unit);
}

void nm_fields_subtract(const struct nm_field *fields, const void *before, const void *after,
			void *ret)
{
	for (; fields->name; fields++) {
		const void *from = (const char *)before + fields->offset;
		const void *to = (const char *)after + fields->offset;
		void *into = (char *)ret + fields->offset;

		if (fields->type == NM_FIELD_U64)
			*(uint64_t *)into = difference(*(const uint64_t *)from,
						       *(const uint64_t *)to, fields->unit);
		else if (fields->type == NM_FIELD_I64)
			*(int64_t *)into = known_difference(*(const int64_t *)from,
							    *(const int64_t *)to, fields->unit);
	}
}
