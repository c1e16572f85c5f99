/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/transport.h"

#include <string.h>

const struct nm_transport *nm_transport_find(const char *name)
{
	for (const struct nm_transport *const *t = nm_transports; *t; t++)
		if (strcmp((*t)->name, name) == 0)
			return *t;
	return NULL;
}
