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

void nm_fields_subtract(const struct nm_field *fields, const void *before, const void *after,
			void *ret)
{
	for (; fields->name; fields++) {
		if (fields->type != NM_FIELD_U64)
			continue;
		const uint64_t *from = (const uint64_t *)((const char *)before + fields->offset);
		const uint64_t *to = (const uint64_t *)((const char *)after + fields->offset);
		uint64_t value = *to;

		if (fields->unit != NM_UNIT_PEAK)
			value = *to > *from ? *to - *from : 0;
		*(uint64_t *)((char *)ret + fields->offset) = value;
	}
}
