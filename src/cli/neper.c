/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/neper.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/stock.h"
#include "host/procfile.h"

static const char *const workloads[] = {"tcp_rr",     "tcp_crr", "tcp_stream", "udp_rr",
					"udp_stream", "psp_rr",	 "psp_crr",    "psp_stream"};

#define N_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

/* A translation under way. */
#define BATCH "batch_size="

struct work {
	const char *program;
	unsigned workload;
	bool server, help, version;
	/* as its client would be: what only a server has is checked already */
	bool server_looked_at;
	const char *look; /* the option by which nothing is to be run; NULL: none */
	enum nm_action instead;
	struct nm_neper_spec spec;
	struct nm_words *words;
	struct nm_diags *diags;
	const char *host; /* NULL: none is given; borrowed from the line */
	bool no_memory;
	struct nm_word_origin length;	  /* the last one given */
	bool delayed, has_batch;	  /* a delay, and how many datagrams there are for each */
	bool has_control;		  /* hosts may have other addresses than those of IP */
	unsigned family;		  /* bits of enum nm_neper_family; both are as none */
	struct nm_word_origin origin;	  /* of the words that are added */
	bool given[NM_NEPER_MAX_OPTIONS]; /* by their places in the table */
	bool unknown; /* what follows may be the value of an option that is not there */
};

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

void nm_words_fini(struct nm_words *words)
{
	for (int i = 0; i < words->count; i++)
		free(words->items[i]);
	free(words->items);
	free(words->origins);
	*words = (struct nm_words){.program = words->program, .typed = words->typed};
}

__attribute__((format(printf, 2, 3))) static void add(struct work *work, const char *fmt, ...)
{
	struct nm_words *words = work->words;
	size_t room = (size_t)words->count + 2;
	char **items = realloc(words->items, room * sizeof(*items));
	char *text = NULL;
	va_list args;

	if (items)
		words->items = items;
	struct nm_word_origin *origins = realloc(words->origins, room * sizeof(*origins));

	if (origins)
		words->origins = origins;
	va_start(args, fmt);
	if (!items || !origins || vasprintf(&text, fmt, args) < 0) {
		work->no_memory = true;
	} else {
		origins[words->count] = work->origin;
		items[words->count++] = text;
	}
	va_end(args);
	if (items)
		items[words->count] = NULL;
}

/* An option of netmodel's; value NULL: it takes none. */
static void add_option(struct work *work, const char *name, const char *value)
{
	add(work, "--%s", name);
	if (value)
		add(work, "%s", value);
}

/* --- options --- */

/* One part of "a|b=c" that the profile has, as a definition without a value; false: none. */
static bool find_param(const struct work *work, const char *here, char *name, size_t size,
		       const char **ret_fixed)
{
	while (*here) {
		size_t length = strcspn(here, "|"), bare = strcspn(here, "|=");

		snprintf(name, size, "%.*s", (int)bare, here);
		*ret_fixed = bare < length ? here + bare + 1 : NULL;
		if (nm_cli_has_param(work->program, name))
			return true;
		here += length + (here[length] == '|');
	}
	return false;
}

