/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one of neper's lines into args, option by option, and keeps those typed for messages. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/neper/neper.h"
#include "cli/stock.h"
#include "host/procfile.h"

#define BATCH "batch_size="

/* An option and its value as they were typed. */
struct typed {
	const struct nm_neper_opt *opt; /* NULL: it was not typed */
	const char *text;
};

/* A line that is being read. */
struct work {
	const char *program;
	unsigned workload;
	bool server, help, version;
	/* the line is read as its client's: a server's own options are checked already */
	bool server_looked_at;
	const char *look; /* the option by which nothing is to be run; NULL: none */
	enum nm_action instead;
	struct nm_args *args;
	struct nm_args_reading reading;
	struct nm_neper_line *line;
	struct nm_diags *diags;
	const char *host; /* NULL: none is given; borrowed from the line */
	struct typed length,
		origin;		 /* the last length; and the source of the options that are taken */
	bool silent;		 /* --nolog: options without an effect are not told */
	bool delayed, has_batch; /* a delay, and how many datagrams there are for each */
	bool has_control;	 /* hosts may have other addresses than those of IP */
	bool given[NM_NEPER_MAX_OPTIONS]; /* by their places in the table */
	bool unknown;			  /* the next word may be the value of an unknown option */
};

/* --- taking --- */

/* Without memory messages name netmodel's option. */
static void keep_origin(struct work *work, const struct nm_arg *arg, const char *value)
{
	struct nm_neper_line *line = work->line;
	struct nm_neper_origin *origins =
		realloc(line->origins, (line->n_origins + 1) * sizeof(*origins));

	if (!origins)
		return;
	line->origins = origins;
	origins[line->n_origins++] = (struct nm_neper_origin){.arg = arg,
							      .value = strdup(value),
							      .opt = work->origin.opt,
							      .typed = work->origin.text};
}

/* An option of netmodel's; value NULL: it takes none. */
static void take_option(struct work *work, const char *name, const char *value)
{
	const struct nm_arg *arg = nm_arg_find(name);

	value = value ? value : "yes";
	if (work->origin.opt)
		keep_origin(work, arg, value);
	nm_args_take(&work->reading, arg, value);
}

__attribute__((format(printf, 2, 3))) static void define(struct work *work, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		nm_diag_error(work->diags, NULL, 0, "out of memory");
	else
		take_option(work, "define", text);
	va_end(args);
	free(text);
}

/* --- options --- */

bool nm_neper_find_param(const char *program, const char *here, char *name, size_t size,
			 const char **ret_fixed)
{
	while (*here) {
		size_t length = strcspn(here, "|"), bare = strcspn(here, "|=");

		snprintf(name, size, "%.*s", (int)bare, here);
		*ret_fixed = bare < length ? here + bare + 1 : NULL;
		if (nm_stock_has_param(program, name))
			return true;
		here += length + (here[length] == '|');
	}
	return false;
}

static void take_param(struct work *work, const struct nm_neper_opt *opt, const char *value)
{
	char name[64];
	const char *fixed;

	if (!nm_neper_find_param(work->program, opt->here, name, sizeof(name), &fixed)) {
		nm_diag_error(work->diags, NULL, 0,
			      "--%s: not offered: the profile %s has no parameter %.*s", opt->name,
			      work->program, (int)strcspn(opt->here, "|"), opt->here);
		return;
	}
	define(work, "%s=%s", name, fixed ? fixed : opt->value == NM_NEPER_FLAG ? "yes" : value);
}

/* Reads a length, which below 0 is a number of transactions. */
static bool read_length(const struct work *work, const struct nm_neper_opt *opt, const char *text,
			char *to, size_t size)
{
	const char *why = "seconds, or a number below 0: transactions";
	bool by_count = opt->value == NM_NEPER_LENGTH && *text == '-';
	const char *ignored;

	if (!by_count && nm_neper_value_read(opt->value, text, to, size, &why) == 0)
		return true;
	if (by_count && nm_neper_value_read(NM_NEPER_COUNT, text + 1, to, size, &ignored) == 0 &&
	    strcmp(to, "0") != 0)
		return true;
	nm_diag_error(work->diags, NULL, 0, "--%s %s: %s", opt->name, text, why);
	return false;
}

