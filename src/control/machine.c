/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes the id of a machine together with what it is hashed for. */
#include "control/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control/wire/digest.h"

#define ID_DIGITS 32

void nm_machine_name(const char *machine_id, char ret_name[NM_MACHINE_NAME])
{
	char text[64], hex[NM_SHA256_HEX];
	int length = snprintf(text, sizeof text, "netmodel probe %s", machine_id);
	bool known = strspn(machine_id, "0123456789abcdef") == ID_DIGITS &&
		     nm_digest_sha256(text, (size_t)length, hex) == 0;

	(void)snprintf(ret_name, NM_MACHINE_NAME, "%.32s", known ? hex : "");
}
