/* SPDX-License-Identifier: Apache-2.0 */
/* Writers whose readers do not read: how long they wait, and what they drop. */
#include "cli/sink.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"

#define S UINT64_C(1000000000)

START_TEST(how_long_a_reader_is_waited_for)
{
	static const struct {
		struct nm_sink_wait wait;
		uint64_t until_ns;
	} cases[] = {
		{{.begin_ns = 5 * S, .taken_ns = 5 * S, .patience_ns = 10 * S}, 15 * S},
		/* What takes something is waited for again. */
		{{.begin_ns = 5 * S, .taken_ns = 14 * S, .patience_ns = 10 * S}, 24 * S},
		{{.begin_ns = 5 * S, .taken_ns = 5 * S, .patience_ns = UINT64_MAX}, UINT64_MAX},
		{{5 * S, 5 * S, 10 * S, 1, 6 * S}, 8 * S},
		{{5 * S, 5 * S, UINT64_MAX, 1, 6 * S}, 8 * S},
		{{5 * S, 7 * S, 10 * S, 1, 6 * S}, 9 * S},
		/* A signal that came before does not leave the reader without any time. */
		{{50 * S, 50 * S, 10 * S, 1, 6 * S}, 52 * S},
		{{5 * S, 5 * S, 10 * S, 2, 6 * S}, 7 * S},
		/* A reader that takes a byte now and then does not keep the program. */
		{{5 * S, 9 * S, 10 * S, 2, 6 * S}, 7 * S},
		{{50 * S, 90 * S, 10 * S, 3, 6 * S}, 51 * S},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		ck_assert_uint_eq(nm_sink_wait_until_ns(&cases[i].wait), cases[i].until_ns);
	ck_assert_uint_eq(nm_sink_patience_ns(S), 10 * S);
	ck_assert_uint_eq(nm_sink_patience_ns(60 * S), 60 * S);
}
END_TEST

/* A writer's and a reader's end that hold little. */
static void make_ends(bool socket, int ret_ends[2])
{
	const int size = 4096;

	if (!socket) {
		ck_assert_int_eq(pipe(ret_ends), 0);
		ck_assert_int_eq(fcntl(ret_ends[1], F_SETPIPE_SZ, size), size);
		return;
	}
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ret_ends), 0);
	ck_assert_int_eq(setsockopt(ret_ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
}

START_TEST(whole_lines_are_dropped_and_counted)
{
	struct nm_sink sink;
	unsigned kept = 0, number, last = 0;
	char line[64];
	int ends[2];

	make_ends(_i, ends);
	ck_assert_int_eq(nm_sink_open_fd(&sink, ends[1], 1000), 0);
	for (unsigned i = 0; i < 10000; i++) {
		fprintf(sink.stream, "%06u is the number of this line\n", i);
		ck_assert_int_eq(nm_sink_flush(&sink), 0);
	}
	ck_assert_uint_gt(sink.dropped, 0);
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	ck_assert_int_eq(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
	close(ends[1]);
	FILE *in = fdopen(ends[0], "r");

	while (fgets(line, sizeof line, in) && strchr(line, '\n')) {
		ck_assert_int_eq(sscanf(line, "%6u is the number of this line\n", &number), 1);
		ck_assert(!kept || number > last);
		last = number;
		kept++;
	}
	/* The last one may have been cut where the pipe was full. */
	ck_assert_uint_ge(kept + sink.dropped + 1, 10000);
	ck_assert_uint_le(kept + sink.dropped, 10000);
	fclose(in);
}
END_TEST

START_TEST(what_must_not_be_lost_waits)
{
	struct nm_sink sink;
	char bytes[10000];
	int ends[2];

	memset(bytes, 'x', sizeof bytes);
	make_ends(_i, ends);
	ck_assert_int_eq(nm_sink_open_fd(&sink, ends[1], 0), 0);
	sink.waits = true;
	sink.patience_ns = 20000000;
	(void)fwrite(bytes, 1, sizeof bytes, sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), -ETIMEDOUT);
	ck_assert_int_eq(nm_sink_close(&sink), -ETIMEDOUT);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(a_reader_that_has_gone)
{
	struct nm_sink sink;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	make_ends(_i, ends);
	close(ends[0]);
	ck_assert_int_eq(nm_sink_open_fd(&sink, ends[1], 100), 0);
	fputs("line\n", sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), -EPIPE);
	ck_assert_int_eq(nm_sink_close(&sink), -EPIPE);
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	close(ends[1]);
}
END_TEST

/* One that follows may come late, go, and another may come: none is sent a part of a line. */
START_TEST(readers_that_follow)
{
	char path[] = "/tmp/test_sink.XXXXXX", bytes[64] = "";
	struct nm_sink sink;

	signal(SIGPIPE, SIG_IGN);
	close(mkstemp(path));
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(nm_sink_open_for_follower(&sink, path, 100, 1000000), 0);
	ck_assert_int_lt(sink.fd, 0);
	fputs("waits\n", sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), 0);
	int fd = open(path, O_RDONLY | O_NONBLOCK);

	fputs("and\n", sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), 0);
	ck_assert_int_eq(read(fd, bytes, sizeof bytes), 10);
	ck_assert_str_eq(bytes, "waits\nand\n");
	close(fd);
	fputs("lost\n", sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), 0);
	ck_assert_uint_eq(sink.dropped, 1);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	fputs("more\n", sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), 0);
	ck_assert_int_eq(read(fd, bytes, sizeof bytes), 5);
	ck_assert_mem_eq(bytes, "more\n", 5);
	close(fd);
	fputs("gone\n", sink.stream);
	fputs("nobody\n", sink.stream);
	sink.waits = true;
	sink.patience_ns = 1000000;
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	ck_assert_uint_eq(sink.dropped, 3);
	ck_assert_int_eq(nm_sink_open_for_follower(&sink, "/tmp", 100, 0), -EISDIR);
	unlink(path);
}
END_TEST

START_TEST(files_and_fifos)
{
	char path[] = "/tmp/test_sink.XXXXXX";
	struct nm_sink sink;
	int fd = mkstemp(path);

	ck_assert_int_eq(nm_sink_take_fd(&sink, fd, 0), 0);
	fputs("no end", sink.stream);
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	ck_assert_int_eq(access(path, F_OK), 0);
	unlink(path);
	ck_assert_int_eq(nm_sink_open_path(&sink, path, 0, 0), -ENOENT);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(nm_sink_open_path(&sink, path, 0, 1000000), -ENXIO);
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_eq(nm_sink_open_path(&sink, path, 100, 1000000), 0);
	fputs("line\n", sink.stream);
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	close(fd);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sink");
	TCase *tc = tcase_create("sink");

	tcase_add_test(tc, how_long_a_reader_is_waited_for);
	tcase_add_loop_test(tc, whole_lines_are_dropped_and_counted, 0, 2);
	tcase_add_loop_test(tc, what_must_not_be_lost_waits, 0, 2);
	tcase_add_loop_test(tc, a_reader_that_has_gone, 0, 2);
	tcase_add_test(tc, readers_that_follow);
	tcase_add_test(tc, files_and_fifos);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
