/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/flowop.h"

#include <string.h>

const struct nm_flowop *nm_flowop_find(const char *name)
{
	for (const struct nm_flowop *const *op = nm_flowops; *op; op++)
		if (strcmp((*op)->name, name) == 0)
			return *op;
	return NULL;
}
