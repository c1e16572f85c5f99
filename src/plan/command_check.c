/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of Redis: what of them is known before the run. */
#include <stdio.h>
#include <stdlib.h>

#include "app/command.h"
#include "base/diag.h"
#include "flowop/ask.h"
#include "plan/diag.h"
#include "plan/ir.h"

void nm_ir_check_command(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;
	const char *text = nm_node_attr(step->written.node, "text");
	struct nm_command *command;
	char why[128];

	if (step->op->verb != NM_VERB_COMMAND)
		return;
	if (!text) {
		nm_step_error(ir, step, ": needs the attribute text=\"...\", the command");
		return;
	}
	command = malloc(sizeof *command);
	if (!command || nm_arena_keep(ir->arena, command) < 0) {
		nm_step_error(ir, step, ": out of memory");
		return;
	}
	step->ask.command = command;
	if (opts->keys && !step->ask.keyspace) /* told already */
		return;
	if (nm_command_read(text, step->ask.keyspace, command, why, sizeof why) < 0)
		nm_step_error(ir, step, " text=\"%.128s\": %s", text, why);
	else if (command->has_data != (step->size > 0))
		nm_option_error(ir, step, "size",
				command->has_data
					? " size: __data__ needs size=..., its bytes"
					: " size: has no effect without __data__ in the text");
}