/* The last of several lengths counts; one may be a time where another is a number. */
static void take_length(struct work *work, const struct nm_neper_opt *opt, const char *text)
{
	char ignored[64];

	if (read_length(work, opt, text, ignored, sizeof(ignored)))
		work->length = (struct typed){.opt = opt, .text = text};
}

const char *nm_neper_cpus_of_nodes(const struct nm_neper_opt *opt)
{
	return strcmp(opt->name, "pin-numa") == 0 ? "nodes" : NULL;
}

/* Each worker gets one of the CPUs that the process may use, in their order or by their nodes; a
 * server from the last one on, so that it does not share those of a client on its host while there
 * are others. */
static void take_cpus(struct work *work, const struct nm_neper_opt *opt)
{
	char list[4096] = "";
	size_t used = 0;
	cpu_set_t set;

	if (nm_neper_cpus_of_nodes(opt)) {
		take_option(work, opt->here, nm_neper_cpus_of_nodes(opt));
		return;
	}
	if (sched_getaffinity(0, sizeof(set), &set) != 0) {
		nm_diag_error(work->diags, NULL, 0, "--pin-cpu: %s", strerror(errno));
		return;
	}
	for (unsigned i = 0; i < CPU_SETSIZE && used + 8 < sizeof(list); i++) {
		unsigned cpu = work->server ? CPU_SETSIZE - 1 - i : i;

		if (CPU_ISSET(cpu, &set))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u",
						 used ? "," : "", cpu);
	}
	take_option(work, opt->here, list);
}

static void take_own(struct work *work, const char *name, const struct nm_neper_opt *opt,
		     const char *value)
{
	take_option(work, name, opt->value == NM_NEPER_FLAG ? NULL : value);
}

/* A family concerns the host's address, in whatever order the two stand on the line. */
static void take_family(struct work *work, const struct nm_neper_opt *opt)
{
	if (work->host || work->server_looked_at)
		return;
	if (work->server && work->line->family == NM_NEPER_IPV4)
		take_option(work, opt->server, "0.0.0.0");
}

static bool choose_address(struct work *work, const char *host, char *value, size_t size)
{
	const char *why = "";

	if ((work->line->family != NM_NEPER_IPV4 && work->line->family != NM_NEPER_IPV6) ||
	    work->has_control || strcmp(host, "local") == 0)
		return true;
	if (nm_neper_address(host, work->line->family, value, size, &why) == 0)
		return true;
	nm_diag_error(work->diags, NULL, 0, "--host %s: has no address of IPv%d: %s", host,
		      work->line->family == NM_NEPER_IPV4 ? 4 : 6, why);
	return false;
}

/* Addresses of this host, which must be of the family of the host that is called. */
static bool choose_local(struct work *work, const char *list, char *value, size_t size)
{
	char why[400];
	unsigned families = work->line->family;

	if (families != NM_NEPER_IPV4 && families != NM_NEPER_IPV6)
		families = work->host ? nm_neper_family(work->host) : NM_NEPER_IPV4;
	if (work->has_control) /* the host is no address */
		families = 0;
	if (nm_neper_addresses(list, families, value, size, why, sizeof(why)) == 0)
		return true;
	bool as_host = work->host && families && families != work->line->family;

	nm_diag_error(work->diags, NULL, 0, "--local-hosts %s: %s%s%s", list, why,
		      as_host ? "; it must be of the family of --host " : "",
		      as_host ? work->host : "");
	return false;
}

static void take_role(struct work *work, const struct nm_neper_opt *opt)
{
	work->help |= opt->letter == 'h';
	work->version |= opt->letter == 'v';
}

/* The server checks a client's backlog by its own limit, at the begin of the run. */
static void check_backlog(const struct work *work, const struct nm_neper_opt *opt,
			  const char *value)
{
	unsigned long most = nm_procfile_somaxconn();

	if (strcmp(opt->name, "listen-backlog") == 0 && most && strtoull(value, NULL, 10) > most)
		nm_diag_error(work->diags, NULL, 0,
			      "--listen-backlog %s: more than net.core.somaxconn, which is %lu",
			      value, most);
}

