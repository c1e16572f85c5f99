/* SPDX-License-Identifier: Apache-2.0 */
/* The words of messages to a user who has typed one of neper's lines: its options, as they were
 * typed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/neper/neper.h"

void nm_neper_print_typed(const struct nm_neper_opt *opt, const char *typed, char *buf, size_t size)
{
	bool flag = opt->value == NM_NEPER_FLAG;

	snprintf(buf, size, "--%s%s%s", opt->name, flag ? "" : " ", flag ? "" : typed);
}

/* The last option on the line that has set an option of netmodel's: to that value, or (NULL) to
 * any. */
static const struct nm_neper_origin *find_origin(const struct nm_neper_line *line, const char *name,
						 const char *value)
{
	for (size_t i = line->n_origins; i--;) {
		const struct nm_neper_origin *origin = &line->origins[i];

		if (strcmp(origin->arg->opt.name, name) == 0 &&
		    (!value || (origin->value && strcmp(origin->value, value) == 0)))
			return origin;
	}
	return NULL;
}

bool nm_neper_say(const struct nm_diag_subject *subject, void *arg, char *buf, size_t size)
{
	const struct nm_neper_line *line = arg;
	const struct nm_neper_origin *origin = NULL;
	char define[1300];

	if (subject->kind == NM_SUBJECT_DEFINE) {
		snprintf(define, sizeof define, "%s=%s", subject->name, subject->value);
		origin = find_origin(line, "define", define);
	} else if (subject->kind == NM_SUBJECT_OPTION) {
		origin = find_origin(line, subject->name, subject->value);
		if (!origin)
			origin = find_origin(line, subject->name, NULL);
	}
	if (origin)
		nm_neper_print_typed(origin->opt, origin->typed, buf, size);
	return origin;
}

/* Says how to start the missing slave: as a server, by a line of neper's form. */
static void say_start(void *arg, const struct nm_missing_slave *slave, char *buf, size_t size)
{
	const struct nm_neper_line *line = arg;
	char option[24] = "";

	if (slave->port != NM_NEPER_CONTROL_PORT)
		snprintf(option, sizeof option, " -C %u", slave->port);
	snprintf(buf, size, "start a server with \"netmodel %s%s%s\"%s%s", line->program,
		 slave->vsock ? " --control vsock" : "", option, slave->key_words,
		 line->own_host ? ", or have both ends here with -H local" : "");
}

void nm_neper_choose_words(struct nm_neper_line *line)
{
	const struct nm_neper_origin *limit = find_origin(line, "max-duration", NULL);
	bool has_port = false;

	line->words =
		(struct nm_run_words){.start = say_start, .arg = line, .fix_port = "--port N"};
	if (limit) {
		nm_neper_print_typed(limit->opt, limit->typed, line->limit, sizeof line->limit);
		line->words.limit = line->limit;
	}
	for (size_t i = 0; i < line->n_origins; i++) {
		const struct nm_neper_origin *origin = &line->origins[i];

		has_port |= origin->opt->letter == 'P';
		if (origin->opt->letter != 'L')
			continue;
		nm_neper_print_typed(origin->opt, origin->typed, line->localhost,
				     sizeof line->localhost);
		line->words.localhost = line->localhost;
	}
	/* As a rule a second client has taken the port: each client has listeners of its own. */
	if (has_port)
		line->words.port_taken = "; clients at the same time need a --port each";
}

void nm_neper_free_line(void *arg)
{
	struct nm_neper_line *line = arg;

	for (size_t i = 0; line && i < line->n_origins; i++)
		free(line->origins[i].value);
	if (line)
		free(line->origins);
	free(line);
}
