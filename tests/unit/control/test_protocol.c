/* SPDX-License-Identifier: Apache-2.0 */
/* docs/control-protocol.md has the messages, their bodies and the protocol's number as the tables
 * of the code have them. "test_protocol print" writes that part of the document. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "control/wire/codec.h"
#include "control/wire/limits.h"
#include "control/wire/message.h"

#define BEGIN "<!-- made by build/tests/unit/control/test_protocol print -->\n"
#define END   "<!-- end of what is made -->\n"

static const char *const senders[] = {"", "master", "slave", "both"};

#define IN(state) (1u << NM_SESSION_##state)
static const struct {
	int sender;
	unsigned states;
} declared[] = {
#define NM_MESSAGE(name, word, sender, states, size, body) {NM_SIDE_##sender, states},
#include "control/wire/messages.def"
#undef NM_MESSAGE
};

static void print_names(FILE *out, const struct nm_field *fields)
{
	for (const struct nm_field *field = fields; field->name; field++) {
		fputs(field == fields ? "[" : ", ", out);
		if (field->type == NM_FIELD_ROW)
			print_names(out, field->fields);
		else
			fputs(field->name, out);
	}
	fputc(']', out);
}

static void print_row(FILE *out, const struct nm_field *fields)
{
	fputs("`", out);
	print_names(out, fields);
	fputs("`", out);
}

static void print_number(FILE *out, const struct nm_field *field)
{
	fprintf(out, "%snumber", field->type == NM_FIELD_REAL ? "real " : "");
	if (field->min || field->max)
		fprintf(out, " from %" PRIu64 " to %" PRIu64, field->min, nm_field_most(field));
}

static void print_type(FILE *out, const struct nm_field *field)
{
	switch (field->type) {
	case NM_FIELD_U64:
	case NM_FIELD_U32:
	case NM_FIELD_REAL:
		print_number(out, field);
		break;
	case NM_FIELD_I64:
		fputs("number, or -1", out);
		break;
	case NM_FIELD_BOOL:
		fputs("true or false", out);
		break;
	case NM_FIELD_SHARE:
		fputs("real number from 0 to 1", out);
		break;
	case NM_FIELD_TEXT:
	case NM_FIELD_CHARS:
		fprintf(out, "text of at most %" PRIu64 " bytes%s", field->max,
			field->optional ? ", or null" : "");
		break;
	case NM_FIELD_BYTES:
		fprintf(out, "text of %" PRIu64 " hexadecimal digits", 2 * field->max);
		break;
	case NM_FIELD_VALUE:
		if (field->fields)
			print_row(out, field->fields);
		else
			fputs(field->optional ? "value, or null" : "value", out);
		break;
	case NM_FIELD_ROW:
		print_row(out, field->fields);
		break;
	case NM_FIELD_LIST:
		fprintf(out, "list of at most %" PRIu64 " of ", field->max);
		print_row(out, field->fields);
		break;
	case NM_FIELD_VECTOR:
		fputs("list of ", out);
		print_row(out, field->fields);
		break;
	case NM_FIELD_OBJECT:
		fputs("object", out);
		break;
	case NM_FIELD_EITHER:
		print_type(out, &field->fields[0]);
		fputs(", or ", out);
		print_type(out, &field->fields[1]);
		break;
	case NM_FIELD_NULL:
		fputs("null", out);
		break;
	}
}

static void print_fields(FILE *out, const struct nm_field *fields, int depth)
{
	for (; fields->name; fields++) {
		const struct nm_field *inner = fields;

		fprintf(out, "%*s- `%s`: ", depth * 2, "", fields->name);
		print_type(out, fields);
		fprintf(out, ".%s%s\n", fields->doc ? " " : "", fields->doc ? fields->doc : "");
		if (inner->type == NM_FIELD_EITHER)
			inner = &inner->fields[0];
		if (inner->type == NM_FIELD_OBJECT)
			print_fields(out, inner->fields, depth + 1);
	}
}

static void print_states(FILE *out, unsigned states)
{
	const char *before = "";

	for (int state = 0; state <= NM_SESSION_END; state++) {
		if (!(states >> state & 1))
			continue;
		fprintf(out, "%s%s", before, nm_session_state_word((enum nm_session_state)state));
		before = ", ";
	}
}

static void print_size(FILE *out, const struct nm_message_size *size)
{
	fprintf(out, "%u | %u | ", size->bytes, size->values);
	if (size->bytes_each)
		fprintf(out, "%u, %u for each %s |", size->bytes_each, size->values_each,
			nm_scale_word(size->scale));
	else
		fputs("|", out);
}

static void print_times(FILE *out)
{
	static const char *const rules[] = {
		[NM_RULE_ONCE] = "",
		[NM_RULE_TIMEOUT] = "the timeouts of both",
		[NM_RULE_PROGRESS] = "the timeouts of both and `stall_ns`, without progress",
	};

	fputs("\n| state | the master waits for | the slave waits for | for so long |\n"
	      "|---|---|---|---|\n",
	      out);
	for (int i = 0; i < NM_SESSION_END; i++) {
		enum nm_session_state state = (enum nm_session_state)i;
		unsigned seconds = nm_session_state_seconds(state);

		fprintf(out, "| %s | %s | %s | ", nm_session_state_word(state),
			nm_session_state_waits(state), nm_session_state_owes(state));
		if (seconds)
			fprintf(out, "%u s", seconds);
		fprintf(out, "%s |\n", rules[nm_session_state_rule(state)]);
	}
}

static void print_document(FILE *out)
{
	fprintf(out, BEGIN "\nThe number of this protocol is %d.\n\n", NM_PROTOCOL);
	fputs("| message | from | states in which it may arrive | bytes | values | and more |\n"
	      "|---|---|---|---|---|---|\n",
	      out);
	for (int type = 0; type < NM_MESSAGE__COUNT; type++) {
		fprintf(out, "| `%s` | %s | ", nm_message_word((enum nm_message_type)type),
			senders[declared[type].sender]);
		print_states(out, declared[type].states);
		fputs(" | ", out);
		print_size(out, nm_message_size((enum nm_message_type)type));
		fputs("\n", out);
	}
	print_times(out);
	for (int type = 0; type < NM_MESSAGE__COUNT; type++) {
		const struct nm_field *fields = nm_message_fields((enum nm_message_type)type);

		fprintf(out, "\n### `%s`\n\n", nm_message_word((enum nm_message_type)type));
		if (!fields->name)
			fputs("Its body is empty.\n", out);
		print_fields(out, fields, 0);
	}
	fputs("\n" END, out);
}

START_TEST(the_document_says_what_the_tables_say)
{
	const char *top = getenv("srcdir");
	char path[4096], *made = NULL, *read = NULL;
	size_t made_size, room = 1 << 20;

	snprintf(path, sizeof path, "%s/docs/control-protocol.md", top ? top : ".");
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "%s", path);
	read = calloc(1, room);
	ck_assert_ptr_nonnull(read);
	ck_assert_uint_lt(fread(read, 1, room - 1, file), room - 1);
	(void)fclose(file);
	FILE *out = open_memstream(&made, &made_size);

	ck_assert_ptr_nonnull(out);
	print_document(out);
	(void)fclose(out);
	char *begin = strstr(read, BEGIN), *end = strstr(read, END);

	ck_assert_msg(begin && end, "%s has not the two comments", path);
	end[strlen(END)] = '\0';
	ck_assert_msg(strcmp(begin, made) == 0, "%s is not what test_protocol print writes", path);
	free(made);
	free(read);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("protocol");
	TCase *tc = tcase_create("protocol");

	if (argc > 1 && strcmp(argv[1], "print") == 0) {
		print_document(stdout);
		return 0;
	}
	tcase_add_test(tc, the_document_says_what_the_tables_say);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