static void take_of_server(struct work *work, const struct nm_neper_opt *opt, const char *value)
{
	if (strcmp(opt->name, "local-hosts") == 0 ||
	    (strcmp(opt->name, "wait-start") == 0 && strcmp(value, "0s") != 0)) {
		nm_diag_error(work->diags, NULL, 0, "--%s: only a client has it: with --client",
			      opt->name);
		return;
	}
	if (opt->letter == 'T')
		work->line->threads = strtoull(value, NULL, 10);
	if (!opt->server) { /* checked, and left to the client */
		check_backlog(work, opt, value);
		return;
	}
	if (opt->means == NM_NEPER_CPUS)
		take_cpus(work, opt);
	else
		take_own(work, *opt->server == '=' ? opt->here : opt->server, opt, value);
}

static void take(struct work *work, const struct nm_neper_opt *opt, const char *text)
{
	char value[4096] = "";
	const char *why = "";

	if (opt->means == NM_NEPER_ROLE) {
		take_role(work, opt);
		return;
	}
	text = text ? text : opt->fallback ? opt->fallback : "";
	if (strcmp(opt->name, "delay") == 0)
		work->delayed = strpbrk(text, "123456789") != NULL;
	if (opt->letter == 'l') {
		take_length(work, opt, text);
		return;
	}
	if (nm_neper_value_read(opt->value, text, value, sizeof(value), &why) != 0) {
		nm_diag_error(work->diags, NULL, 0, "--%s %s: %s", opt->name, text, why);
		return;
	}
	if (strcmp(opt->name, "num-ports") == 0 && strcmp(value, "0") == 0)
		snprintf(value, sizeof(value), "1"); /* as in neper */
	if (opt->letter == 'H' && !choose_address(work, text, value, sizeof(value)))
		return;
	if (opt->letter == 'L' && !work->server && !choose_local(work, text, value, sizeof(value)))
		return;
	work->origin = (struct typed){.opt = opt, .text = text};
	work->given[opt - nm_neper_table] = true;
	if (opt->means == NM_NEPER_FAMILY)
		take_family(work, opt);
	else if (work->server)
		take_of_server(work, opt, value);
	else if (opt->means == NM_NEPER_PARAM)
		take_param(work, opt, value);
	else if (opt->means == NM_NEPER_OPTION)
		take_own(work, opt->here, opt, value);
	else if (opt->means == NM_NEPER_CPUS)
		take_cpus(work, opt);
	else if (!work->server_looked_at && !work->silent)
		nm_diag_warn(work->diags, NULL, 0, "--%s: has no effect: %s", opt->name, opt->here);
	work->origin = (struct typed){.opt = NULL};
}

static bool was_given(const struct work *work, const char *name)
{
	for (size_t i = 0; nm_neper_table[i].name; i++)
		if (work->given[i] && strcmp(nm_neper_table[i].name, name) == 0)
			return true;
	return false;
}