static void take_param(struct work *work, const struct nm_neper_opt *opt, const char *value)
{
	char name[64];
	const char *fixed;

	if (!find_param(work, opt->here, name, sizeof(name), &fixed)) {
		nm_diag_error(work->diags, NULL, 0,
			      "--%s: not offered: the profile %s has no parameter %.*s", opt->name,
			      work->program, (int)strcspn(opt->here, "|"), opt->here);
		return;
	}
	add(work, "-D");
	add(work, "%s=%s", name, fixed ? fixed : opt->value == NM_NEPER_FLAG ? "yes" : value);
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

/* Of several the last counts, and one may be a time where another is a number. */
static void take_length(struct work *work, const struct nm_neper_opt *opt, const char *text)
{
	char ignored[64];

	if (read_length(work, opt, text, ignored, sizeof(ignored)))
		work->length = (struct nm_word_origin){.opt = opt, .typed = text};
}

/* The CPUs that stand for the nodes of --pin-numa; NULL: those of --pin-cpu. */
static const char *cpus_of_nodes(const struct nm_neper_opt *opt)
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

	if (cpus_of_nodes(opt)) {
		add_option(work, opt->here, cpus_of_nodes(opt));
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
	add_option(work, opt->here, list);
}

static void take_option(struct work *work, const char *name, const struct nm_neper_opt *opt,
			const char *value)
{
	add_option(work, name, opt->value == NM_NEPER_FLAG ? NULL : value);
}

/* A family is that of the host's address, wherever on the line they are. */
static void take_family(struct work *work, const struct nm_neper_opt *opt)
{
	if (work->host || work->server_looked_at)
		return;
	if (work->server && work->family == NM_NEPER_IPV4)
		add_option(work, opt->server, "0.0.0.0");
}

static bool choose_address(struct work *work, const char *host, char *value, size_t size)
{
	const char *why = "";

	if ((work->family != NM_NEPER_IPV4 && work->family != NM_NEPER_IPV6) || work->has_control ||
	    strcmp(host, "local") == 0)
		return true;
	if (nm_neper_address(host, work->family, value, size, &why) == 0)
		return true;
	nm_diag_error(work->diags, NULL, 0, "--host %s: has no address of IPv%d: %s", host,
		      work->family == NM_NEPER_IPV4 ? 4 : 6, why);
	return false;
}

/* Addresses of this host, which must be of the family of the one that is called. */
static bool choose_local(struct work *work, const char *list, char *value, size_t size)
{
	char why[400];
	unsigned families = work->family;

	if (families != NM_NEPER_IPV4 && families != NM_NEPER_IPV6)
		families = work->host ? nm_neper_family(work->host) : NM_NEPER_IPV4;
	if (work->has_control) /* the host is no address */
		families = 0;
	if (nm_neper_addresses(list, families, value, size, why, sizeof(why)) == 0)
		return true;
	bool as_host = work->host && families && families != work->family;

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

/* What a client asks for is measured by the server's own limit, at the begin of the run. */
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
	if (!opt->server) { /* checked, and left to the client */
		check_backlog(work, opt, value);
		return;
	}
	if (opt->means == NM_NEPER_CPUS)
		take_cpus(work, opt);
	else
		take_option(work, *opt->server == '=' ? opt->here : opt->server, opt, value);
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
	work->origin = (struct nm_word_origin){.opt = opt, .typed = text};
	work->given[opt - nm_neper_table] = true;
	if (opt->means == NM_NEPER_FAMILY)
		take_family(work, opt);
	else if (work->server)
		take_of_server(work, opt, value);
	else if (opt->means == NM_NEPER_PARAM)
		take_param(work, opt, value);
	else if (opt->means == NM_NEPER_OPTION)
		take_option(work, opt->here, opt, value);
	else if (opt->means == NM_NEPER_CPUS)
		take_cpus(work, opt);
	else if (!work->server_looked_at)
		nm_diag_warn(work->diags, NULL, 0, "--%s: has no effect: %s", opt->name, opt->here);
	work->origin = (struct nm_word_origin){.opt = NULL};
}

static bool was_given(const struct work *work, const char *name)
{
	for (size_t i = 0; nm_neper_table[i].name; i++)
		if (work->given[i] && strcmp(nm_neper_table[i].name, name) == 0)
			return true;
	return false;
}

/* What cannot be together, by the names under which it was given. */
static void check_pairs(const struct work *work)
{
	static const char *const pairs[][2] = {{"delay", "noburst"},
					       {"rx-zerocopy", "skip-rx-copy"}};

	for (size_t i = 0; !work->server && i < sizeof(pairs) / sizeof(*pairs); i++)
		if (was_given(work, pairs[i][0]) && was_given(work, pairs[i][1]))
			nm_diag_error(work->diags, NULL, 0,
				      "--%s and --%s: only one of them can be", pairs[i][0],
				      pairs[i][1]);
}

/* --- the line --- */

static void wrong(struct work *work, int answer, char *const argv[])
{
	const struct nm_neper_opt *opt = nm_neper_spec_find(work->workload, optopt);
	const char *word = argv[optind - 1];

	if (answer == ':' && opt)
		nm_diag_error(work->diags, NULL, 0, "--%s: its value is missing", opt->name);
	else if (answer == ':')
		nm_diag_error(work->diags, NULL, 0, "%s: its value is missing", word);
	else if (optopt >= NM_NEPER_FIRST_OWN)
		nm_diag_error(work->diags, NULL, 0, "%s: takes no value", word);
	else
		nm_neper_unknown(work->program, word, optopt, work->diags);
	work->unknown |= optopt < NM_NEPER_FIRST_OWN;
}

/* Nothing is to be run. The option is none of the words: it would forbid what only a run has, which
 * is checked too. */
static void look_instead(struct work *work, const char *name, enum nm_action action)
{
	if (work->instead && work->instead != action)
		nm_diag_error(work->diags, NULL, 0, "--%s and --%s: one at a time", work->look,
			      name);
	work->look = name;
	work->instead = action;
}

/* Whether this is a client, and whether it runs anything. */
static void look_ahead(struct work *work, const struct nm_neper_opt *opt, int answer)
{
	const struct nm_arg *arg = answer >= NM_NEPER_FIRST_PASSED
					   ? &nm_arg_table[answer - NM_NEPER_FIRST_PASSED]
					   : NULL;

	if (opt && opt->letter == 'c')
		work->server = false;
	if (opt && opt->means == NM_NEPER_FAMILY)
		work->family |= opt->letter == '4' ? NM_NEPER_IPV4 : NM_NEPER_IPV6;
	if (arg && strcmp(arg->opt.name, "control") == 0)
		work->has_control = strcmp(optarg, "tcp") != 0;
	if (opt && opt->letter == 'H')
		work->host = optarg;
	if (opt && opt->letter == 'n')
		look_instead(work, opt->name, NM_ACTION_OPTIONS);
	if (arg && arg->action && (arg->modes & NM_MODE_LOOK))
		look_instead(work, arg->opt.name, arg->action);
}

/* A server that is run learns the parameters from its client. */
static bool is_left_to_client(const struct work *work, const struct nm_arg *arg)
{
	return work->server && strcmp(arg->opt.name, "define") == 0;
}

/* Calls getopt for each option; with `take_them` false only to look ahead. */
static void walk(struct work *work, int argc, char *argv[], bool take_them)
{
	int answer;

	optind = 0;
	opterr = 0;
	while ((answer = getopt_long(argc, argv, work->spec.shorts, work->spec.longs, NULL)) !=
	       -1) {
		answer = nm_neper_spec_settle(work->workload, answer, optarg);
		const struct nm_neper_opt *opt = nm_neper_spec_find(work->workload, answer);

		if (!take_them) {
			look_ahead(work, opt, answer);
		} else if (answer == '?' || answer == ':') {
			wrong(work, answer, argv);
		} else if (opt) {
			take(work, opt, optarg);
		} else if (answer >= NM_NEPER_FIRST_PASSED) {
			const struct nm_arg *arg = &nm_arg_table[answer - NM_NEPER_FIRST_PASSED];

			work->has_batch |=
				arg->argument && strncmp(optarg, BATCH, strlen(BATCH)) == 0;
			if (!is_left_to_client(work, arg) &&
			    (!arg->action || !(arg->modes & NM_MODE_LOOK)))
				add_option(work, arg->opt.name, arg->argument ? optarg : NULL);
		}
	}
	for (int i = optind; take_them && !work->unknown && i < argc; i++)
		nm_diag_error(work->diags, NULL, 0, "%s: not an option", argv[i]);
}

static void add_control_port(struct work *work)
{
	char port[8];

	snprintf(port, sizeof(port), "%d", NM_NEPER_CONTROL_PORT);
	add_option(work, "port", port);
}

/* What neper has when its option is not given. They come first: the last one of several counts. */
static void add_defaults(struct work *work)
{
	add(work, "netmodel");
	if (work->server) {
		add_option(work, "slave", NULL);
		add_control_port(work);
		add_option(work, "sessions", "1");
		return;
	}
	add_option(work, "master", work->program);
	add_control_port(work);
	add_option(work, "format", "neper");
	add_option(work, "wait-slaves", "30s");
}

/* So many transactions of all flows together, however long they take; or a time. */
static void add_length(struct work *work)
{
	const struct nm_neper_opt *opt = work->length.opt;
	const char *text = work->length.typed;
	char value[64];

	if (work->server)
		return;
	work->origin = work->length;
	if (!opt && nm_cli_has_param(work->program, "test_length")) {
		add(work, "-D");
		add(work, "test_length=10s");
	} else if (opt && opt->value == NM_NEPER_LENGTH && *text == '-') {
		if (!nm_cli_has_param(work->program, NM_NEPER_BY_COUNT))
			nm_diag_error(work->diags, NULL, 0,
				      "--test-length %s: not offered: the profile %s has no "
				      "parameter num_transactions",
				      text, work->program);
		(void)read_length(work, opt, text, value, sizeof(value));
		add(work, "-D");
		add(work, NM_NEPER_BY_COUNT "=%s", value);
		add(work, "-D");
		add(work, "test_length=86400s");
	} else if (opt && read_length(work, opt, text, value, sizeof(value))) {
		take_param(work, opt, value);
	}
	work->origin = (struct nm_word_origin){.opt = NULL};
}

/* A server on this host is asked where none is named; with control connections that have no
 * loopback of IP, a slave of the master's own. */
static void add_host(struct work *work)
{
	if (work->server || work->host || work->has_control ||
	    !nm_cli_has_param(work->program, "host"))
		return;
	work->words->own_host = true;
	add(work, "-D");
	add(work, "host=%s", work->family == NM_NEPER_IPV6 ? "::1" : "127.0.0.1");
}

/* neper sends one datagram for each delay. */
static void add_batch(struct work *work)
{
	if (work->server || !work->delayed || work->has_batch ||
	    !nm_cli_has_param(work->program, "batch_size"))
		return;
	add(work, "-D");
	add(work, BATCH "1");
}

static bool is_there(const struct work *work)
{
	char *path = nm_stock_find(work->program, work->diags);

	free(path);
	return path != NULL;
}

static void translate(struct work *work, int argc, char *argv[])
{
	add_defaults(work);
	walk(work, argc, argv, true);
	check_pairs(work);
	add_host(work);
	add_length(work);
	add_batch(work);
}

/* A server that is not to be run is checked as one, and then looked at as the client that it is
 * for. */
static void look_at_server(struct work *work, int argc, char *argv[])
{
	struct nm_args server = {.action = NM_ACTION_NONE};

	translate(work, argc, argv);
	if (!work->diags->n_errors && !work->no_memory)
		(void)nm_args_parse(work->words->count, work->words->items, &server, work->diags);
	work->words->typed.server = true;
	work->words->typed.sessions = server.sessions;
	nm_args_fini(&server);
	if (work->diags->n_errors)
		return;
	nm_words_fini(work->words);
	memset(work->given, 0, sizeof(work->given));
	work->length = (struct nm_word_origin){.opt = NULL};
	work->server = false;
	work->server_looked_at = true;
	translate(work, argc, argv);
}

int nm_neper_translate(int argc, char *const argv[], struct nm_words *ret_words,
		       enum nm_action *ret_instead, struct nm_diags *diags)
{
	struct work work = {
		.program = argv[1],
		.workload = nm_neper_workload(argv[1]),
		.server = true,
		.words = ret_words,
		.diags = diags,
	};
	char **copy = calloc((size_t)argc, sizeof(*copy)); /* getopt puts them in order */

	*ret_words = (struct nm_words){.program = argv[1]};
	if (!copy) {
		nm_diag_error(diags, NULL, 0, "out of memory");
		return -EINVAL;
	}
	nm_neper_spec_make(&work.spec, work.workload);
	memcpy(copy, argv + 1, ((size_t)argc - 1) * sizeof(*copy));
	walk(&work, argc - 1, copy, false);
	if (work.server && work.instead && is_there(&work))
		look_at_server(&work, argc - 1, copy);
	else if (work.server || is_there(&work))
		translate(&work, argc - 1, copy);
	free(copy);
	ret_words->typed.family = work.family;
	*ret_instead = work.help ? NM_ACTION_HELP : work.instead;
	if (work.version && !diags->n_errors) {
		nm_words_fini(ret_words);
		add(&work, "netmodel");
		add(&work, "--version");
		*ret_instead = NM_ACTION_NONE;
	}
	if (work.no_memory)
		nm_diag_error(diags, NULL, 0, "out of memory");
	return diags->n_errors ? -EINVAL : 0;
}

/* --- help --- */

/* What the client's option is here. */
static void print_client(const struct work *work, const struct nm_neper_opt *opt, FILE *out)
{
	char name[64];
	const char *fixed;

	switch (opt->means) {
	case NM_NEPER_ROLE:
		fputs(opt->here, out);
		break;
	case NM_NEPER_PARAM:
		if (find_param(work, opt->here, name, sizeof(name), &fixed))
			fprintf(out, "-D %s%s%s", name, fixed ? "=" : "", fixed ? fixed : "");
		else
			fputs("not offered by the profile", out);
		if (opt->value == NM_NEPER_LENGTH)
			fputs("; below 0: -D num_transactions", out);
		if (opt->value == NM_NEPER_BYTE_RATE)
			fputs(", in bits/s; k, m, g: 1000 bits; K, M, G: 1024 bytes", out);
		break;
	case NM_NEPER_OPTION:
		fprintf(out, "--%s", opt->here);
		break;
	case NM_NEPER_CPUS:
		fprintf(out, "--%s %s", opt->here,
			cpus_of_nodes(opt) ? cpus_of_nodes(opt) : "LIST");
		break;
	case NM_NEPER_FAMILY:
		fputs(opt->here, out);
		break;
	case NM_NEPER_NONE:
		fprintf(out, "no effect: %s", opt->here);
		break;
	}
}

void nm_neper_help(const char *workload, FILE *out)
{
	const struct work work = {.program = workload, .workload = nm_neper_workload(workload)};

	fprintf(out,
		"Usage: netmodel %s [OPTION]...              a server\n"
		"       netmodel %s -c -H HOST [OPTION]...   a client\n"
		"Without -H a client asks the server on this host; -H local needs none.\n"
		"Runs the profile %s by neper's command lines. A server is a slave that takes\n"
		"everything from its client; options in brackets are its own. A bare number has\n"
		"neper's unit, and another may be written: -l 500ms. Long options of netmodel "
		"whose\n"
		"names neper does not have may be given too.\n\n",
		workload, workload, workload);
	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++) {
		char left[64];

		if (!(opt->workloads & work.workload))
			continue;
		snprintf(left, sizeof(left), "%c%c%c--%s%s", opt->letter ? '-' : ' ',
			 opt->letter ? opt->letter : ' ', ' ', opt->name,
			 nm_neper_value_text(opt->value));
		fprintf(out, "  %-36s ", left);
		print_client(&work, opt, out);
		if (opt->server && opt->means != NM_NEPER_ROLE)
			fprintf(out, " [--%s]", *opt->server == '=' ? opt->here : opt->server);
		fputc('\n', out);
	}
}
