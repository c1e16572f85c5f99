/* SPDX-License-Identifier: Apache-2.0 */
/* What queries ask for: their names as DNS has them on the wire. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/question.h"
#include "base/diag.h"
#include "flowop/ask.h"
#include "plan/diag.h"
#include "plan/grow.h"
#include "plan/ir.h"
#include "plan/lines.h"

/* In one block of memory. */
struct single {
	struct nm_questions questions;
	struct nm_question question;
	unsigned char wire[NM_QUESTION_MAX];
};

/* Each key becomes a label before the name. True: there is room for it. */
static bool check_labels(struct nm_ir *ir, const struct nm_ir_step *step,
			 const struct single *single, uint8_t name)
{
	const struct nm_opts_ask *opts = step->opts;
	const uint32_t length = single->questions.keys.length;
	const char *prefix = single->questions.keys.prefix;

	if (memchr(prefix, '.', single->questions.keys.prefix_length)) {
		nm_option_error(ir, step, "keys",
				" keys=\"%s\": the prefix of its keys has a dot, and each key is "
				"one label; what is behind a dot belongs to name",
				opts->keys);
		return false;
	}
	if (single->questions.keys.lengths) {
		nm_option_error(ir, step, "keys",
				" keys=\"%s\": its keys have several lengths, and labels of names "
				"must have one",
				opts->keys);
		return false;
	}
	if (length <= NM_LABEL_MAX && 1 + length + name <= NM_NAME_MAX)
		return true;
	nm_option_error(ir, step, "keys",
			" keys=\"%s\": its keys have %u bytes; a label must have 63 at most, and "
			"the whole name 255 on the wire",
			opts->keys, length);
	return false;
}

static struct nm_questions questions_of(const struct nm_opts_ask *opts,
					const struct nm_question *list, uint64_t count)
{
	return (struct nm_questions){
		.keys = {.law = NM_KEYS_SEQUENTIAL, .count = count},
		.recursion = opts->recursion,
		.dnssec = opts->dnssec,
		.edns_bytes = (uint16_t)opts->edns_bytes,
		.list = list,
	};
}

const struct nm_keyspace *nm_ir_find_questions(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;
	const struct nm_keyspace *keys = nm_ir_find_keys(ir, step);
	uint16_t type;
	uint8_t name;
	char unused[256];

	/* A file is read later; and that there is no name at all has been reported. */
	if (nm_ir_has_names(step) || !opts->name)
		return NULL;
	struct single *single = calloc(1, sizeof *single);

	if (!single || nm_arena_keep(ir->arena, single) < 0) {
		nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
		return NULL;
	}
	/* Their texts are checked with the options. */
	if (nm_name_read(opts->name, strlen(opts->name), single->wire, &name, unused,
			 sizeof unused) < 0 ||
	    nm_type_read(opts->type, strlen(opts->type), &type, unused, sizeof unused) < 0)
		return NULL;
	single->question = (struct nm_question){.length = nm_question_end(single->wire, name, type),
						.wire = single->wire};
	single->questions = questions_of(opts, &single->question, 1);
	if (keys) {
		single->questions.keys = *keys;
		single->questions.labels = true;
	}
	return !keys || check_labels(ir, step, single, name) ? &single->questions.keys : NULL;
}

/* --- files of names --- */

#define NAMES_MAX 10000000u
#define BLANKS	  " \t\r"

/* In one block of memory: the names lie behind the list. */
struct many {
	struct nm_questions questions;
	struct nm_question list[];
};

/* What has been read so far. */
struct names {
	struct nm_question *list; /* owned; the names count from their beginning */
	unsigned char *names;	  /* owned */
	size_t count, list_room, used, room;
	uint16_t type; /* of lines that have none */
};

/* How long the line is without its comment: # or ; where a word begins, and not behind a
 * backslash. */
static size_t before_comment(const char *line, size_t n)
{
	bool begins = true;

	for (size_t i = 0; i < n; i++) {
		if (begins && (line[i] == '#' || line[i] == ';'))
			return i;
		begins = line[i] == ' ' || line[i] == '\t';
		i += line[i] == '\\';
	}
	return n;
}

