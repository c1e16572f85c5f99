/* SPDX-License-Identifier: Apache-2.0 */
#include "app/line.h"

#include <check.h>
#include <string.h>

#include "../suite.h"

/* What becomes of a line of so many bytes with that end, taken in pieces. */
static enum nm_line_status take(struct nm_line_form form, size_t length, const char *end,
				size_t piece, struct nm_line_text *ret)
{
	static char text[NM_LINE_MAX];
	static struct nm_line line;
	enum nm_line_status status = NM_LINE_MORE;
	size_t size = length + strlen(end);

	line = (struct nm_line){.length = 0};
	memset(text, 'x', length);
	memcpy(text + length, end, strlen(end));
	for (size_t at = 0, taken = 0; status == NM_LINE_MORE && at < size; at += taken)
		status = nm_line_take_as(&line, form, text + at,
					 piece < size - at ? piece : size - at, ret, &taken);
	for (size_t i = 0; form.kept == NM_LINE_SHORT && i < NM_LINE_NUMBERS; i++)
		ck_assert_uint_eq(line.numbers[i], 0);
	return status;
}

static const size_t lengths[] = {0,
				 1,
				 7,
				 NM_LINE_SHORT - 2,
				 NM_LINE_SHORT - 1,
				 NM_LINE_SHORT,
				 NM_LINE_SHORT + 1,
				 NM_LINE_KEPT - 2,
				 NM_LINE_KEPT - 1,
				 NM_LINE_KEPT,
				 NM_LINE_KEPT + 1,
				 700};

static void check_line(struct nm_line_form form, size_t length, const char *end)
{
	for (size_t piece = 1; piece < 9; piece++) {
		struct nm_line_text line = {.length = 0};

		ck_assert_int_eq(take(form, length, end, piece, &line), NM_LINE_WHOLE);
		ck_assert_uint_eq(line.length, length);
		ck_assert_uint_le(line.there, line.length);
		for (uint32_t i = 0; i < line.there; i++)
			ck_assert_int_eq(line.text[i], 'x');
		ck_assert(line.there == length || line.there >= form.kept - 1);
	}
}

/* However it comes, a line is the same, and its end is seen. */
START_TEST(pieces_change_nothing)
{
	static const uint32_t kept[] = {NM_LINE_KEPT, NM_LINE_SHORT};
	struct nm_line_text line = {.length = 0};

	for (size_t i = 0; i < 2; i++) {
		struct nm_line_form form = {.kept = kept[i], .bare = true};

		check_line(form, lengths[_i], "\r\n");
		check_line(form, lengths[_i], "\n");
		form.bare = false;
		check_line(form, lengths[_i], "\r\n");
		for (size_t piece = 1; piece < 9; piece++)
			ck_assert_int_eq(take(form, lengths[_i], "\n", piece, &line), NM_LINE_BAD);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("line");
	TCase *tc = tcase_create("line");

	tcase_add_loop_test(tc, pieces_change_nothing, 0, sizeof lengths / sizeof *lengths);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
