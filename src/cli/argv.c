/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a command line apart, as getopt_long(3) would, without moving words about. */
#include "cli/argv.h"

#include <string.h>

void nm_argv_init(struct nm_argv *at, const struct nm_argv_table *table, int argc,
		  char *const argv[])
{
	*at = (struct nm_argv){.table = table, .argc = argc, .argv = argv, .next = 1};
}

const char *nm_argv_peek(const struct nm_argv *at)
{
	const char *next = at->next < at->argc ? at->argv[at->next] : NULL;

	return next && (next[0] != '-' || !next[1]) ? next : NULL;
}

/* The value in the next word, if the option needs one and has none. */
static enum nm_argv_kind take_value(struct nm_argv *at, const struct nm_argv_option *found,
				    const char *glued)
{
	at->option = found->option;
	at->value = glued;
	if (found->value == NM_ARGV_NONE && glued)
		return NM_ARGV_SUPERFLUOUS;
	if (found->value != NM_ARGV_REQUIRED || glued)
		return NM_ARGV_OPTION;
	if (at->next == at->argc)
		return NM_ARGV_NO_VALUE;
	at->value = at->argv[at->next++];
	return NM_ARGV_OPTION;
}

static enum nm_argv_kind take_long(struct nm_argv *at)
{
	const char *name = at->word + 2;
	size_t length = strcspn(name, "=");
	const struct nm_argv_option found = at->table->by_name(at->table->arg, name, length);

	if (!found.option)
		return NM_ARGV_UNKNOWN;
	return take_value(at, &found, name[length] ? name + length + 1 : NULL);
}

static enum nm_argv_kind take_letter(struct nm_argv *at)
{
	const char *rest = at->letters + 1;
	const struct nm_argv_option found = at->table->by_letter(at->table->arg, *at->letters);

	at->letter = *at->letters;
	at->letters = *rest ? rest : NULL;
	if (!found.option)
		return NM_ARGV_UNKNOWN;
	if (found.value == NM_ARGV_NONE)
		return take_value(at, &found, NULL);
	at->letters = NULL;
	return take_value(at, &found, *rest ? rest : NULL);
}

enum nm_argv_kind nm_argv_next(struct nm_argv *at)
{
	at->option = NULL;
	at->value = NULL;
	at->letter = 0;
	while (!at->letters) {
		if (at->next == at->argc)
			return NM_ARGV_END;
		at->word = at->argv[at->next++];
		if (at->plain || at->word[0] != '-' || !at->word[1])
			return NM_ARGV_WORD;
		if (strncmp(at->word, "--", 2) != 0) {
			if (!at->table->refuses || !at->table->refuses(at->table->arg, at))
				at->letters = at->word + 1;
		} else if (at->word[2]) {
			return take_long(at);
		} else {
			at->plain = true;
		}
	}
	return take_letter(at);
}
