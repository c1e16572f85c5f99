/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: pieces of any size in and out, and lengths that nobody should send. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "control/wire/frame.h"

static void put(struct nm_frame_reader *reader, const char *bytes, size_t size)
{
	while (size > 0) {
		void *space;
		size_t room;

		ck_assert_int_eq(nm_frame_reader_space(reader, &space, &room), 0);
		ck_assert_uint_gt(room, 0);
		if (room > size)
			room = size;
		memcpy(space, bytes, room);
		nm_frame_reader_added(reader, room);
		bytes += room;
		size -= room;
	}
}

static void expect(struct nm_frame_reader *reader, const char *text)
{
	const char *payload;
	size_t size;

	ck_assert_int_eq(nm_frame_reader_next(reader, &payload, &size), 1);
	ck_assert_uint_eq(size, strlen(text));
	ck_assert_int_eq(memcmp(payload, text, size), 0);
}

static void expect_answer(struct nm_frame_reader *reader, int answer)
{
	const char *payload;
	size_t size;

	ck_assert_int_eq(nm_frame_reader_next(reader, &payload, &size), answer);
}

START_TEST(a_frame_is_4_bytes_of_length_and_the_payload)
{
	struct nm_frame_queue queue = {.data = NULL};
	const char *data;

	ck_assert_int_eq(nm_frame_queue_add(&queue, "hello", 5), 0);
	ck_assert_uint_eq(nm_frame_queue_data(&queue, &data), 9);
	ck_assert_int_eq(memcmp(data, "\0\0\0\5hello", 9), 0);
	nm_frame_queue_fini(&queue);
}
END_TEST

START_TEST(frames_arrive_byte_by_byte)
{
	static const char wire[] = "\0\0\0\5hello\0\0\0\1x\0\0\0\3end";
	static const size_t ends[] = {9, 14, 21};
	static const char *const texts[] = {"hello", "x", "end"};
	struct nm_frame_reader reader;
	size_t n = 0;

	nm_frame_reader_init(&reader, 16);
	for (size_t i = 0; i < sizeof wire - 1; i++) {
		put(&reader, wire + i, 1);
		if (i + 1 == ends[n])
			expect(&reader, texts[n++]);
		else
			expect_answer(&reader, 0);
	}
	ck_assert_uint_eq(n, 3);
	nm_frame_reader_fini(&reader);
}
END_TEST

START_TEST(many_frames_arrive_at_once)
{
	struct nm_frame_reader reader;

	nm_frame_reader_init(&reader, 16);
	put(&reader, "\0\0\0\1a\0\0\0\2bc\0\0\0\3de", 17);
	expect(&reader, "a");
	expect(&reader, "bc");
	expect_answer(&reader, 0);
	put(&reader, "f", 1);
	expect(&reader, "def");
	expect_answer(&reader, 0);
	nm_frame_reader_fini(&reader);
}
END_TEST

START_TEST(the_longest_frame_is_taken_and_one_byte_more_is_not)
{
	struct nm_frame_reader reader;
	static const char zeros[65536];

	nm_frame_reader_init(&reader, sizeof zeros);
	put(&reader, "\0\1\0\0", 4);
	expect_answer(&reader, 0);
	put(&reader, zeros, sizeof zeros);
	expect_answer(&reader, 1);
	put(&reader, "\0\1\0\1", 4);
	expect_answer(&reader, -EMSGSIZE);
	nm_frame_reader_fini(&reader);
}
END_TEST

START_TEST(an_announced_length_takes_no_memory)
{
	struct nm_frame_reader reader;

	nm_frame_reader_init(&reader, NM_FRAME_MAX);
	put(&reader, "\4\0\0\0[", 5);
	expect_answer(&reader, 0);
	ck_assert_uint_le(reader.capacity, 65536);
	nm_frame_reader_fini(&reader);
}
END_TEST

START_TEST(other_protocols_are_too_long_and_nothing_is_not_a_message)
{
	struct nm_frame_reader reader;

	nm_frame_reader_init(&reader, NM_FRAME_MAX);
	put(&reader, "GET / HTTP/1.1\r\n", 16);
	expect_answer(&reader, -EMSGSIZE);
	nm_frame_reader_fini(&reader);
	nm_frame_reader_init(&reader, NM_FRAME_MAX);
	put(&reader, "\0\0\0\0", 4);
	expect_answer(&reader, -EBADMSG);
	nm_frame_reader_fini(&reader);
}
END_TEST

START_TEST(a_queue_leaves_in_pieces_of_any_size)
{
	for (size_t piece = 1; piece < 12; piece++) {
		struct nm_frame_queue queue = {.data = NULL};
		struct nm_frame_reader reader;
		const char *data;
		size_t size;

		nm_frame_reader_init(&reader, 16);
		ck_assert_int_eq(nm_frame_queue_add(&queue, "first", 5), 0);
		ck_assert_int_eq(nm_frame_queue_add(&queue, "2nd", 3), 0);
		while ((size = nm_frame_queue_data(&queue, &data)) > 0) {
			size = size < piece ? size : piece;
			put(&reader, data, size);
			nm_frame_queue_sent(&queue, size);
		}
		expect(&reader, "first");
		expect(&reader, "2nd");
		expect_answer(&reader, 0);
		nm_frame_queue_fini(&queue);
		nm_frame_reader_fini(&reader);
	}
}
END_TEST

START_TEST(a_queue_has_an_end)
{
	struct nm_frame_queue queue = {.data = NULL};
	char *large = calloc(1, NM_FRAME_MAX);
	int error = 0;
	unsigned n = 0;

	ck_assert_ptr_nonnull(large);
	ck_assert_int_eq(nm_frame_queue_add(&queue, large, 0), -EMSGSIZE);
	ck_assert_int_eq(nm_frame_queue_add(&queue, large, NM_FRAME_MAX + 1u), -EMSGSIZE);
	while (n < 10 && !(error = nm_frame_queue_add(&queue, large, NM_FRAME_MAX)))
		n++;
	ck_assert_int_eq(error, -ENOBUFS);
	ck_assert_uint_eq(n, 1);
	nm_frame_queue_fini(&queue);
	free(large);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tc = tcase_create("frame");

	tcase_add_test(tc, a_frame_is_4_bytes_of_length_and_the_payload);
	tcase_add_test(tc, frames_arrive_byte_by_byte);
	tcase_add_test(tc, many_frames_arrive_at_once);
	tcase_add_test(tc, the_longest_frame_is_taken_and_one_byte_more_is_not);
	tcase_add_test(tc, an_announced_length_takes_no_memory);
	tcase_add_test(tc, other_protocols_are_too_long_and_nothing_is_not_a_message);
	tcase_add_test(tc, a_queue_leaves_in_pieces_of_any_size);
	tcase_add_test(tc, a_queue_has_an_end);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
