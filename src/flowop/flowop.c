/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/flowop.h"

#include "base/word.h"

const struct nm_flowop *nm_flowop_find(const char *name)
{
	for (const struct nm_flowop *const *op = nm_flowops; *op; op++)
		if (nm_same_word((*op)->name, name))
			return *op;
	return NULL;
}
