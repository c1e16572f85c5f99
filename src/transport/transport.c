/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/transport.h"

#include "base/word.h"

const struct nm_transport *nm_transport_find(const char *name)
{
	for (const struct nm_transport *const *t = nm_transports; *t; t++)
		if (nm_same_word((*t)->name, name) ||
		    ((*t)->alias && nm_same_word((*t)->alias, name)))
			return *t;
	return NULL;
}
