/* SPDX-License-Identifier: Apache-2.0 */
/* neper's command lines: `netmodel tcp_rr -c -H host -F 10`. One table gives the meaning of each of
 * neper's options here. By it a line is read into netmodel's args, and runs like any other line.
 * Messages name the options as they were typed. */
#ifndef NM_CLI_NEPER_NEPER_H
#define NM_CLI_NEPER_NEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"
#include "cli/argv.h"
#include "cli/dialect.h"
#include "control/options.h"

#define NM_NEPER_CONTROL_PORT 12866
/* The parameter that a length below 0 stands for. */
#define NM_NEPER_BY_COUNT "num_transactions"

/* neper's programs, as sets. */
enum nm_neper_workload {
	NM_NEPER_TCP_RR = 1 << 0,
	NM_NEPER_TCP_CRR = 1 << 1,
	NM_NEPER_TCP_STREAM = 1 << 2,
	NM_NEPER_UDP_RR = 1 << 3,
	NM_NEPER_UDP_STREAM = 1 << 4,
	NM_NEPER_PSP_RR = 1 << 5,
	NM_NEPER_PSP_CRR = 1 << 6,
	NM_NEPER_PSP_STREAM = 1 << 7,
	NM_NEPER_ALL = (1 << 8) - 1,
};

/* The kinds of values, and how they read here: a bare number has neper's unit, and a unit of
 * netmodel's may be written. */
enum nm_neper_value {
	NM_NEPER_FLAG,
	NM_NEPER_TEXT,
	NM_NEPER_COUNT,
	NM_NEPER_SIZE,
	NM_NEPER_LENGTH, /* seconds, or below 0 transactions */
	NM_NEPER_S,
	NM_NEPER_REAL_S, /* seconds, always printed with a fraction */
	NM_NEPER_MS,
	NM_NEPER_US,
	NM_NEPER_NS,
	NM_NEPER_BYTE_RATE,   /* bytes/s, or one of neper's units */
	NM_NEPER_PERCENTILES, /* with anything between them; 999 is 99.9 and 9999 is 99.99 */
	NM_NEPER_FILE,	      /* glued to the option; without one neper's own name is taken */
};

/* The meaning of an option here. */
enum nm_neper_means {
	NM_NEPER_ROLE, /* client, help, version */
	/* A parameter of the profile; `here` may name several, separated by '|', of which the first
	 * that the profile has is taken; NAME=VALUE for one that is a flag there. */
	NM_NEPER_PARAM,
	NM_NEPER_OPTION, /* an option of netmodel's; of a flag without its value */
	/* All CPUs that the process may use, each worker on one of them; by NUMA nodes for
	 * --pin-numa. */
	NM_NEPER_CPUS,
	NM_NEPER_FAMILY, /* of the host's addresses */
	NM_NEPER_NONE,	 /* nothing is left to set; `here` says why */
};

struct nm_neper_opt {
	const char *name;
	char letter; /* 0: none */
	unsigned workloads;
	enum nm_neper_value value;
	enum nm_neper_means means;
	const char *here;
	/* netmodel's option that a server sets by it; NULL: the server learns the value from its
	 * client. "=": as for a client. */
	const char *server;
	const char *fallback; /* FILE: the name when none is given */
	/* The value that a run has where nothing can be set; or, in neper's words, where the value
	 * is 0 or missing. NULL: as in neper. */
	const char *in_force;
	/* For the documents: of PARAM and OPTION a value as netmodel takes it, NULL for a flag; of
	 * the others all that is typed, NULL: nothing. */
	const char *example;
};

extern const struct nm_neper_opt nm_neper_table[]; /* ends with an entry without a name */

#define NM_NEPER_MAX_OPTIONS 160

/* --- values (value.c, address.c) --- */

/* Writes a value as netmodel reads it: 0, or -EINVAL with a phrase in why. */
int nm_neper_value_read(enum nm_neper_value kind, const char *text, char *to, size_t size,
			const char **why);
/* The placeholder for a value in the help, behind the option; "" for a flag. */
const char *nm_neper_value_text(enum nm_neper_value kind);
/* Of a time the unit of a bare number; 1: it is no time. */
uint64_t nm_neper_unit_ns(enum nm_neper_value kind);

/* Bits; both together allow any family, as none of them does. */
enum nm_neper_family { NM_NEPER_IPV4 = 1, NM_NEPER_IPV6 = 2 };

/* The first address of a host that is of one of the families (0: of any). 0, or -EINVAL with a
 * phrase in *why. */
int nm_neper_address(const char *host, unsigned families, char *to, size_t size, const char **why);
/* The first address of each host in a list with commas. The phrase begins with the host at
 * fault. */
