/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong, in the words of the one who has typed neper's options and none of netmodel's. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/neper.h"

/* Puts `after` into the place of the first `before`. */
static bool replace(struct nm_diag *diag, const char *before, const char *after)
{
	const char *at = diag->text ? strstr(diag->text, before) : NULL;
	char *text = NULL;

	if (!at || asprintf(&text, "%.*s%s%s", (int)(at - diag->text), diag->text, after,
			    at + strlen(before)) < 0)
		return false;
	free(diag->text);
	diag->text = text;
	return true;
}

/* "--num-flows 0", or "--no-delay". */
static void print_typed(const struct nm_word_origin *origin, char *buf, size_t size)
{
	bool flag = origin->opt->value == NM_NEPER_FLAG;

	snprintf(buf, size, "--%s%s%s", origin->opt->name, flag ? "" : " ",
		 flag ? "" : origin->typed);
}

/* Of local addresses it shows only when a host has tried them. */
static void retell_localhost(struct nm_diag *diag, const char *word, const char *typed)
{
	char after[1300];

	snprintf(after, sizeof after, ": %s: ", typed);
	if (strncmp(word, "local_hosts=", strlen("local_hosts=")) == 0 && !diag->file)
		replace(diag, ": localhost: ", after);
}

/* "--port 70000: why", or "--port: why"; `option` is netmodel's, with its dashes. */
static void retell_option(struct nm_diag *diag, const char *option, const char *value,
			  const char *typed)
{
	char before[1300];

	if (diag->file || !diag->text)
		return;
	snprintf(before, sizeof before, "%s: ", option);
	if (strncmp(diag->text, before, strlen(before)) != 0)
		snprintf(before, sizeof before, "%s %s: ", option, value);
	if (strncmp(diag->text, before, strlen(before)) != 0)
		return;
	before[strlen(before) - 2] = '\0';
	replace(diag, before, typed);
}

/* "longer than --max-duration 1s", which says the value in its own way; `option` is netmodel's. */
static void retell_limit(struct nm_diag *diag, const char *option, const char *typed)
{
	static const char phrase[] = "longer than ";
	char before[1300];

	snprintf(before, sizeof before, "%s%s ", phrase, option);
	const char *at = diag->text && !diag->file ? strstr(diag->text, before) : NULL;

	if (!at)
		return;
	const char *value = at + strlen(before);

	at += strlen(phrase);
	snprintf(before, sizeof before, "%.*s",
		 (int)(value - at + (ptrdiff_t)strcspn(value, ", :")), at);
	replace(diag, before, typed);
}

static void retell(struct nm_diag *diag, const struct nm_words *words)
{
	for (int i = 1; i < words->count; i++) {
		char typed[1200];

		if (!words->origins[i].opt)
			continue;
		print_typed(&words->origins[i], typed, sizeof typed);
		if (strcmp(words->items[i - 1], "-D") == 0) {
			retell_localhost(diag, words->items[i], typed);
		} else if (words->items[i][0] != '-') {
			retell_option(diag, words->items[i - 1], words->items[i], typed);
			retell_limit(diag, words->items[i - 1], typed);
		}
	}
}

/* 'nothing listens on port 5 there: start a slave with "netmodel -s -P 5"': a server of neper's
 * form is meant. */
static void retell_start(struct nm_diag *diag, const struct nm_words *words)
{
	static const char place[] = "listens on port ",
			  begin[] = "start a slave with \"netmodel -s";
	const char *port = diag->text ? strstr(diag->text, place) : NULL;
	const char *at = port ? strstr(port, begin) : NULL;
	const char *end = at ? strchr(at + sizeof begin - 1, '"') : NULL;
	char before[200], after[300], option[24] = "";

	if (!end)
		return;
	snprintf(before, sizeof before, "%.*s", (int)(end + 1 - at), at);
	if (strtoul(port + sizeof place - 1, NULL, 10) != NM_NEPER_CONTROL_PORT)
		snprintf(option, sizeof option, " -C %lu",
			 strtoul(port + sizeof place - 1, NULL, 10));
	snprintf(after, sizeof after, "start a server with \"netmodel %s%s%s%s\"%s", words->program,
		 strstr(before, "vsock") ? " --control vsock" : "",
		 strstr(before, "--no-auth") ? " --no-auth" : "", option,
		 words->own_host ? ", or have both ends here with -H local" : "");
	replace(diag, before, after);
}

/* A second client's, as a rule: each has listeners of its own. */
static void retell_port(struct nm_diag *diag, const struct nm_words *words)
{
	static const char end[] = ": Address already in use";
	const char *at = diag->text ? strstr(diag->text, "cannot listen for ") : NULL;
	bool named = false;

	for (int i = 0; i < words->count; i++)
		named |= words->origins[i].opt && words->origins[i].opt->letter == 'P';
	if (named && at && strstr(at, end))
		replace(diag, end,
			": Address already in use; clients at the same time need a --port each");
}

bool nm_neper_say(const struct nm_diag_subject *subject, void *arg, char *buf, size_t size)
{
	const struct nm_words *words = arg;
	char define[1300];

	if (subject->kind != NM_SUBJECT_DEFINE)
		return false;
	snprintf(define, sizeof define, "%s=%s", subject->name, subject->value);
	for (int i = 1; i < words->count; i++) {
		if (!words->origins[i].opt || strcmp(words->items[i - 1], "-D") != 0 ||
		    strcmp(words->items[i], define) != 0)
			continue;
		print_typed(&words->origins[i], buf, size);
		return true;
	}
	return false;
}

void nm_neper_retell(const struct nm_words *words, struct nm_diags *diags)
{
	for (size_t i = 0; i < diags->count; i++) {
		retell(&diags->items[i], words);
		retell_start(&diags->items[i], words);
		retell_port(&diags->items[i], words);
	}
}

/* The programs that have an option of that name, or letter when name is NULL. */
static unsigned owners(const char *name, int letter)
{
	unsigned found = 0;

	for (const struct nm_neper_opt *opt = nm_neper_table; opt->name; opt++)
		if (name ? strcmp(opt->name, name) == 0 : opt->letter == letter)
			found |= opt->workloads;
	return found;
}

void nm_neper_unknown(const char *workload, const char *word, int letter, struct nm_diags *diags)
{
	char list[160] = "", name[64] = "", what[8] = "";
	size_t used = 0;

	if (!letter)
		snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
	else
		snprintf(what, sizeof what, "-%c", letter);
	unsigned found = owners(letter ? NULL : name, letter);

	for (unsigned bit = 1; bit < NM_NEPER_ALL && used < sizeof list; bit <<= 1)
		if (found & bit)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
						 used ? ", " : "", nm_neper_program(bit));
	if (used)
		nm_diag_error(diags, NULL, 0,
			      "%s: no option of %s, but of %s; netmodel %s -h lists those it has",
			      letter ? what : word, workload, list, workload);
	else
		nm_diag_error(diags, NULL, 0, "%s: no option of %s%s; netmodel %s -h lists them",
			      letter ? what : word, workload,
			      letter ? "" : ", or short for several", workload);
}
