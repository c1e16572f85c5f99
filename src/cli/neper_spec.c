/* SPDX-License-Identifier: Apache-2.0 */
/* Which words are options on neper's command lines. */
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/neper.h"

/* Most builds of neper do not have it: what is short for --pin-cpu there stays that. */
static bool is_rare(const struct nm_neper_opt *opt, size_t length)
{
	return strcmp(opt->name, "pin-numa") == 0 && length <= strlen("pin-");
}

/* The only option of neper's that a word is, or is short for; NULL: none, or several. */
static const struct nm_neper_opt *find_short(unsigned workload, const char *word, size_t length)
{
	const struct nm_neper_opt *found = NULL;

	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++) {
		if (!(opt->workloads & workload) || strncmp(opt->name, word, length) != 0 ||
		    is_rare(opt, length))
			continue;
		if (opt->name[length] == '\0')
			return opt;
		if (found)
			return NULL;
		found = opt;
	}
	return found;
}

static bool is_passed(const struct nm_arg *arg)
{
	return strcmp(arg->opt.name, "master") != 0 && strcmp(arg->opt.name, "slave") != 0;
}

/* Whether there are others that the word would be short for as well, netmodel's above all;
 * *ret_whole: it is the name of one, and its values are words. */
static bool is_shared(const char *word, size_t length, bool *ret_whole)
{
	bool shared = false;

	*ret_whole = false;
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
		shared |= is_rare(opt, length) && strncmp(opt->name, word, length) == 0;
	for (const struct nm_arg *arg = nm_arg_table; arg->opt.name; arg++) {
		if (!is_passed(arg) || strncmp(arg->opt.name, word, length) != 0)
			continue;
		shared = true;
		*ret_whole |= arg->opt.name[length] == '\0' && arg->opt.type == NM_TYPE_ENUM;
	}
	return shared;
}

static int argument_of(const struct nm_neper_opt *opt)
{
	return opt->value == NM_NEPER_FLAG   ? no_argument
	       : opt->value == NM_NEPER_FILE ? optional_argument
					     : required_argument;
}

static void put_own(struct nm_neper_spec *spec, const char *name, const struct nm_neper_opt *opt)
{
	spec->longs[spec->count++] =
		(struct option){.name = name,
				.has_arg = argument_of(opt),
				.val = NM_NEPER_FIRST_OWN + (int)(opt - nm_neper_table)};
}

/* What is short for the option alone of neper's, but for netmodel's, too, is written out: getopt
 * prefers whole names. */
static void put_prefixes(struct nm_neper_spec *spec, unsigned workload,
			 const struct nm_neper_opt *opt)
{
	for (size_t length = 1; opt->name[length]; length++) {
		bool whole;
		char *prefix;

		if (spec->n_prefixes == NM_NEPER_MAX_PREFIXES || length >= sizeof spec->prefixes[0])
			return;
		if (find_short(workload, opt->name, length) != opt ||
		    !is_shared(opt->name, length, &whole) || whole)
			continue;
		prefix = spec->prefixes[spec->n_prefixes++];
		memcpy(prefix, opt->name, length);
		prefix[length] = '\0';
		put_own(spec, prefix, opt);
	}
}

static bool has_name(const struct nm_neper_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->count; i++)
		if (strcmp(spec->longs[i].name, name) == 0)
			return true;
	return false;
}

void nm_neper_spec_make(struct nm_neper_spec *spec, unsigned workload)
{
	const size_t most = NM_NEPER_MAX_OPTIONS + NM_NEPER_MAX_PREFIXES;
	size_t used = 0;

	*spec = (struct nm_neper_spec){.count = 0};
	spec->shorts[used++] = ':';
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++) {
		if (!(opt->workloads & workload))
			continue;
		put_own(spec, opt->name, opt);
		put_prefixes(spec, workload, opt);
		if (!opt->letter)
			continue;
		spec->shorts[used++] = opt->letter;
		for (int colons = argument_of(opt); colons > 0; colons--)
			spec->shorts[used++] = ':';
	}
	if (!nm_neper_spec_find(workload, 'D')) {
		spec->shorts[used++] = 'D';
		spec->shorts[used++] = ':';
	}
	for (size_t i = 0; nm_arg_table[i].opt.name && spec->count < most; i++) {
		const struct nm_arg *arg = &nm_arg_table[i];

		if (is_passed(arg) && !has_name(spec, arg->opt.name))
			spec->longs[spec->count++] = (struct option){
				.name = arg->opt.name,
				.has_arg = arg->argument ? required_argument : no_argument,
				.val = NM_NEPER_FIRST_PASSED + (int)i};
	}
}

const struct nm_neper_opt *nm_neper_spec_find(unsigned workload, int answer)
{
	if (answer >= NM_NEPER_FIRST_OWN && answer < NM_NEPER_FIRST_PASSED)
		return &nm_neper_table[answer - NM_NEPER_FIRST_OWN];
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
		if ((opt->workloads & workload) && opt->letter && opt->letter == answer)
			return opt;
	return NULL;
}

int nm_neper_spec_settle(unsigned workload, int answer, const char *value)
{
	const struct nm_neper_opt *own = nm_neper_spec_find(workload, answer);

	/* neper's -D, where there is one, is a delay, and no time has that. */
	if ((own ? own->letter : answer) == 'D' && value && strchr(value, '='))
		for (int i = 0; nm_arg_table[i].opt.name; i++)
			if (strcmp(nm_arg_table[i].opt.name, "define") == 0)
				return NM_NEPER_FIRST_PASSED + i;
	if (!own && answer == 'D') {
		optopt = 'D'; /* as getopt does */
		return '?';
	}
	if (answer < NM_NEPER_FIRST_PASSED || !value || *value < '0' || *value > '9')
		return answer;
	const struct nm_arg *arg = &nm_arg_table[answer - NM_NEPER_FIRST_PASSED];
	const struct nm_neper_opt *opt =
		arg->opt.type == NM_TYPE_ENUM
			? find_short(workload, arg->opt.name, strlen(arg->opt.name))
			: NULL;

	return opt ? NM_NEPER_FIRST_OWN + (int)(opt - nm_neper_table) : answer;
}