int nm_neper_addresses(const char *list, unsigned families, char *to, size_t size, char *why,
		       size_t why_size);
/* The family of a numeric address; 0: the text is none. */
unsigned nm_neper_family(const char *address);

/* --- words (lookup.c) --- */

/* 0: the word names no program of neper's. */
unsigned nm_neper_workload(const char *word);
/* The name of one program. */
const char *nm_neper_program(unsigned workload);

/* An option on a line: neper's or, if that is NULL, netmodel's. */
struct nm_neper_found {
	const struct nm_neper_opt *own;
	const struct nm_arg *passed;
};

/* Find neper's options of a workload, and netmodel's whose names neper does not have. A word that
 * is short for one of neper's options means that one, whatever netmodel's are called. arg: the
 * workload. */
struct nm_argv_option nm_neper_by_name(const void *workload, const char *name, size_t length);
struct nm_argv_option nm_neper_by_letter(const void *workload, char letter);
/* The option that has been found, or another one by its value: a name of netmodel's option that
 * takes words may also be short for one of neper's that takes numbers, and -D NAME=VALUE sets a
 * parameter. Both NULL: none. */
struct nm_neper_found nm_neper_settle(unsigned workload, const struct nm_argv *at);
/* Tells that the program has no such option, and which ones have it. */
void nm_neper_unknown(const char *program, const struct nm_argv *at, struct nm_diags *diags);

/* --- the line (translate.c, wording.c) --- */

/* The typed option that an option of netmodel's comes from. */
struct nm_neper_origin {
	const struct nm_arg *arg;
	char *value;			/* owned */
	const struct nm_neper_opt *opt; /* the option that was typed */
	const char *typed;		/* its value; borrowed from the line */
};

/* The parts of a line of neper's that args have no place for: nm_args.line. */
struct nm_neper_line {
	const char *program; /* borrowed from the line */
	struct nm_neper_origin *origins;
	size_t n_origins;
	bool own_host;	   /* without a host: the server is to be on this one */
	unsigned family;   /* bits of enum nm_neper_family */
	bool server;	   /* without --client: the server's options are checked */
	uint64_t sessions; /* how many clients the server is for */
	uint64_t threads;  /* that the server is to have; 0: not given */
	struct nm_run_words words;
	char limit[128], localhost[1200];
};

/* Reads a line whose argv[1] is a workload of neper's into ret_args, which is overwritten, with a
 * struct nm_neper_line as its line and the wording of that line. 0, or -EINVAL with errors in
 * diags, also without memory. ret_args must be given to nm_args_fini, and its line to
 * nm_neper_free_line, in any case; the line borrows from argv. */
int nm_neper_parse(int argc, char *const argv[], struct nm_args *ret_args, struct nm_diags *diags);
/* Fills line->words by the options that were typed. */
void nm_neper_choose_words(struct nm_neper_line *line);
void nm_neper_free_line(void *line);
/* The words for a subject in messages to a user who has typed neper's options: see struct
 * nm_wording. */
bool nm_neper_say(const struct nm_diag_subject *subject, void *line, char *buf, size_t size);
/* "--num-flows 5", or "--no-delay". */
void nm_neper_print_typed(const struct nm_neper_opt *opt, const char *typed, char *buf,
			  size_t size);
/* The part of "a|b=c" that the profile has; false: none. *ret_fixed: the value of a flag, or
 * NULL. */
bool nm_neper_find_param(const char *program, const char *here, char *name, size_t size,
			 const char **ret_fixed);
/* The word that an option of CPUs takes for --pin-numa; NULL: --pin-cpu, which gives a list. */
const char *nm_neper_cpus_of_nodes(const struct nm_neper_opt *opt);

/* --- options and help as neper prints them (options.c, help.c): see struct nm_dialect --- */

/* The options of neper's that the args run, with the values in force; params: of the profile. None
 * when args->master names no workload of neper's. 0 or -ENOMEM; ret_options owns names and values
 * and must be given to nm_neper_free_options in any case. */
int nm_neper_options(const struct nm_args *args, const struct nm_params *params,
		     struct nm_tool_options *ret_options);
/* Releases names, values and items, and leaves no option. */
void nm_neper_free_options(struct nm_tool_options *options);
/* Prints usage and options of a workload of neper's, a line for each, to out, whose errors are the
 * caller's to check. */
void nm_neper_help(const char *workload, FILE *out);
/* Prints all options of all workloads as a table in Markdown, for docs/neper.md. */
void nm_neper_print_table(FILE *out);

#endif