/* Options that exclude each other, by the names under which they were given. */
static void check_pairs(const struct work *work)
{
	static const char *const pairs[][2] = {
		{"logtostderr", "nolog"}, {"delay", "noburst"}, {"rx-zerocopy", "skip-rx-copy"}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (was_given(work, pairs[i][0]) && was_given(work, pairs[i][1]))
			nm_diag_error(work->diags, NULL, 0,
				      "--%s and --%s: only one of them can be", pairs[i][0],
				      pairs[i][1]);
}

/* --- the line --- */

static void tell_wrong(struct work *work, enum nm_argv_kind kind, const struct nm_argv *at)
{
	const struct nm_neper_found found = nm_neper_settle(work->workload, at);

	if (kind == NM_ARGV_SUPERFLUOUS)
		nm_diag_error(work->diags, NULL, 0, "%s: takes no value", at->word);
	else if (kind == NM_ARGV_NO_VALUE && found.own)
		nm_diag_error(work->diags, NULL, 0, "--%s: its value is missing", found.own->name);
	else if (kind == NM_ARGV_NO_VALUE)
		nm_diag_error(work->diags, NULL, 0, "%s: its value is missing", at->word);
	else
		nm_neper_unknown(work->program, at, work->diags);
	work->unknown |= kind == NM_ARGV_UNKNOWN || kind == NM_ARGV_OPTION;
}

/* Nothing is to be run. The args do not get the option itself: it would forbid the options of a
 * run, which are checked, too. */
static void look_instead(struct work *work, const char *name, enum nm_action action)
{
	if (work->instead && work->instead != action)
		nm_diag_error(work->diags, NULL, 0, "--%s and --%s: one at a time", work->look,
			      name);
	work->look = name;
	work->instead = action;
}

/* Finds whether the line is a client's, and whether it runs anything. */
static void look_ahead(struct work *work, const struct nm_neper_found *found, const char *value)
{
	const struct nm_neper_opt *opt = found->own;
	const struct nm_arg *arg = found->passed;

	if (opt && opt->letter == 'c')
		work->server = false;
	if (opt && opt->means == NM_NEPER_FAMILY)
		work->line->family |= opt->letter == '4' ? NM_NEPER_IPV4 : NM_NEPER_IPV6;
	if (arg && strcmp(arg->opt.name, "control") == 0)
		work->has_control = strcmp(value, "tcp") != 0;
	if (opt && opt->letter == 'H')
		work->host = value;
	if (opt && strcmp(opt->name, "nolog") == 0)
		work->silent = true;
	if (opt && opt->letter == 'n')
		look_instead(work, opt->name, NM_ACTION_OPTIONS);
	if (arg && arg->action && (arg->modes & NM_MODE_LOOK))
		look_instead(work, arg->opt.name, arg->action);
}

/* Takes an option of netmodel's. A server that is run learns the parameters from its client. */
static void take_passed(struct work *work, const struct nm_arg *arg, const char *value)
{
	bool is_define = strcmp(arg->opt.name, "define") == 0;

	work->has_batch |= is_define && strncmp(value, BATCH, strlen(BATCH)) == 0;
	if (!(work->server && is_define) && (!arg->action || !(arg->modes & NM_MODE_LOOK)))
		take_option(work, arg->opt.name, value);
}

/* Goes through the line; with `take_them` false only to look ahead. */
static void walk(struct work *work, int argc, char *const argv[], bool take_them)
{
	const struct nm_argv_table table = {.by_name = nm_neper_by_name,
					    .by_letter = nm_neper_by_letter,
					    .arg = &work->workload};
	enum nm_argv_kind kind;
	struct nm_argv at;

	nm_argv_init(&at, &table, argc, argv);
	while ((kind = nm_argv_next(&at)) != NM_ARGV_END) {
		struct nm_neper_found found = {.own = NULL};

		if (kind == NM_ARGV_OPTION)
			found = nm_neper_settle(work->workload, &at);
		if (!take_them)
			look_ahead(work, &found, at.value);
		else if (found.own)
			take(work, found.own, at.value);
		else if (found.passed)
			take_passed(work, found.passed, at.value);
		else if (kind != NM_ARGV_WORD)
			tell_wrong(work, kind, &at);
	}
}

/* Words that are no options are errors, unless one may be the value of an unknown option. */
static void tell_words(struct work *work, int argc, char *const argv[])
{
	const struct nm_argv_table table = {.by_name = nm_neper_by_name,
					    .by_letter = nm_neper_by_letter,
					    .arg = &work->workload};
	enum nm_argv_kind kind;
	struct nm_argv at;

	nm_argv_init(&at, &table, argc, argv);
	while (!work->unknown && (kind = nm_argv_next(&at)) != NM_ARGV_END)
		if (kind == NM_ARGV_WORD)
			nm_diag_error(work->diags, NULL, 0, "%s: not an option", at.word);
}

static void add_control_port(struct work *work)
{
	char port[8];

	snprintf(port, sizeof(port), "%d", NM_NEPER_CONTROL_PORT);
	take_option(work, "port", port);
}

/* neper's defaults. They come first: the last one of several counts. */
static void take_defaults(struct work *work)
{
	if (work->server) {
		take_option(work, "slave", NULL);
		add_control_port(work);
		take_option(work, "sessions", "1");
		return;
	}
	take_option(work, "master", work->program);
	add_control_port(work);
	take_option(work, "format", "neper");
	take_option(work, "wait-slaves", "30s");
	take_option(work, "no-env", NULL); /* all that neper is told stands on its line */
}

/* So many transactions of all flows together, however long they take; or a time. */
static void add_length(struct work *work)
{
	const struct nm_neper_opt *opt = work->length.opt;
	const char *text = work->length.text;
	char value[64];

	if (work->server)
		return;
	/* Windows are a length. */
	if (!opt && work->args->run.windows)
		return;
	work->origin = work->length;
	if (!opt && nm_stock_has_param(work->program, "test_length")) {
		define(work, "test_length=10s");
	} else if (opt && opt->value == NM_NEPER_LENGTH && *text == '-') {
		if (!nm_stock_has_param(work->program, NM_NEPER_BY_COUNT))
			nm_diag_error(work->diags, NULL, 0,
				      "--test-length %s: not offered: the profile %s has no "
				      "parameter num_transactions",
				      text, work->program);
		(void)read_length(work, opt, text, value, sizeof(value));
		define(work, NM_NEPER_BY_COUNT "=%s", value);
		define(work, "test_length=86400s");
	} else if (opt && read_length(work, opt, text, value, sizeof(value))) {
		take_param(work, opt, value);
	}
	work->origin = (struct typed){.opt = NULL};
}

/* Without a host the server is one on this host; with control connections that have no loopback of
 * IP, a slave of the master's own. */
static void add_host(struct work *work)
{
	if (work->server || work->host || work->has_control ||
	    !nm_stock_has_param(work->program, "host"))
		return;
	work->line->own_host = true;
	define(work, "host=%s", work->line->family == NM_NEPER_IPV6 ? "::1" : "127.0.0.1");
}

/* neper sends one datagram for each delay. */
static void add_batch(struct work *work)
{
	if (work->server || !work->delayed || work->has_batch ||
	    !nm_stock_has_param(work->program, "batch_size"))
		return;
	define(work, BATCH "1");
}

static bool is_there(const struct work *work)
{
	char *path = nm_stock_find(work->program, work->diags);

	free(path);
	return path != NULL;
}

static void translate(struct work *work, int argc, char *const argv[])
{
	if (nm_args_begin(&work->reading, work->args, work->diags) != 0)
		return;
	take_defaults(work);
	walk(work, argc, argv, true);
	tell_words(work, argc, argv);
	check_pairs(work);
	add_host(work);
	add_length(work);
	add_batch(work);
	if (!work->diags->n_errors)
		(void)nm_args_end(&work->reading);
}

/* The line of a server that is not to be run is checked as one, and then read as its client's. */
static void look_at_server(struct work *work, int argc, char *const argv[])
{
	translate(work, argc, argv);
	work->line->server = true;
	work->line->sessions = work->args->as_slave.sessions;
	if (work->diags->n_errors)
		return;
	nm_args_fini(work->args);
	memset(work->given, 0, sizeof(work->given));
	work->length = (struct typed){.opt = NULL};
	work->server = false;
	work->server_looked_at = true;
	translate(work, argc, argv);
}

/* The action that an option such as --help asks for instead of the line's own. */
static void settle_action(struct work *work)
{
	if (work->version && !work->diags->n_errors)
		work->args->action = NM_ACTION_VERSION;
	else if (work->help)
		work->args->action = NM_ACTION_HELP;
	else if (work->instead)
		work->args->action = work->instead;
}

int nm_neper_parse(int argc, char *const argv[], struct nm_args *ret_args, struct nm_diags *diags)
{
	struct nm_neper_line *line = calloc(1, sizeof(*line));
	struct work work = {
		.program = argv[1],
		.workload = nm_neper_workload(argv[1]),
		.server = true,
		.args = ret_args,
		.line = line,
		.diags = diags,
	};

	*ret_args = (struct nm_args){.action = NM_ACTION_NONE};
	if (!line) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return -EINVAL;
	}
	line->program = argv[1];
	walk(&work, argc - 1, argv + 1, false);
	if (work.server && work.instead && is_there(&work))
		look_at_server(&work, argc - 1, argv + 1);
	else if (work.server || is_there(&work))
		translate(&work, argc - 1, argv + 1);
	nm_neper_choose_words(line);
	ret_args->line = line;
	ret_args->wording = (struct nm_wording){.words = nm_neper_say, .arg = line};
	ret_args->terms = &line->words;
	settle_action(&work);
	return diags->n_errors ? -EINVAL : 0;
}
