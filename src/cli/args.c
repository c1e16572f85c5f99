/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/neper.h"
#include "cli/stock.h"

#define MAX_ARGS   96
#define FIRST_LONG 256 /* what getopt answers for entry 0; single letters are below */

/* getopt's view of the table. */
struct spec {
	struct option longs[MAX_ARGS + 1];
	char shorts[2 * MAX_ARGS + 2];
	size_t count;
	bool given[MAX_ARGS];
	const char *unknown[MAX_ARGS]; /* long words; told when the profile is known */
	size_t n_unknown;
};

static void spec_make(struct spec *spec)
{
	size_t used = 0;

	*spec = (struct spec){.count = 0};
	spec->shorts[used++] = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; nm_arg_table[i].opt.name && i < MAX_ARGS; i++) {
		const struct nm_arg *arg = &nm_arg_table[i];
		spec->longs[i] = (struct option){
			.name = arg->opt.name,
			.has_arg = arg->argument ? required_argument : no_argument,
			.val = FIRST_LONG + (int)i,
		};
		if (arg->letter) {
			spec->shorts[used++] = arg->letter;
			if (arg->argument)
				spec->shorts[used++] = ':';
		}
		spec->count = i + 1;
	}
}

/* The entry that getopt's answer stands for, or NULL. */
static const struct nm_arg *arg_of(const struct spec *spec, int answer)
{
	if (answer >= FIRST_LONG && (size_t)(answer - FIRST_LONG) < spec->count)
		return &nm_arg_table[answer - FIRST_LONG];
	for (size_t i = 0; i < spec->count; i++)
		if (answer && nm_arg_table[i].letter == answer)
			return &nm_arg_table[i];
	return NULL;
}

/* A word after two dashes; profile NULL: none was given. */
static void unknown_long(const struct spec *spec, const char *word, const char *profile,
			 struct nm_diags *diags)
{
	const char *names[MAX_ARGS];
	char name[64];
	size_t same = 0;
	size_t length = strcspn(word, "=");

	snprintf(name, sizeof(name), "%.*s", (int)(length < 60 ? length : 60), word);
	for (size_t i = 0; i < spec->count; i++) {
		names[i] = nm_arg_table[i].opt.name;
		same += strncmp(names[i], name, strlen(name)) == 0;
	}
	const char *nearest = nm_nearest(name, names, spec->count);
	if (profile && nm_cli_has_param(profile, name))
		nm_diag_error(diags, NULL, 0,
			      "--%s: not an option, but a parameter of the profile: did you mean "
			      "-D %s=%s?",
			      name, name, word[length] ? word + length + 1 : "VALUE");
	else if (same > 1)
		nm_diag_error(diags, NULL, 0, "--%s: short for several options: write it out",
			      name);
	else if (nearest)
		nm_diag_error(diags, NULL, 0, "--%s: unknown option; did you mean --%s?", name,
			      nearest);
	else
		nm_diag_error(diags, NULL, 0, "--%s: unknown option; --help lists them all", name);
}

/* Who is used to neper has its letters in mind. */
static void unknown_letter(char letter, struct nm_diags *diags)
{
	const struct nm_neper_opt *opt = nm_neper_table;

	while (opt->name &&
	       (opt->letter != letter || opt->means != NM_NEPER_PARAM || strpbrk(opt->here, "|=")))
		opt++;
	if (opt->name)
		nm_diag_error(
			diags, NULL, 0,
			"-%c: unknown option; --help lists them all; neper's --%s is -D %s here",
			letter, opt->name, opt->here);
	else
		nm_diag_error(diags, NULL, 0, "-%c: unknown option; --help lists them all", letter);
}

/* What is wrong with the letters of "-abc", or with "-word" where "--word" is meant. False: nothing
 * is. Sets *ret_takes_next when the word after it is its argument. */
static bool wrong_short(const struct spec *spec, const char *word, bool *ret_takes_next,
			struct nm_diags *diags)
{
	const char *names[MAX_ARGS];
	char name[64];
	const char *letter = word + 1;
	const struct nm_arg *arg = NULL;
	size_t length = strcspn(word + 1, "=");

	*ret_takes_next = false;
	snprintf(name, sizeof(name), "%.*s", (int)(length < 60 ? length : 60), word + 1);
	for (size_t i = 0; i < spec->count; i++)
		names[i] = nm_arg_table[i].opt.name;
	const char *nearest = nm_nearest(name, names, spec->count);
	if (!nearest || strcmp(nearest, name) != 0) {
		while (*letter && (arg = arg_of(spec, (unsigned char)*letter)) && !arg->argument)
			letter++;
		*ret_takes_next = *letter && arg && letter[1] == '\0';
		if (!*letter || arg)
			return false;
	}
	if (nearest && name[1])
		nm_diag_error(diags, NULL, 0, "-%s: unknown option; did you mean --%s?", name,
			      nearest);
	else
		unknown_letter(*letter, diags);
	return true;
}

