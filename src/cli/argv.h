/* SPDX-License-Identifier: Apache-2.0 */
/* A command line, taken apart word by word: long options, which may be cut short, clusters of
 * letters, values behind "=" or in the next word, and words that are no options, in any order; "--"
 * ends the options. */
#ifndef NM_CLI_ARGV_H
#define NM_CLI_ARGV_H

#include <stdbool.h>
#include <stddef.h>

struct nm_argv;

enum nm_argv_value { NM_ARGV_NONE, NM_ARGV_REQUIRED, NM_ARGV_OPTIONAL };

/* One option of the caller's table; the row that is found is returned as it is. */
struct nm_argv_option {
	const void *option; /* NULL: there is none */
	enum nm_argv_value value;
};

/* The caller's options. */
struct nm_argv_table {
	/* Finds an option by the first `length` characters of name: its whole name, or the begin of
	 * one name only. */
	struct nm_argv_option (*by_name)(const void *arg, const char *name, size_t length);
	struct nm_argv_option (*by_letter)(const void *arg, char letter);
	/* Refuses a word with one dash, at->word, whose letters must not be taken one by one: true
	 * when it has kept that error. May be NULL. */
	bool (*refuses)(void *arg, const struct nm_argv *at);
	void *arg;
};

enum nm_argv_kind {
	NM_ARGV_OPTION,
	NM_ARGV_WORD,	     /* is no option */
	NM_ARGV_UNKNOWN,     /* word, or letter when that is not 0 */
	NM_ARGV_NO_VALUE,    /* the value of the option is missing */
	NM_ARGV_SUPERFLUOUS, /* the option takes none */
	NM_ARGV_END,
};

struct nm_argv {
	const struct nm_argv_table *table;
	int argc;
	char *const *argv;
	int next;	     /* index of the next word */
	const char *letters; /* the rest of a cluster; NULL: none is under way */
	bool plain;	     /* behind "--" */
	/* The option or the word that was found last. */
	const void *option;
	const char *value; /* NULL: none */
	const char *word;  /* the word that the option stands in */
	char letter;	   /* the letter that was given; 0: the name was */
};

/* The next word, if that may be the value of an option: it is not one itself; else NULL. */
const char *nm_argv_peek(const struct nm_argv *at);
/* Begins with the second word. All is borrowed. */
void nm_argv_init(struct nm_argv *at, const struct nm_argv_table *table, int argc,
		  char *const argv[]);
enum nm_argv_kind nm_argv_next(struct nm_argv *at);

#endif
