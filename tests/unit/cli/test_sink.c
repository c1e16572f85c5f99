/* SPDX-License-Identifier: Apache-2.0 */
/* Writers whose readers do not read: how long they wait, and what they drop. */
#include "cli/sink.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"

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
		{{5 * S, 5 * S, 10 * S, 1, 6 * S, 0}, 8 * S},
		{{5 * S, 5 * S, UINT64_MAX, 1, 6 * S, 0}, 8 * S},
		{{5 * S, 7 * S, 10 * S, 1, 6 * S, 0}, 9 * S},
		/* A signal that came before does not leave the reader without any time. */
		{{50 * S, 50 * S, 10 * S, 1, 6 * S, 0}, 52 * S},
		{{5 * S, 5 * S, 10 * S, 2, 6 * S, 0}, 7 * S},
		/* A reader that takes a byte now and then does not keep the program. */
		{{5 * S, 9 * S, 10 * S, 2, 6 * S, 0}, 7 * S},
		{{50 * S, 90 * S, 10 * S, 3, 6 * S, 0}, 51 * S},
		/* Nor where the wait has an end of its own. */
		{{.begin_ns = 5 * S, .taken_ns = 9 * S, .patience_ns = S, .total_ns = 5 * S},
		 10 * S},
		{{.begin_ns = 5 * S, .taken_ns = 6 * S, .patience_ns = S, .total_ns = 5 * S},
		 7 * S},
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

/* Both ends of a connection over TCP. */
static void connect_ends(int ret_ends[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	ret_ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(ret_ends[1], (struct sockaddr *)&at, sizeof at), 0);
	ret_ends[0] = accept(listener, NULL, NULL);
	ck_assert_int_ge(ret_ends[0], 0);
	close(listener);
}

static void open_terminal(int ret_ends[2])
{
	ret_ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ge(ret_ends[0], 0);
	ck_assert_int_eq(grantpt(ret_ends[0]), 0);
	ck_assert_int_eq(unlockpt(ret_ends[0]), 0);
	ret_ends[1] = open(ptsname(ret_ends[0]), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(ret_ends[1], 0);
}

enum end { PIPE, SOCKET, CONNECTION, UNCONNECTED, TERMINAL, ENDS };

static void make_ends_of(enum end kind, int ret_ends[2])
{
	if (kind == CONNECTION) {
		connect_ends(ret_ends);
	} else if (kind == UNCONNECTED) {
		ret_ends[0] = dup(STDIN_FILENO);
		ret_ends[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	} else if (kind == TERMINAL) {
		open_terminal(ret_ends);
	} else {
		make_ends(kind == SOCKET, ret_ends);
	}
}

/* However its end is told: EPIPE, ECONNRESET, ENOTCONN or EIO. */
START_TEST(a_reader_that_follows_and_goes)
{
	struct nm_sink sink;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	make_ends_of((enum end)_i, ends);
	ck_assert_int_eq(nm_sink_open_fd(&sink, ends[1], 100), 0);
	sink.forgives = true;
	sink.patience_ns = 60 * S;
	if (_i != UNCONNECTED) {
		fputs("not read\n", sink.stream);
		ck_assert_int_eq(nm_sink_flush(&sink), 0);
	}
	close(ends[0]);
	for (unsigned i = 1; i <= 3; i++) {
		fputs("line\n", sink.stream);
		ck_assert_int_eq(nm_sink_flush(&sink), 0);
		ck_assert_uint_eq(sink.dropped, i);
	}
	/* Nobody can come: nothing waits, and nobody is waited for. */
	ck_assert_uint_eq(sink.from, sink.to);
	sink.waits = true;
	fputs("last\n", sink.stream);
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	ck_assert_uint_eq(sink.dropped, 4);
	close(ends[1]);
}
END_TEST

/* A process that takes a little now and then. */
static pid_t trickle(const int ends[2])
{
	char bytes[4096];
	pid_t child = fork();

	if (child)
		return child;
	close(ends[1]);
	while (read(ends[0], bytes, sizeof bytes) > 0)
		usleep(5000);
	_exit(0);
}

/* A pipe whose reader trickles, and a terminal that takes nothing. */
START_TEST(the_end_waits_for_no_follower_long)
{
	const size_t size = 32u << 20;
	char *bytes = malloc(size);
	struct nm_sink sink;
	pid_t reader = -1;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	memset(bytes, 'x', size);
	for (size_t i = 1023; i < size; i += 1024)
		bytes[i] = '\n';
	make_ends_of(_i ? TERMINAL : PIPE, ends);
	if (!_i)
		reader = trickle(ends);
	ck_assert_int_eq(nm_sink_open_fd(&sink, ends[1], size), 0);
	close(ends[1]);
	sink.forgives = true;
	sink.patience_ns = _i ? S / 20 : S / 5;
	(void)fwrite(bytes, 1, size, sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), 0);
	uint64_t begin_ns = nm_clock_ns();

	sink.waits = true;
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	ck_assert_uint_ge(nm_clock_ns() - begin_ns, sink.patience_ns);
	ck_assert_uint_gt(sink.dropped, size / 1024 / 2);
	if (reader > 0)
		ck_assert_int_eq(waitpid(reader, NULL, 0), reader);
	close(ends[0]);
	free(bytes);
}
END_TEST

/* What stands at the path of a FIFO later is not the FIFO. */
START_TEST(only_the_same_fifo_is_opened_again)
{
	char path[] = "/tmp/test_sink.XXXXXX", moved[64], bytes[64] = "";
	struct nm_sink sink;

	close(mkstemp(path));
	unlink(path);
	(void)snprintf(moved, sizeof moved, "%s.moved", path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(nm_sink_open_for_follower(&sink, path, 100, 1000000), 0);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	int other = open(path, O_RDONLY | O_NONBLOCK);

	fputs("line\n", sink.stream);
	ck_assert_int_eq(nm_sink_flush(&sink), 0);
	ck_assert_int_lt(sink.fd, 0);
	int fd = open(moved, O_RDONLY | O_NONBLOCK);

	ck_assert_int_eq(nm_sink_flush(&sink), 0);
	ck_assert_int_eq(read(fd, bytes, sizeof bytes), 5);
	ck_assert_str_eq(bytes, "line\n");
	ck_assert_int_eq(read(other, bytes, sizeof bytes), 0);
	ck_assert_int_eq(nm_sink_close(&sink), 0);
	ck_assert_uint_eq(sink.dropped, 0);
	close(other);
	close(fd);
	unlink(path);
	unlink(moved);
}
END_TEST

/* Only a FIFO may have a reader later. */
START_TEST(what_is_no_fifo_is_not_waited_for)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "/tmp/test_sink.XXXXXX"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct nm_sink sink;

	close(mkstemp(at.sun_path));
	unlink(at.sun_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	uint64_t begin_ns = nm_clock_ns();

	ck_assert_int_eq(nm_sink_open_for_follower(&sink, at.sun_path, 100, 600 * S), -ENODEV);
	ck_assert_int_eq(nm_sink_open_path(&sink, at.sun_path, 100, 600 * S), -ENODEV);
	ck_assert_uint_lt(nm_clock_ns() - begin_ns, 60 * S);
	close(fd);
	unlink(at.sun_path);
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
	tcase_add_loop_test(tc, a_reader_that_follows_and_goes, 0, ENDS);
	tcase_add_loop_test(tc, the_end_waits_for_no_follower_long, 0, 2);
	tcase_add_test(tc, only_the_same_fifo_is_opened_again);
	tcase_add_test(tc, what_is_no_fifo_is_not_waited_for);
	tcase_add_test(tc, files_and_fifos);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
