/* SPDX-License-Identifier: Apache-2.0 */
/* Which words are options on neper's command lines. */
#include <stdio.h>
#include <string.h>

#include "cli/neper/neper.h"

static const char *const workloads[] = {"tcp_rr",     "tcp_crr", "tcp_stream", "udp_rr",
					"udp_stream", "psp_rr",	 "psp_crr",    "psp_stream"};

#define N_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

const char *nm_neper_program(unsigned workload)
{
	for (size_t i = 0; i < N_WORKLOADS; i++)
		if (workload == 1u << i)
			return workloads[i];
	return "";
}

unsigned nm_neper_workload(const char *word)
{
	for (size_t i = 0; i < N_WORKLOADS; i++)
		if (strcmp(workloads[i], word) == 0)
			return 1u << i;
	return 0;
}

static bool begins(const char *name, const char *word, size_t length)
{
	return strncmp(name, word, length) == 0;
}

/* Most builds of neper lack --pin-numa: a word that is short for --pin-cpu there means that here,
 * too. */
static bool is_rare(const struct nm_neper_opt *opt, size_t length)
{
	return strcmp(opt->name, "pin-numa") == 0 && length <= strlen("pin-");
}

/* Finds neper's option by its name, or by a word that is short for it alone. *ret_count: how many
 * options the word may mean. */
static const struct nm_neper_opt *find_own(unsigned workload, const char *word, size_t length,
					   size_t *ret_count)
{
	const struct nm_neper_opt *found = NULL;

	*ret_count = 0;
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++) {
		if (!(opt->workloads & workload) || !begins(opt->name, word, length) ||
		    is_rare(opt, length))
			continue;
		found = opt;
		++*ret_count;
		if (opt->name[length] != '\0')
			continue;
		*ret_count = 1;
		return opt;
	}
	return *ret_count == 1 ? found : NULL;
}

/* Finds netmodel's option by its name, or by a word that is short for it alone. Options whose names
 * neper has are left out. */
static const struct nm_arg *find_passed(unsigned workload, const char *word, size_t length)
{
	const struct nm_arg *arg, *found = NULL;
	size_t count = 0, own;

	for (size_t i = 0; (arg = nm_arg_at(i)); i++) {
		const char *name = arg->opt.name;
		size_t whole = strlen(name);
		const struct nm_neper_opt *opt = find_own(workload, name, whole, &own);

		if (!begins(name, word, length) || strcmp(name, "master") == 0 ||
		    strcmp(name, "slave") == 0 || (opt && opt->name[whole] == '\0'))
			continue;
		if (name[length] == '\0')
			return arg;
		found = arg;
		count++;
	}
	return count == 1 ? found : NULL;
}

static struct nm_argv_option own_option(const struct nm_neper_opt *opt)
{
	return (struct nm_argv_option){.option = opt,
				       .value = opt->value == NM_NEPER_FLAG   ? NM_ARGV_NONE
						: opt->value == NM_NEPER_FILE ? NM_ARGV_OPTIONAL
									      : NM_ARGV_REQUIRED};
}

struct nm_argv_option nm_neper_by_name(const void *workload, const char *name, size_t length)
{
	const unsigned set = *(const unsigned *)workload;
	size_t count;
	const struct nm_neper_opt *own = find_own(set, name, length, &count);
	const struct nm_arg *passed = count > 1 ? NULL : find_passed(set, name, length);
	bool whole = passed && passed->opt.name[length] == '\0';

	/* The whole name of an option whose values are words is not read as a short form. */
	if (own && !(own->name[length] && whole && passed->opt.type == NM_TYPE_ENUM))
		return own_option(own);
	return (struct nm_argv_option){.option = passed,
				       .value = passed && passed->argument ? NM_ARGV_REQUIRED
									   : NM_ARGV_NONE};
}

static const struct nm_neper_opt *find_letter(unsigned workload, char letter)
{
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
		if ((opt->workloads & workload) && opt->letter && opt->letter == letter)
			return opt;
	return NULL;
}

struct nm_argv_option nm_neper_by_letter(const void *workload, char letter)
{
	const struct nm_neper_opt *opt = find_letter(*(const unsigned *)workload, letter);

	if (opt)
		return own_option(opt);
	/* In a program of neper's without -D, -D can only set a parameter. */
	return (struct nm_argv_option){.option = letter == 'D' ? nm_arg_find("define") : NULL,
				       .value = NM_ARGV_REQUIRED};
}

/* The end of neper's table is behind the entry without a name. */
static bool is_own(const void *option)
{
	const struct nm_neper_opt *end = nm_neper_table;

	while (end->name)
		end++;
	return (const struct nm_neper_opt *)option >= nm_neper_table &&
	       (const struct nm_neper_opt *)option < end;
}

struct nm_neper_found nm_neper_settle(unsigned workload, const struct nm_argv *at)
{
	struct nm_neper_found found = {.own = is_own(at->option) ? at->option : NULL};
	const char *value = at->value;
	size_t count;

	if (!found.own)
		found.passed = at->option;
	/* neper's -D, where there is one, is a delay, and no time has a '='. */
	bool sets = (found.own ? found.own->letter : at->letter) == 'D';

	if (sets && value && strchr(value, '='))
		return (struct nm_neper_found){.passed = nm_arg_find("define")};
	if (sets && !found.own)
		return (struct nm_neper_found){.own = NULL};
	if (!found.passed || found.passed->opt.type != NM_TYPE_ENUM || !value || *value < '0' ||
	    *value > '9')
		return found;
	const struct nm_neper_opt *meant =
		find_own(workload, found.passed->opt.name, strlen(found.passed->opt.name), &count);

	if (meant)
		return (struct nm_neper_found){.own = meant};
	return found;
}

/* The programs that have an option of that name, or letter when name is NULL. */
static unsigned owners(const char *name, size_t length, char letter)
{
	unsigned found = 0;

	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
		if (letter ? opt->letter == letter
			   : begins(opt->name, name, length) && opt->name[length] == '\0')
			found |= opt->workloads;
	return found;
}

void nm_neper_unknown(const char *program, const struct nm_argv *at, struct nm_diags *diags)
{
	const char what[] = {'-', at->letter, '\0'}, *word = at->letter ? what : at->word;
	unsigned found = owners(at->letter ? NULL : at->word + 2,
				at->letter ? 0 : strcspn(at->word + 2, "="), at->letter);
	char list[160] = "";
	size_t used = 0;

	for (unsigned bit = 1; bit < NM_NEPER_ALL && used < sizeof list; bit <<= 1)
		if (found & bit)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
						 used ? ", " : "", nm_neper_program(bit));
	if (used)
		nm_diag_error(diags, NULL, 0,
			      "%s: no option of %s, but of %s; netmodel %s -h lists those it has",
			      word, program, list, program);
	else
		nm_diag_error(diags, NULL, 0, "%s: no option of %s%s; netmodel %s -h lists them",
			      word, program, at->letter ? "" : ", or short for several", program);
}
