/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fields of each message's body. */
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
