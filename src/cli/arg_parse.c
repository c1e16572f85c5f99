/* SPDX-License-Identifier: Apache-2.0 */
/* netmodel's own command lines: which words are options, and what else a wrong word may have
 * meant. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/argv.h"
#include "cli/cli.h"
#include "cli/dialect.h"
#include "cli/stock.h"

#define MAX_NAMES 128

static struct nm_argv_option answer(const struct nm_arg *arg)
{
	return (struct nm_argv_option){
		.option = arg, .value = arg && arg->argument ? NM_ARGV_REQUIRED : NM_ARGV_NONE};
}

static struct nm_argv_option find_name(const void *unused, const char *name, size_t length)
{
	const struct nm_arg *arg, *found = NULL;
	size_t count = 0;

	(void)unused;
	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		if (strncmp(arg->opt.name, name, length) != 0)
			continue;
		if (arg->opt.name[length] == '\0')
			return answer(arg);
		found = arg;
		count++;
	}
	return answer(count == 1 ? found : NULL);
}

static struct nm_argv_option find_letter(const void *unused, char letter)
{
	const struct nm_arg *arg;

	(void)unused;
	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		if (arg->letter && arg->letter == letter)
			return answer(arg);
	return answer(NULL);
}

/* --- words that are no options --- */

/* The option that a word is nearest to, by its name without dashes up to "=", which is copied;
 * NULL: to none. */
static const char *nearest_option(const char *word, char *name, size_t size)
{
	const char *names[MAX_NAMES];
	const struct nm_arg *arg;
	size_t count = 0, length = strcspn(word, "=");

	snprintf(name, size, "%.*s", (int)(length < 60 ? length : 60), word);
	for (size_t i = 0; (arg = nm_arg_at(i)) && count < MAX_NAMES; i++)
		names[count++] = arg->opt.name;
	return nm_nearest(name, names, count);
}

/* How many options begin with a name that is cut short. */
static size_t count_begun(const char *name)
{
	const struct nm_arg *arg;
	size_t count = 0;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++)
		count += strncmp(arg->opt.name, name, strlen(name)) == 0;
	return count;
}

/* A word after two dashes; profile NULL: none was given. */
static void tell_unknown_name(const char *word, const char *profile, struct nm_diags *diags)
{
	char name[64];
	size_t length = strcspn(word, "=");
	const char *nearest = nearest_option(word, name, sizeof(name));

	if (profile && nm_cli_has_param(profile, name))
		nm_diag_error(diags, NULL, 0,
			      "--%s: not an option, but a parameter of the profile: did you mean "
			      "-D %s=%s?",
			      name, name, word[length] ? word + length + 1 : "VALUE");
	else if (count_begun(name) > 1)
		nm_diag_error(diags, NULL, 0, "--%s: short for several options: write it out",
			      name);
	else if (nearest)
		nm_diag_error(diags, NULL, 0, "--%s: unknown option; did you mean --%s?", name,
			      nearest);
	else
		nm_diag_error(diags, NULL, 0, "--%s: unknown option; --help lists them all", name);
}

/* Users of another tool have its letters in mind. */
static void tell_unknown_letter(char letter, struct nm_diags *diags)
{
	char hint[128];
	bool known = nm_dialect.letter(letter, hint, sizeof(hint));

	nm_diag_error(diags, NULL, 0, "-%c: unknown option; --help lists them all%s%s", letter,
		      known ? "; " : "", known ? hint : "");
}

/* Of "-abc" all must be options, up to one that takes the rest as its value; of "-word", "--word"
 * is meant. */
static bool refuse_cluster(const void *arg, const char *word)
{
	struct nm_diags *diags = ((const struct nm_args_reading *)arg)->diags;
	char name[64];
	const char *nearest = nearest_option(word + 1, name, sizeof(name)), *letter = word + 1;
	struct nm_argv_option found = {.option = word};

	if (!nearest || strcmp(nearest, name) != 0) {
		while (*letter && (found = find_letter(NULL, *letter)).option &&
		       found.value == NM_ARGV_NONE)
			letter++;
		if (!*letter || found.option)
			return false;
	}
	if (nearest && name[1])
		nm_diag_error(diags, NULL, 0, "-%s: unknown option; did you mean --%s?", name,
			      nearest);
	else
		tell_unknown_letter(*letter, diags);
	return true;
}