/* Adds a line of n bytes, which is not empty. 0, -ENOMEM, or -EINVAL with a phrase in why. */
static int add_line(struct names *into, const char *line, size_t n, char *why, size_t why_size)
{
	uint16_t type = into->type;
	size_t name = strcspn(line, BLANKS), gap = strspn(line + name, BLANKS);
	const char *behind = line + name + gap;
	size_t length = strcspn(behind, BLANKS);
	uint8_t name_length;

	if (into->count == NAMES_MAX) {
		(void)snprintf(why, why_size, "has more than %u names", NAMES_MAX);
		return -EINVAL;
	}
	if ((into->count == into->list_room &&
	     !nm_grow((void **)&into->list, sizeof *into->list, &into->list_room)) ||
	    (into->room - into->used < NM_QUESTION_MAX &&
	     !nm_grow((void **)&into->names, 1, &into->room)))
		return -ENOMEM;
	if (strspn(behind + length, BLANKS) != n - (size_t)(behind + length - line)) {
		(void)snprintf(why, why_size, "there is more behind the type");
		return -EINVAL;
	}
	char wrong[256];
	int r = nm_name_read(line, name, into->names + into->used, &name_length, wrong,
			     sizeof wrong);
	bool is_type = r == 0 && length;

	if (is_type)
		r = nm_type_read(behind, length, &type, wrong, sizeof wrong);
	if (r < 0)
		(void)snprintf(why, why_size, "%s \"%.*s\": %s", is_type ? "type" : "name",
			       (int)(is_type ? length : name), is_type ? behind : line, wrong);
	if (r < 0)
		return r;
	struct nm_question *question = &into->list[into->count++];

	*question = (struct nm_question){
		.length = nm_question_end(into->names + into->used, name_length, type)};
	into->used += question->length;
	return 0;
}

/* What is not a comment. */
static int take_line(void *names, char *line, size_t n, unsigned number, char *why, size_t why_size)
{
	n = before_comment(line, n);
	line[n] = '\0';
	size_t begin = strspn(line, BLANKS);

	(void)number;
	return begin < n ? add_line(names, line + begin, n - begin, why, why_size) : 0;
}

static struct many *join(const struct nm_opts_ask *opts, const struct names *from)
{
	const size_t list = from->count * sizeof *from->list;
	struct many *many = malloc(sizeof *many + list + from->used);

	if (!many)
		return NULL;
	const unsigned char *wire = (const unsigned char *)many->list + list;

	memcpy(many->list, from->list, list);
	memcpy((char *)many->list + list, from->names, from->used);
	for (size_t i = 0; i < from->count; i++) {
		many->list[i].wire = wire;
		wire += many->list[i].length;
	}
	many->questions = questions_of(opts, many->list, from->count);
	return many;
}

/* 0 with *ret; -ENOMEM; or another error with a phrase in why. */
static int read_file(const struct nm_opts_ask *opts, struct many **ret, char *why, size_t why_size)
{
	struct names names = {.count = 0};
	int r = nm_type_read(opts->type, strlen(opts->type), &names.type, why, why_size);

	if (r == 0)
		r = nm_lines_read(opts->names, take_line, &names, why, why_size);
	if (r == 0 && !names.count) {
		(void)snprintf(why, why_size, "has no names");
		r = -EINVAL;
	}
	if (r == 0) {
		*ret = join(opts, &names);
		r = *ret ? 0 : -ENOMEM;
	}
	free(names.list);
	free(names.names);
	return r;
}

void nm_ir_read_names(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;
	struct many *many = NULL;
	char why[1600];
	int r = read_file(opts, &many, why, sizeof why);

	if (r == -ENOMEM || (r == 0 && nm_arena_keep(ir->arena, many) < 0))
		nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
	else if (r < 0)
		nm_option_error(ir, step, "names", " names=\"%s\": %s", opts->names, why);
	else
		step->ask.keyspace = &many->questions.keys;
}
