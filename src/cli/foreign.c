/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a word of another tool's command line means, and writes what to type here. */
#include "cli/foreign.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/stock.h"

#define DIGITS	"0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/"

/* clang-format off */
#define MEANING(id, words, kind, example, here) MEANS_##id,
#define WORD(word, tools, forms, id)
enum {
#include "cli/foreign.def"
};
#undef MEANING
#undef WORD

#define MEANING(id, words, kind, example, here) {words, NM_TYPE_##kind, example, here},
#define WORD(word, tools, forms, id)
static const struct nm_foreign_meaning meanings[] = {
#include "cli/foreign.def"
};
#undef MEANING
#undef WORD

#define NOTHING NM_FOREIGN_NOTHING
#define NUMBER	NM_FOREIGN_NUMBER
#define UNIT	NM_FOREIGN_UNIT
#define TEXT	NM_FOREIGN_TEXT
#define ANY	NM_FOREIGN_ANY
#define MEANING(id, words, kind, example, here)
#define WORD(word, tools, forms, id) {word, tools, forms, &meanings[MEANS_##id]},
static const struct nm_foreign rows[] = {
#include "cli/foreign.def"
};
/* clang-format on */

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

const struct nm_foreign *nm_foreign_at(size_t index)
{
	return index < N_ROWS ? &rows[index] : NULL;
}

bool nm_foreign_has_name(const char *name, size_t length)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (strncmp(rows[i].word, "--", 2) == 0 && strlen(rows[i].word) == length + 2 &&
		    strncmp(rows[i].word + 2, name, length) == 0)
			return true;
	return false;
}

/* --- values --- */

static unsigned form_of(const char *value)
{
	if (!value)
		return NM_FOREIGN_NOTHING;
	size_t number = strspn(value, DIGITS ".");

	if (!number || *value == '.')
		return NM_FOREIGN_TEXT;
	if (!value[number])
		return strchr(value, '.') == strrchr(value, '.') ? NM_FOREIGN_NUMBER
								 : NM_FOREIGN_TEXT;
	return value[number + strspn(value + number, DIGITS LETTERS)] ? NM_FOREIGN_TEXT
								      : NM_FOREIGN_UNIT;
}

/* The value as it is written here, or the example. Elsewhere "m" is minutes, and a bare number of a
 * duration seconds. */
static void write_value(const struct nm_foreign_meaning *meaning, const char *value, char *to,
			size_t size)
{
	char why[256] = "";
	size_t length = value ? strlen(value) : 0;
	const char *unit = "";

	if (meaning->type == NM_TYPE_DURATION && form_of(value) == NM_FOREIGN_NUMBER)
		unit = "s";
	else if (meaning->type == NM_TYPE_DURATION && length && value[length - 1] == 'm')
		unit = "in";
	snprintf(to, size, "%s%s", value ? value : "", unit);
	if (!length || length >= size - 3 ||
	    nm_type_check(meaning->type, NM_READING_NETMODEL, to, why, sizeof why) != 0 || *why)
		snprintf(to, size, "%s", meaning->example);
}

/* --- hints --- */

/* Whether the profile has the parameter that a form sets; a form that sets none always fits. */
static bool fits(const char *form, const char *profile)
{
	char name[64];

	if (strncmp(form, "-D ", 3) != 0)
		return true;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(form + 3, "="), form + 3);
	return nm_stock_has_param(profile, name);
}

/* The first of the forms that fits, or the first of all. */
static const char *choose_form(const char *forms, const char *profile, bool *ret_fits)
{
	const char *form = forms;

	*ret_fits = true;
	while (profile && *form) {
		if (fits(form, profile))
			return form;
		form += strcspn(form, "|");
		form += *form == '|';
	}
	*ret_fits = !profile;
	return forms;
}

/* "the duration (-t of iperf3) is -D test_length=3s". */
static void print_meaning(const struct nm_foreign *row, const char *value, const char *profile,
			  FILE *out)
{
	bool is_letter = row->word[1] != '-', fits_profile;
	const char *form = choose_form(row->meaning->here, profile, &fits_profile);
	char text[256];

	write_value(row->meaning, value, text, sizeof text);
	fputs(row->meaning->words, out);
	if (is_letter && *row->tools)
		fprintf(out, " (%s of %s)", row->word, row->tools);
	fputs(" is ", out);
	for (; *form && *form != '|'; form++)
		if (*form == '%')
			fputs(text, out);
		else
			fputc(*form, out);
	if (!fits_profile)
		fprintf(out, " where a profile has that parameter (-m %s --params lists them)",
			profile);
}

bool nm_foreign_hint(const char *word, const char *value, const char *profile, char *buf,
		     size_t size)
{
	const unsigned form = form_of(value);
	FILE *out = fmemopen(buf, size, "w");
	bool found = false;

	*buf = '\0';
	for (size_t i = 0; out && i < N_ROWS; i++) {
		if (strcmp(rows[i].word, word) != 0 || !(rows[i].forms & form))
			continue;
		fputs(found ? "; " : "", out);
		print_meaning(&rows[i], value, profile, out);
		found = true;
	}
	if (out)
		fclose(out);
	return found;
}