/* A word alone is taken for a profile, or for the begin of a line of another tool. */
static void tell_unknown_word(const char *word, struct nm_diags *diags)
{
	char *near = nm_stock_has(word) ? NULL : nm_stock_near(word);

	if (near && nm_dialect.knows(near))
		nm_diag_error(diags, NULL, 0,
			      "%s: neither an option nor %s; did you mean %s, or -m %s?", word,
			      nm_dialect.kind, near, near);
	else if (near || nm_stock_has(word))
		nm_diag_error(diags, NULL, 0, "%s: not an option; did you mean -m %s?", word,
			      near ? near : word);
	else
		nm_diag_error(diags, NULL, 0,
			      "%s: neither an option nor a profile; --help lists options, and "
			      "--list profiles",
			      word);
	free(near);
}

/* Only a line with --describe may begin with a word that is no option. */
static bool begins_with_word(int argc, char *const argv[])
{
	if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0')
		return false;
	for (int i = 2; i < argc; i++)
		if (strlen(argv[i]) > 3 && strncmp(argv[i], "--describe", strlen(argv[i])) == 0)
			return false;
	return true;
}

/* --- the line --- */

/* The words of a line that are no options, borrowed; they are judged when all options are known. */
struct line {
	const char **words, **unknown;
	size_t n_words, n_unknown;
};

static void check_words(const struct nm_args *args, const struct line *line, struct nm_diags *diags)
{
	for (size_t i = args->n_words; i < line->n_words; i++) {
		const char *word = line->words[i];

		if (args->action == NM_ACTION_DESCRIBE)
			nm_diag_error(diags, NULL, 0, "%s: too many words after --describe", word);
		else if (!args->master && args->action != NM_ACTION_SLAVE)
			tell_unknown_word(word, diags);
		else
			nm_diag_error(diags, NULL, 0, "%s: not an option%s", word,
				      strchr(word, '=') ? "; parameters are set with -D" : "");
	}
}

/* Takes all words. True when one asks for help, or the like, and all words before it are right:
 * help must not hide an error. */
static bool walk(struct nm_argv *at, struct nm_args_reading *reading, struct line *line)
{
	enum nm_argv_kind kind;

	while ((kind = nm_argv_next(at)) != NM_ARGV_END) {
		const struct nm_arg *arg = at->option;
		bool tells =
			arg && (arg->action == NM_ACTION_HELP || arg->action == NM_ACTION_VERSION);

		if (kind == NM_ARGV_WORD) {
			line->words[line->n_words++] = at->word;
		} else if (kind == NM_ARGV_NO_VALUE) {
			nm_diag_error(reading->diags, NULL, 0, "--%s: %s is missing", arg->opt.name,
				      arg->argument);
		} else if (kind == NM_ARGV_SUPERFLUOUS) {
			nm_diag_error(reading->diags, NULL, 0, "--%s: takes no value",
				      arg->opt.name);
		} else if (kind == NM_ARGV_UNKNOWN) {
			line->unknown[line->n_unknown++] = at->word + 2;
		} else if (!tells) {
			nm_args_take(reading, arg, at->value ? at->value : "yes");
		} else if (!reading->diags->n_errors && !line->n_unknown) {
			reading->args->action = arg->action;
			return true;
		}
	}
	return false;
}

static int read_line(int argc, char *const argv[], struct nm_args_reading *reading,
		     struct line *line)
{
	const struct nm_argv_table table = {.by_name = find_name,
					    .by_letter = find_letter,
					    .refuses = refuse_cluster,
					    .arg = reading};
	struct nm_args *args = reading->args;
	struct nm_argv at;

	nm_argv_init(&at, &table, argc, argv);
	if (walk(&at, reading, line))
		return 0;
	for (size_t i = 0; i < line->n_unknown; i++)
		tell_unknown_name(line->unknown[i], args->master, reading->diags);
	for (size_t i = 0; args->action == NM_ACTION_DESCRIBE && i < line->n_words && i < 2; i++)
		args->words[args->n_words++] = line->words[i];
	if (!reading->diags->n_errors) /* after an error it may be the value of a mistaken option */
		check_words(args, line, reading->diags);
	return nm_args_end(reading);
}

int nm_args_parse(int argc, char *const argv[], struct nm_args *ret_args, struct nm_diags *diags)
{
	struct nm_args_reading reading;
	struct line line = {.n_words = 0};

	if (nm_args_begin(&reading, ret_args, diags) != 0)
		return -EINVAL;
	if (begins_with_word(argc, argv)) { /* the words that follow were meant for it */
		tell_unknown_word(argv[1], diags);
		return -EINVAL;
	}
	line.words = calloc((size_t)argc + 1, sizeof(*line.words));
	line.unknown = calloc((size_t)argc + 1, sizeof(*line.unknown));
	int error = -EINVAL;

	if (line.words && line.unknown)
		error = read_line(argc, argv, &reading, &line);
	else
		nm_diag_error(diags, NULL, 0, "out of memory");
	free(line.words);
	free(line.unknown);
	return error;
}