/* Whether the word after "--name", which may be cut short, is its argument. */
static bool long_takes_next(const struct spec *spec, const char *name)
{
	bool takes = false;

	for (size_t i = 0; i < spec->count; i++) {
		const struct nm_arg *arg = &nm_arg_table[i];

		if (strcmp(arg->opt.name, name) == 0)
			return arg->argument != NULL;
		if (strncmp(arg->opt.name, name, strlen(name)) == 0)
			takes |= arg->argument != NULL;
	}
	return takes;
}

/* Copies the words into ret_argv, but for those that getopt would take apart into letters that
 * nobody has meant. Answers how many there are. */
static int drop_wrong_shorts(const struct spec *spec, int argc, char *const argv[], char **ret_argv,
			     struct nm_diags *diags)
{
	int count = 0;
	bool argument = true; /* so is the name of the program */

	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];
		bool takes_next = false, wrong = false;

		if (!argument && strcmp(word, "--") == 0) {
			for (; i < argc; i++)
				ret_argv[count++] = argv[i];
			break;
		}
		if (!argument && strncmp(word, "--", 2) == 0)
			takes_next = long_takes_next(spec, word + 2);
		else if (!argument && word[0] == '-' && word[1])
			wrong = wrong_short(spec, word, &takes_next, diags);
		argument = takes_next;
		if (!wrong)
			ret_argv[count++] = argv[i];
	}
	ret_argv[count] = NULL;
	return count;
}

static void wrong_use(struct spec *spec, int answer, char *const argv[], struct nm_diags *diags)
{
	const struct nm_arg *arg = arg_of(spec, optopt);

	if (answer == ':' && arg)
		nm_diag_error(diags, NULL, 0, "--%s: %s is missing", arg->opt.name, arg->argument);
	else if (arg)
		nm_diag_error(diags, NULL, 0, "--%s: takes no value", arg->opt.name);
	else if (spec->n_unknown < MAX_ARGS)
		spec->unknown[spec->n_unknown++] = argv[optind - 1] + 2;
	else
		unknown_long(spec, argv[optind - 1] + 2, NULL, diags);
}

static void take(struct spec *spec, const struct nm_arg *arg, const char *value,
		 struct nm_args *args, struct nm_diags *diags)
{
	char why[256] = "";

	if (spec->given[arg - nm_arg_table] && strcmp(arg->opt.name, "master") == 0) {
		nm_diag_error(diags, NULL, 0,
			      "--master %s: one profile at a time, and %s is given already", value,
			      args->master ? args->master : "another");
		return;
	}
	int error = nm_opt_set(&arg->opt, args, value, why, sizeof(why));

	if (!error && arg->accept)
		error = arg->accept(args, value, why, sizeof(why));
	if (error)
		nm_diag_error(diags, NULL, 0, "--%s %s: %s", arg->opt.name, value, why);
	else if (*why)
		nm_diag_warn(diags, NULL, 0, "--%s %s: %s", arg->opt.name, value, why);
	spec->given[arg - nm_arg_table] = true;
	if (!arg->action || arg->action == args->action)
		return;
	if (args->action) {
		for (size_t i = 0; i < spec->count; i++)
			if (nm_arg_table[i].action == args->action)
				nm_diag_error(diags, NULL, 0, "--%s and --%s: one at a time",
					      nm_arg_table[i].opt.name, arg->opt.name);
		return;
	}
	args->action = arg->action;
}

static unsigned mode_of(enum nm_action action)
{
	switch (action) {
	case NM_ACTION_RUN:
		return NM_MODE_RUN;
	case NM_ACTION_SLAVE:
		return NM_MODE_SLAVE;
	case NM_ACTION_CHECK:
	case NM_ACTION_PARAMS:
	case NM_ACTION_DUMP_PLAN:
	case NM_ACTION_OPTIONS:
		return NM_MODE_LOOK;
	default:
		return NM_MODE_TELL;
	}
}

static const char *modes_text(unsigned modes)
{
	switch (modes & NM_MODE_ALL) {
	case NM_MODE_SLAVE:
		return "only with --slave";
	case NM_MODE_RUN:
		return "only when a profile is run (--master)";
	case NM_MODE_RUN | NM_MODE_SLAVE:
		return "only with --master or --slave, when something is run";
	default:
		return "only with --master";
	}
}

