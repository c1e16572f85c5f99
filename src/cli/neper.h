/* SPDX-License-Identifier: Apache-2.0 */
/* neper's command lines: `netmodel tcp_rr -c -H host -F 10`. One table says what each of neper's
 * options is here; the line is translated into one of netmodel's own, and goes on as that. */
#ifndef NM_CLI_NEPER_H
#define NM_CLI_NEPER_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "cli/args.h"

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

/* What a value must be, and how it reads here: a bare number has neper's unit, and one of ours may
 * be written. */
enum nm_neper_value {
	NM_NEPER_FLAG,
	NM_NEPER_TEXT,
	NM_NEPER_COUNT,
	NM_NEPER_SIZE,
	NM_NEPER_LENGTH, /* seconds, or below 0 transactions */
	NM_NEPER_S,
	NM_NEPER_REAL_S, /* the same, always printed with a fraction */
	NM_NEPER_MS,
	NM_NEPER_US,
	NM_NEPER_NS,
	NM_NEPER_BYTE_RATE,   /* bytes/s, or one of neper's units */
	NM_NEPER_PERCENTILES, /* with anything between them; 999 is 99.9 and 9999 is 99.99 */
	NM_NEPER_FILE,	      /* glued to the option; without one neper's own name is taken */
};

/* What the option is here. */
enum nm_neper_means {
	NM_NEPER_ROLE, /* client, help, version */
	/* a parameter of the profile; `here` may name several, separated by '|', of which the first
	 * that the profile has is taken; NAME=VALUE for one that is a flag there */
	NM_NEPER_PARAM,
	NM_NEPER_OPTION, /* an option of netmodel's; of a flag without its value */
	/* all CPUs that the process may use, each worker on one of them; by NUMA nodes for
	 * --pin-numa */
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
	/* What a server's option of that name is, an option of netmodel's; NULL: it is taken from
	 * the client. "=" when it is the same as the client's. */
	const char *server;
	const char *fallback; /* FILE: the name when none is given */
	/* what a run has of it where nothing can be set, and what 0 or nothing is in neper's words;
	 * NULL: neper has the same */
	const char *in_force;
};

extern const struct nm_neper_opt nm_neper_table[]; /* ends with an entry without a name */

#define NM_NEPER_MAX_OPTIONS  160
#define NM_NEPER_MAX_PREFIXES 96
/* What getopt answers for the first entry of neper's table, and of netmodel's. */
#define NM_NEPER_FIRST_OWN    1000
#define NM_NEPER_FIRST_PASSED 2000

/* getopt's view of a workload: neper's options, and netmodel's long ones whose names neper does not
 * have. What is short for one of neper's is that, whatever netmodel's are called. */
struct nm_neper_spec {
	struct option longs[NM_NEPER_MAX_OPTIONS + NM_NEPER_MAX_PREFIXES + 1];
	char shorts[2 * NM_NEPER_MAX_OPTIONS];
	char prefixes[NM_NEPER_MAX_PREFIXES][32];
	size_t count, n_prefixes;
};

/* Points into itself: it must stay where it is. */
void nm_neper_spec_make(struct nm_neper_spec *spec, unsigned workload);
/* The option that an answer stands for; NULL: none of neper's. */
const struct nm_neper_opt *nm_neper_spec_find(unsigned workload, int answer);
/* The answer, or another by its value: an option of netmodel's whose values are words may have the
 * name of what is short for one of neper's whose values are numbers, and -D NAME=VALUE sets a
 * parameter. '?' with optopt: none. */
int nm_neper_spec_settle(unsigned workload, int answer, const char *value);
/* A value as it reads here: 0, or -EINVAL with a phrase in why. */
int nm_neper_value_read(enum nm_neper_value kind, const char *text, char *to, size_t size,
			const char **why);
/* What stands for it in the help, behind the option; "" for a flag. */
const char *nm_neper_value_text(enum nm_neper_value kind);

/* As bits: both are as good as none. */
enum nm_neper_family { NM_NEPER_IPV4 = 1, NM_NEPER_IPV6 = 2 };

/* The first address of a host that is of one of the families; none is any. 0, or -EINVAL with a
 * phrase in *why. */
int nm_neper_address(const char *host, unsigned families, char *to, size_t size, const char **why);
/* The same for each of a list that has commas between them. The phrase begins with what it is
 * about. */
int nm_neper_addresses(const char *list, unsigned families, char *to, size_t size, char *why,
		       size_t why_size);
/* The family of a numeric address; 0: it is none. */
unsigned nm_neper_family(const char *address);
/* 0: the word names no program of neper's. */
unsigned nm_neper_workload(const char *word);

/* Where a word of netmodel's comes from. */
struct nm_word_origin {
	const struct nm_neper_opt *opt; /* NULL: nobody has typed it */
	const char *typed;		/* its value; borrowed from the line */
};

/* A command line of netmodel's. */
struct nm_words {
	char **items;			/* owned, NULL-terminated */
	struct nm_word_origin *origins; /* of each */
	int count;
	const char *program; /* neper's; borrowed from the line */
	bool own_host;	     /* no host was named: the server is to be on this one */
	struct nm_neper_typed typed;
};

/* Translates argv, whose second word names the workload. 0, or -EINVAL with errors in diags.
 * *ret_words must be given to nm_words_fini in any case. *ret_instead: what is to be done instead
 * of what the words say, NM_ACTION_HELP or a look at the profile; otherwise NM_ACTION_NONE. */
int nm_neper_translate(int argc, char *const argv[], struct nm_words *ret_words,
		       enum nm_action *ret_instead, struct nm_diags *diags);
void nm_words_fini(struct nm_words *words);
/* The words for a subject in the terms of the one who has typed neper's options: see struct
 * nm_wording. arg: struct nm_words. */
bool nm_neper_say(const struct nm_diag_subject *subject, void *words, char *buf, size_t size);
/* Puts neper's options, as they were typed, into messages about those that they were translated
 * into. */
void nm_neper_retell(const struct nm_words *words, struct nm_diags *diags);
/* Tells that the program has no such option, and which ones have it. `word` is a long one, unless
 * letter is one. */
void nm_neper_unknown(const char *workload, const char *word, int letter, struct nm_diags *diags);
/* The name of one program. */
const char *nm_neper_program(unsigned workload);
/* The options of one workload and what they are here. */
void nm_neper_help(const char *workload, FILE *out);

#endif
