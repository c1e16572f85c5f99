/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fields of each message's body, and the bodies that are one number. */
#include "control/wire/codec.h"

const struct nm_field nm_empty_fields[] = {NM_FIELD_END};

const struct nm_field *nm_message_fields(enum nm_message_type type)
{
	static const struct nm_field *const tables[] = {
#define NM_MESSAGE(name, word, sender, states, size, body) nm_##body##_fields,
#include "control/wire/messages.def"
#undef NM_MESSAGE
	};

	return tables[type];
}

/* The field is the first member of its struct. */
json_t *nm_number_pack(enum nm_message_type type, uint64_t number)
{
	return nm_fields_pack(nm_message_fields(type), &number);
}

int nm_number_unpack(enum nm_message_type type, json_t *body, uint64_t *ret_number)
{
	uint64_t number;
	int error = nm_fields_unpack(nm_message_fields(type), body, &number);

	if (!error)
		*ret_number = number;
	return error;
}
