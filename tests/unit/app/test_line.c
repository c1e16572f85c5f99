/* SPDX-License-Identifier: Apache-2.0 */
#include "app/line.h"

#include <check.h>
#include <string.h>

#include "../suite.h"

/* What becomes of a line of so many bytes with that end, taken in pieces. */
static enum nm_line_status take(size_t length, const char *end, size_t piece,
				struct nm_line_text *ret)
{
	static char text[NM_LINE_MAX];
	static struct nm_line line;
	enum nm_line_status status = NM_LINE_MORE;
	size_t size = length + strlen(end);

	line.length = 0;
	memset(text, 'x', length);
	memcpy(text + length, end, strlen(end));
	for (size_t at = 0, taken = 0; status == NM_LINE_MORE && at < size; at += taken)
		status = nm_line_take(&line, text + at, piece < size - at ? piece : size - at, ret,
				      &taken);
	return status;
}

static const size_t lengths[] = {
	0, 1, 7, NM_LINE_KEPT - 2, NM_LINE_KEPT - 1, NM_LINE_KEPT, NM_LINE_KEPT + 1, 700};

/* However it comes, a line is the same, and its end is seen. */
START_TEST(pieces_change_nothing)
{
	for (size_t piece = 1; piece < 9; piece++) {
		struct nm_line_text line = {.length = 0};
		size_t length = lengths[_i];

		ck_assert_int_eq(take(length, "\r\n", piece, &line), NM_LINE_WHOLE);
		ck_assert_uint_eq(line.length, length);
		ck_assert_uint_le(line.there, line.length);
		for (uint32_t i = 0; i < line.there; i++)
			ck_assert_int_eq(line.text[i], 'x');
		ck_assert(line.there == length || line.there >= NM_LINE_KEPT - 1);
		ck_assert_int_eq(take(length, "\n", piece, &line), NM_LINE_BAD);
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
