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
#include "cli/foreign.h"
#include "cli/stock.h"

#define MAX_NAMES 128

/* A word that is no option, as it was typed, with what may be its value. All is borrowed. */
struct odd {
	const char *word;
	char letter;	   /* of the cluster `word`; 0: it is a long name */
	bool is_flag;	   /* the option exists, and takes no value */
	const char *value; /* NULL: none */
};

/* The words of a line that are no options: they are judged when all options are known. */
struct line {
	const char **words;
	size_t n_words, n_odd;
	struct odd *odd;
};

static struct nm_argv_option answer(const struct nm_arg *arg)
{
	return (struct nm_argv_option){
		.option = arg, .value = arg && arg->argument ? NM_ARGV_REQUIRED : NM_ARGV_NONE};
}

/* A whole word of another tool's is not taken for a name that is cut short. */
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
	return answer(count == 1 && !nm_foreign_has_name(name, length) ? found : NULL);
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Writes the parameter of the profile (NULL: none was given) that a name stands for, with dashes or
 * with underscores; false: none. */
static bool find_param(const char *profile, const char *name, char *param, size_t size)
{
	snprintf(param, size, "%s", name);
	if (!profile || nm_stock_has_param(profile, param))
		return profile;
	for (char *c = param; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return nm_stock_has_param(profile, param);
}

/* A word after two dashes; profile NULL: none was given. */
static void tell_unknown_name(const struct odd *odd, const char *profile, struct nm_diags *diags)
{
	const char *word = odd->word + 2, *value = odd->value;
	char name[64], param[64], typed[68], hint[512];
	const char *nearest = nearest_option(word, name, sizeof(name));

	snprintf(typed, sizeof(typed), "--%s", name);
	if (find_param(profile, name, param, sizeof(param)))
		nm_diag_error(diags, NULL, 0,
			      "--%s: not an option, but a parameter of the profile: did you mean "
			      "-D %s=%s?",
			      name, param, value ? value : "VALUE");
	else if (nm_foreign_hint(typed, value, profile, hint, sizeof(hint)))
		nm_diag_error(diags, NULL, 0, "--%s: unknown option; %s", name, hint);
	else if (count_begun(name) > 1)
		nm_diag_error(diags, NULL, 0, "--%s: short for several options: write it out",
			      name);
	else if (nearest)
		nm_diag_error(diags, NULL, 0, "--%s: unknown option; did you mean --%s?", name,
			      nearest);
	else
		nm_diag_error(diags, NULL, 0, "--%s: unknown option; --help all lists them", name);
}

/* Users of other tools have their letters in mind; of "-check" they are letters by mistake. */
static void tell_unknown_letter(const struct odd *odd, const char *profile, struct nm_diags *diags)
{
	const char typed[] = {'-', odd->letter, '\0'};
	char name[64], hint[512];
	const char *nearest = nearest_option(odd->word + 1, name, sizeof(name));
	bool is_number = odd->value && is_digit(*odd->value);

	if (nearest && name[1] && !is_number)
		nm_diag_error(diags, NULL, 0, "-%s: unknown option; did you mean --%s?", name,
			      nearest);
	else if (nm_foreign_hint(typed, odd->value, profile, hint, sizeof(hint)))
		nm_diag_error(diags, NULL, 0, "%s: unknown option; %s", typed, hint);
	else if (nm_dialect.letter(odd->letter, hint, sizeof(hint)))
		nm_diag_error(diags, NULL, 0, "%s: unknown option; --help all lists them; %s",
			      typed, hint);
	else
		nm_diag_error(diags, NULL, 0, "%s: unknown option; --help all lists them", typed);
}

/* A number after a flag that is an option of another tool, with a value. */
static void tell_value_of_flag(const struct odd *odd, const char *profile, struct nm_diags *diags)
{
	const char typed[] = {'-', odd->letter, '\0'};
	const char *flag = odd->letter ? typed : odd->word;
	char hint[512];
	bool known = nm_foreign_hint(flag, odd->value, profile, hint, sizeof(hint));

	nm_diag_error(diags, NULL, 0, "%s: not an option, and %s takes no value%s%s", odd->value,
		      flag, known ? "; " : "", known ? hint : "");
}

static void tell_odd(const struct odd *odd, const char *profile, struct nm_diags *diags)
{
	if (odd->is_flag)
		tell_value_of_flag(odd, profile, diags);
	else if (odd->letter)
		tell_unknown_letter(odd, profile, diags);
	else
		tell_unknown_name(odd, profile, diags);
}

/* Of "-abc" all must be options, up to one that takes the rest as its value; of "-word", "--word"
 * is meant. */
static bool refuse_cluster(void *arg, const struct nm_argv *at)
{
	struct line *line = arg;
	char name[64];
	const char *nearest = nearest_option(at->word + 1, name, sizeof(name));
	const char *letter = at->word + 1;
	struct nm_argv_option found = {.option = at->word};

	if (nearest && strcmp(nearest, name) == 0) {
		found.option = NULL;
	} else {
		while (*letter && (found = find_letter(NULL, *letter)).option &&
		       found.value == NM_ARGV_NONE)
			letter++;
		if (!*letter || found.option)
			return false;
	}
	struct odd odd = {.word = at->word, .letter = *letter};

	if (is_digit(*letter) && letter > at->word + 1) { /* "-t10" */
		odd = (struct odd){.word = at->word, .letter = letter[-1], .is_flag = true};
		odd.value = letter;
	} else {
		odd.value = letter[1] ? letter + 1 : nm_argv_peek(at);
	}
	line->odd[line->n_odd++] = odd;
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
			      "%s: neither an option nor a profile; --help all lists options, and "
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

/* A word that is no option, behind a flag or not; letter: of that flag, or 0. */
static void take_word(const struct nm_argv *at, bool is_behind_flag, char letter, struct line *line)
{
	if (is_behind_flag && is_digit(*at->word))
		line->odd[line->n_odd++] = (struct odd){.word = at->argv[at->next - 2],
							.letter = letter,
							.is_flag = true,
							.value = at->word};
	else
		line->words[line->n_words++] = at->word;
}

/* A word that is a long name of nothing. */
static void take_unknown(const struct nm_argv *at, struct line *line)
{
	const char *equals = strchr(at->word, '=');

	line->odd[line->n_odd++] =
		(struct odd){.word = at->word, .value = equals ? equals + 1 : nm_argv_peek(at)};
}

/* "all" asks for the whole help. */
static void choose_help(struct nm_args *args, enum nm_action action, const char *next)
{
	args->action = action;
	if (action == NM_ACTION_HELP && next && strcmp(next, "all") == 0)
		args->words[args->n_words++] = next;
}

/* Takes all words. True when one asks for help, or the like, and all words before it are right:
 * help must not hide an error. */
static bool walk(struct nm_argv *at, struct nm_args_reading *reading, struct line *line)
{
	int behind_flag = -1; /* the index of the next word when a flag was taken */
	enum nm_argv_kind kind;
	char letter = 0;

	while ((kind = nm_argv_next(at)) != NM_ARGV_END) {
		const struct nm_arg *arg = at->option;
		bool tells =
			arg && (arg->action == NM_ACTION_HELP || arg->action == NM_ACTION_VERSION);

		if (kind == NM_ARGV_WORD) {
			take_word(at, at->next - 1 == behind_flag, letter, line);
		} else if (kind == NM_ARGV_NO_VALUE) {
			nm_diag_error(reading->diags, NULL, 0, "--%s: %s is missing", arg->opt.name,
				      arg->argument);
		} else if (kind == NM_ARGV_SUPERFLUOUS) {
			nm_diag_error(reading->diags, NULL, 0, "--%s: takes no value",
				      arg->opt.name);
		} else if (kind == NM_ARGV_UNKNOWN) {
			take_unknown(at, line);
		} else if (!tells) {
			nm_args_take(reading, arg, at->value ? at->value : "yes");
		} else if (!reading->diags->n_errors && !line->n_odd) {
			choose_help(reading->args, arg->action, nm_argv_peek(at));
			return true;
		}
		behind_flag = arg && !arg->argument ? at->next : -1;
		letter = at->letter;
	}
	return false;
}

static int read_line(int argc, char *const argv[], struct nm_args_reading *reading,
		     struct line *line)
{
	const struct nm_argv_table table = {.by_name = find_name,
					    .by_letter = find_letter,
					    .refuses = refuse_cluster,
					    .arg = line};
	struct nm_args *args = reading->args;
	struct nm_argv at;

	nm_argv_init(&at, &table, argc, argv);
	if (walk(&at, reading, line))
		return 0;
	for (size_t i = 0; i < line->n_odd; i++)
		tell_odd(&line->odd[i], args->master, reading->diags);
	for (size_t i = 0; args->action == NM_ACTION_DESCRIBE && i < line->n_words && i < 2; i++)
		args->words[args->n_words++] = line->words[i];
	if (!reading->diags->n_errors) /* after an error it may be the value of a mistaken option */
		check_words(args, line, reading->diags);
	return nm_args_end(reading);
}

int nm_args_parse(int argc, char *const argv[], const char *format, struct nm_args *ret_args,
		  struct nm_diags *diags)
{
	struct nm_args_reading reading;
	struct line line = {.n_words = 0};

	if (nm_args_begin(&reading, ret_args, diags) != 0)
		return -EINVAL;
	if (format) {
		free(ret_args->output.format);
		ret_args->output.format = strdup(format);
	}
	if (begins_with_word(argc, argv)) { /* the words that follow were meant for it */
		tell_unknown_word(argv[1], diags);
		return -EINVAL;
	}
	line.words = calloc((size_t)argc + 1, sizeof(*line.words));
	line.odd = calloc((size_t)argc + 1, sizeof(*line.odd));
	int error = -EINVAL;

	if (line.words && line.odd && ret_args->output.format)
		error = read_line(argc, argv, &reading, &line);
	else
		nm_diag_error(diags, NULL, 0, "out of memory");
	free(line.words);
	free(line.odd);
	return error;
}
