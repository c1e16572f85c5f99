/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics about elements of a profile. The values of attributes know which parts of them came
 * from parameters (struct nm_piece): here these are found by the names of attributes and
 * options. */
#include "plan/diag.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "plan/ir.h"

#define BLANKS " \t\r\n"

/* --- making --- */

static struct nm_diag *about(const struct nm_ir *ir, enum nm_severity severity, const char *element,
			     const char *type, unsigned line, const char *fmt, va_list args)
{
	char words[128];
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_ELEMENT, .name = type ? type : element, .words = words};

	snprintf(words, sizeof words, "<%s%s%s>", element, type ? " " : "", type ? type : "");
	return nm_diag_vadd(ir->diags, severity, ir->file, line, &subject, fmt, args);
}

static enum nm_severity unknown(const struct nm_ir *ir)
{
	return ir->diags->lenient ? NM_SEV_WARNING : NM_SEV_ERROR;
}

/* Declares `diag`, which has the text of the variable arguments. */
#define ABOUT(severity, element, type, line)                                                       \
	va_list args;                                                                              \
                                                                                                   \
	va_start(args, fmt);                                                                       \
	struct nm_diag *diag = about(ir, severity, element, type, line, fmt, args);                \
	va_end(args)

#define ABOUT_STEP(severity) ABOUT(severity, "flowop", step->op->name, step->line)
#define ABOUT_NODE(severity) ABOUT(severity, node->name, NULL, node->line)

struct nm_diag *nm_step_error(const struct nm_ir *ir, const struct nm_ir_step *step,
			      const char *fmt, ...)
{
	ABOUT_STEP(NM_SEV_ERROR);
	return diag;
}

struct nm_diag *nm_step_warn(const struct nm_ir *ir, const struct nm_ir_step *step, const char *fmt,
			     ...)
{
	ABOUT_STEP(NM_SEV_WARNING);
	return diag;
}

struct nm_diag *nm_step_unknown(const struct nm_ir *ir, const struct nm_ir_step *step,
				const char *fmt, ...)
{
	ABOUT_STEP(unknown(ir));
	return diag;
}

struct nm_diag *nm_node_error(const struct nm_ir *ir, const struct nm_node *node, const char *fmt,
			      ...)
{
	ABOUT_NODE(NM_SEV_ERROR);
	return diag;
}

struct nm_diag *nm_node_warn(const struct nm_ir *ir, const struct nm_node *node, const char *fmt,
			     ...)
{
	ABOUT_NODE(NM_SEV_WARNING);
	return diag;
}

struct nm_diag *nm_node_unknown(const struct nm_ir *ir, const struct nm_node *node, const char *fmt,
				...)
{
	ABOUT_NODE(unknown(ir));
	return diag;
}

void nm_option_error(const struct nm_ir *ir, const struct nm_ir_step *step, const char *option,
		     const char *fmt, ...)
{
	ABOUT_STEP(NM_SEV_ERROR);
	(void)nm_origin_option(diag, step, option);
}

void nm_option_warn(const struct nm_ir *ir, const struct nm_ir_step *step, const char *option,
		    const char *fmt, ...)
{
	ABOUT_STEP(NM_SEV_WARNING);
	nm_origin_named(diag, step, option, NULL);
}

void nm_attr_error(const struct nm_ir *ir, const struct nm_node *node, const char *attr,
		   const char *fmt, ...)
{
	ABOUT_NODE(NM_SEV_ERROR);
	(void)nm_origin_of_attr(diag, node, attr);
}

/* --- origins --- */

static void add_origin(struct nm_diag *diag, const struct nm_piece *piece)
{
	const struct nm_subject origin = {
		.kind = piece->kind, .name = piece->name, .value = piece->text};

	nm_diag_add_origin(diag, &origin);
}

/* The piece that is a certain part of the value, and all of it; NULL: there is none. */
static const struct nm_piece *whole_piece(const struct nm_attr *attr, size_t at, size_t length)
{
	for (size_t i = 0; i < attr->n_pieces; i++)
		if (attr->pieces[i].at == at && attr->pieces[i].length == length)
			return &attr->pieces[i];
	return NULL;
}

static bool is_error(const struct nm_diag *diag)
{
	return diag && diag->severity == NM_SEV_ERROR;
}

bool nm_origin_attr(struct nm_diag *diag, const struct nm_attr *attr)
{
	const struct nm_piece *piece = whole_piece(attr, 0, strlen(attr->value));

	if (is_error(diag) && piece)
		add_origin(diag, piece);
	return piece;
}

bool nm_origin_of_attr(struct nm_diag *diag, const struct nm_node *node, const char *name)
{
	const struct nm_attr *attr = nm_node_find_attr(node, name);

	return attr && nm_origin_attr(diag, attr);
}

/* A word in the options of a flowop. */
struct word {
	size_t at, name, length; /* its begin; lengths of the name before "=", and of all */
};

/* Reads the word from *at on; false at the end. */
static bool next_word(const char *options, size_t *at, struct word *ret)
{
	*at += strspn(options + *at, BLANKS);
	*ret = (struct word){.at = *at,
			     .name = strcspn(options + *at, BLANKS "="),
			     .length = strcspn(options + *at, BLANKS)};
	*at += ret->length;
	return ret->length;
}

static bool is_option(const char *options, const struct word *word, const char *name)
{
	return name && strlen(name) == word->name &&
	       strncasecmp(options + word->at, name, word->name) == 0;
}

bool nm_origin_option(struct nm_diag *diag, const struct nm_ir_step *step, const char *name)
{
	const struct nm_piece *piece = NULL;
	struct word word;

	if (!step->written.options || !is_error(diag))
		return false;
	for (size_t at = 0; next_word(step->written.options->value, &at, &word);)
		if (is_option(step->written.options->value, &word, name) && word.length > word.name)
			piece = whole_piece(step->written.options, word.at + word.name + 1,
					    word.length - word.name - 1);
	if (piece)
		add_origin(diag, piece);
	return piece;
}

/* Whether the piece is a part of the value of the word. */
static bool is_within(const struct nm_piece *piece, const struct word *word)
{
	return piece->at > word->at + word->name &&
	       piece->at + piece->length <= word->at + word->length;
}

/* Whether a piece stands in the value of one of the options; or one of them has no value, and the
 * piece is in a when= or an unless=. */
static bool concerns(const struct nm_piece *piece, const char *options, const char *name,
		     const char *other)
{
	bool flag = false, chooses = false;
	struct word word;

	for (size_t at = 0; next_word(options, &at, &word);) {
		bool named = is_option(options, &word, name) || is_option(options, &word, other);

		if (named && is_within(piece, &word))
			return true;
		flag |= named && word.name == word.length;
		chooses |= (is_option(options, &word, "when") ||
			    is_option(options, &word, "unless")) &&
			   is_within(piece, &word);
	}
	return flag && chooses;
}

void nm_origin_named(struct nm_diag *diag, const struct nm_ir_step *step, const char *name,
		     const char *other)
{
	const struct nm_attr *attr = step->written.options;

	/* Each parameter once, in the order in which they are declared. */
	for (size_t from = 0; diag && attr;) {
		const struct nm_piece *next = NULL;

		for (size_t i = 0; i < attr->n_pieces; i++) {
			const struct nm_piece *piece = &attr->pieces[i];

			if (piece->order >= from && (!next || piece->order < next->order) &&
			    concerns(piece, attr->value, name, other))
				next = piece;
		}
		if (!next)
			return;
		add_origin(diag, next);
		from = next->order + 1;
	}
}
