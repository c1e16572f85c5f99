/* SPDX-License-Identifier: Apache-2.0 */
/* The lookup of flowops by name, and questions about one. */
#include "flowop/flowop.h"

#include "base/ascii.h"

const struct nm_flowop *nm_flowop_find(const char *name)
{
	for (const struct nm_flowop *const *op = nm_flowops; *op; op++)
		if (nm_ascii_equals((*op)->name, name))
			return *op;
	return NULL;
}

bool nm_flowop_is_named(const struct nm_flowop *op)
{
	return op && (op->flags & NM_FLOWOP_INTERNAL || nm_flowop_find(op->name) == op);
}

uint64_t nm_instr_limit_ns(const struct nm_instr *instr)
{
	const uint32_t connects = NM_FLOWOP_OPENS | NM_FLOWOP_INITIATES;
	bool repeats = (instr->op->flags & connects) == connects && instr->open.preamble_ns;

	return repeats ? instr->open.preamble_ns : instr->timeout_ns;
}