static const char *action_option(enum nm_action action)
{
	for (const struct nm_arg *arg = nm_arg_table; arg->opt.name; arg++)
		if (arg->action == action)
			return arg->opt.name;
	return "master";
}

/* A word alone is taken for a profile, or for one of neper's workloads. */
static void unknown_word(const char *word, struct nm_diags *diags)
{
	char *near = nm_stock_has(word) ? NULL : nm_stock_near(word);

	if (near && nm_neper_workload(near))
		nm_diag_error(diags, NULL, 0,
			      "%s: neither an option nor one of neper's workloads; did you mean "
			      "%s, or -m %s?",
			      word, near, near);
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

/* Only what is described may come first, and be no option. */
static bool begins_with_word(int argc, char *const argv[])
{
	if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0')
		return false;
	for (int i = 2; i < argc; i++)
		if (strlen(argv[i]) > 3 && strncmp(argv[i], "--describe", strlen(argv[i])) == 0)
			return false;
	return true;
}

static void check_words(const struct nm_args *args, int argc, char *const argv[],
			struct nm_diags *diags)
{
	size_t taken = args->n_words;

	for (int i = optind + (int)taken; i < argc; i++) {
		if (args->action == NM_ACTION_DESCRIBE)
			nm_diag_error(diags, NULL, 0, "%s: too many words after --describe",
				      argv[i]);
		else if (!args->master && args->action != NM_ACTION_SLAVE)
			unknown_word(argv[i], diags);
		else
			nm_diag_error(diags, NULL, 0, "%s: not an option%s", argv[i],
				      strchr(argv[i], '=') ? "; parameters are set with -D" : "");
	}
}

/* Options that change what another one asks for, and nothing else. */
static void check_company(const struct spec *spec, const struct nm_args *args,
			  struct nm_diags *diags)
{
	bool is_neper = strcmp(args->format, "neper") == 0;
	const struct {
		const char *option, *with;
		bool there;
	} needs[] = {
		{"throughput-opt", "--format neper or kv",
		 is_neper || strcmp(args->format, "kv") == 0},
		{"stime-use-proc", "--format neper", is_neper},
		{"log-rtt-entries", "--log-rtt", args->log_rtt != NULL},
	};

	for (size_t i = 0; i < spec->count; i++)
		for (size_t k = 0; spec->given[i] && k < sizeof(needs) / sizeof(needs[0]); k++)
			if (!needs[k].there &&
			    strcmp(needs[k].option, nm_arg_table[i].opt.name) == 0)
				nm_diag_error(diags, NULL, 0, "--%s: only with %s", needs[k].option,
					      needs[k].with);
}

/* What is wrong with the places where they would write. */
static void check_output(const struct nm_args *args, struct nm_diags *diags)
{
	if (args->no_statistics && args->output)
		nm_diag_error(diags, NULL, 0,
			      "--no-statistics and --output: one at a time: without statistics "
			      "there is no report to write");
	if (args->raw && !args->no_statistics &&
	    (!args->output || strcmp(args->output, "-") == 0) && strcmp(args->format, "text") != 0)
		nm_diag_error(diags, NULL, 0,
			      "--raw and --format %s: both would go to standard output: give the "
			      "report a file with -o FILE",
			      args->format);
	if (args->iostat_ns && args->raw)
		nm_diag_error(diags, NULL, 0,
			      "--iostat and --raw: one at a time: both print lines of progress");
}

/* What is wrong with the options together. */
static void check_together(const struct spec *spec, struct nm_args *args, struct nm_diags *diags)
{
	if (args->action == NM_ACTION_NONE && args->master)
		args->action = NM_ACTION_RUN;
	if (args->action == NM_ACTION_NONE) {
		if (!diags->n_errors)
			nm_diag_error(diags, NULL, 0,
				      "nothing to do: give -m PROFILE to run one (--list lists "
				      "them), or -s to be a slave; --help tells more");
		return;
	}
	unsigned mode = mode_of(args->action);
	if (mode == NM_MODE_LOOK && !args->master)
		nm_diag_error(diags, NULL, 0, "--%s: needs a profile: -m PROFILE",
			      action_option(args->action));
	if (args->slave && args->master) {
		nm_diag_error(diags, NULL, 0, "--master and --slave: one at a time");
		return;
	}
	for (size_t i = 0; i < spec->count; i++) {
		const struct nm_arg *arg = &nm_arg_table[i];
		bool told = arg->action && arg->action != args->action; /* as one of two actions */
		if (!spec->given[i] || (arg->modes & mode) || told)
			continue;
		if (mode == NM_MODE_SLAVE && (arg->modes & NM_MODE_SLAVE_TOO)) {
			if (args->verbose)
				nm_diag_warn(diags, NULL, 0,
					     "--%s: has no effect on a slave: masters ask for it",
					     arg->opt.name);
			continue;
		}
		if (strcmp(arg->opt.name, "master") == 0)
			nm_diag_error(diags, NULL, 0, "--master and --%s: one at a time",
				      action_option(args->action));
		else
			nm_diag_error(diags, NULL, 0, "--%s: %s, not with --%s", arg->opt.name,
				      modes_text(arg->modes), action_option(args->action));
	}
	check_output(args, diags);
	if (mode == NM_MODE_RUN && !diags->n_errors)
		check_company(spec, args, diags);
	if (args->quiet && args->verbose)
		nm_diag_error(diags, NULL, 0, "--quiet and --verbose: one at a time");
	if (mode == NM_MODE_RUN && args->port == 0)
		nm_diag_error(diags, NULL, 0, "--port 0: must be 1 to 65535 with --master");
}

static int set_defaults(struct nm_args *args, struct nm_diags *diags)
{
	char why[256];

	for (const struct nm_arg *arg = nm_arg_table; arg->opt.name; arg++) {
		if (arg->opt.def &&
		    nm_opt_set(&arg->opt, args, arg->opt.def, why, sizeof(why)) != 0) {
			nm_diag_error(diags, NULL, 0, "--%s: default %s: %s", arg->opt.name,
				      arg->opt.def, why);
			return -EINVAL;
		}
	}
	nm_percentiles_default(&args->percentiles);
	return 0;
}

static int parse_words(struct spec *spec, int argc, char *const argv[], struct nm_args *ret_args,
		       struct nm_diags *diags)
{
	int answer;

	optind = 0; /* begin anew */
	opterr = 0;
	while ((answer = getopt_long(argc, argv, spec->shorts, spec->longs, NULL)) != -1) {
		const struct nm_arg *arg = arg_of(spec, answer);
		bool wrong = diags->n_errors || spec->n_unknown;
		if (answer == '?' || answer == ':' || !arg) {
			wrong_use(spec, answer, argv, diags);
			continue;
		}
		if (arg->action == NM_ACTION_HELP || arg->action == NM_ACTION_VERSION) {
			/* Help that was not asked for would hide what is wrong. */
			if (wrong)
				continue;
			ret_args->action = arg->action;
			return 0;
		}
		take(spec, arg, arg->argument ? optarg : "yes", ret_args, diags);
	}
	for (size_t i = 0; i < spec->n_unknown; i++)
		unknown_long(spec, spec->unknown[i], ret_args->master, diags);
	if (ret_args->action == NM_ACTION_DESCRIBE)
		for (int i = optind; i < argc && ret_args->n_words < 2; i++)
			ret_args->words[ret_args->n_words++] = argv[i];
	if (!diags->n_errors) /* after an error it may be the value of a mistaken option */
		check_words(ret_args, argc, argv, diags);
	check_together(spec, ret_args, diags);
	return diags->n_errors ? -EINVAL : 0;
}

int nm_args_parse(int argc, char *const argv[], struct nm_args *ret_args, struct nm_diags *diags)
{
	struct spec spec;
	int error = -EINVAL;

	*ret_args = (struct nm_args){.action = NM_ACTION_NONE};
	if (begins_with_word(argc, argv)) { /* what follows it was meant for it */
		unknown_word(argv[1], diags);
		return -EINVAL;
	}
	if (set_defaults(ret_args, diags) != 0)
		return -EINVAL;
	spec_make(&spec);
	char **words = calloc((size_t)argc + 1, sizeof(*words)); /* getopt puts them in order */
	if (words) {
		int count = drop_wrong_shorts(&spec, argc, argv, words, diags);
		error = parse_words(&spec, count, words, ret_args, diags);
	} else {
		nm_diag_error(diags, NULL, 0, "out of memory");
	}
	free(words);
	return error;
}

void nm_args_fini(struct nm_args *args)
{
	for (size_t i = 0; i < args->n_defines; i++)
		free((char *)args->defines[i].name); /* the value is its second part */
	free(args->defines);
	free(args->master);
	free(args->generate);
	free(args->define);
	free(args->bind);
	free(args->cpus);
	free(args->slave_cpus);
	free(args->percentiles_text);
	free(args->format);
	free(args->output);
	free(args->throughput_unit);
	free(args->counters);
	free(args->response_log);
	free(args->hdr_log);
	free(args->all_samples);
	free(args->tcp_info);
	free(args->log_rtt);
	*args = (struct nm_args){.action = NM_ACTION_NONE};
}
