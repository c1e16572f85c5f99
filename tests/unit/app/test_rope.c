/* SPDX-License-Identifier: Apache-2.0 */
/* An answer is the same in whatever parts it is sent. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "app/rope.h"

#define WHOLE "head=0123456789012, mid=CDEFABCDEF."

static void build(struct nm_rope *rope)
{
	nm_rope_add(rope, "head=", 5);
	/* Thirteen bytes that go round after ten. */
	nm_rope_add_body(rope,
			 &(struct nm_rope_body){.data = "0123456789", .wrap = 10, .bytes = 13});
	nm_rope_add(rope, ", mid=", 6);
	nm_rope_add_body(rope,
			 &(struct nm_rope_body){.data = "ABCDEF", .at = 2, .wrap = 6, .bytes = 10});
	nm_rope_add(rope, ".", 1);
}

START_TEST(in_all_parts)
{
	char text[32], buf[64], all[64];
	struct nm_rope rope = {.text = text, .room = sizeof text};

	for (size_t room = 1; room <= sizeof buf; room++) {
		for (size_t sent = 1; sent <= room; sent++) {
			size_t n = 0;

			build(&rope);
			ck_assert_uint_eq(rope.total, strlen(WHOLE));
			while (!nm_rope_is_empty(&rope)) {
				char *data;
				size_t some = nm_rope_next(&rope, buf, room, &data);

				ck_assert_uint_gt(some, 0);
				ck_assert_uint_le(some, room);
				some = some < sent ? some : sent;
				memcpy(all + n, data, some);
				nm_rope_advance(&rope, some);
				n += some;
			}
			ck_assert_uint_eq(n, strlen(WHOLE));
			ck_assert_mem_eq(all, WHOLE, n);
		}
	}
}
END_TEST

START_TEST(text_alone_is_not_copied)
{
	char text[8], *data;
	struct nm_rope rope = {.text = text, .room = sizeof text};

	ck_assert(nm_rope_has_room(&rope, 8) && !nm_rope_has_room(&rope, 9));
	nm_rope_add(&rope, "abcdefg", 7);
	ck_assert(nm_rope_has_room(&rope, 1) && !nm_rope_has_room(&rope, 2));
	nm_rope_advance(&rope, 3);
	ck_assert_uint_eq(nm_rope_next(&rope, NULL, 0, &data), 4);
	ck_assert_ptr_eq(data, text + 3);
	nm_rope_advance(&rope, 4);
	ck_assert(nm_rope_is_empty(&rope) && nm_rope_has_room(&rope, 8));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rope");
	TCase *tests = tcase_create("rope");

	tcase_add_test(tests, in_all_parts);
	tcase_add_test(tests, text_alone_is_not_copied);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
