/* SPDX-License-Identifier: Apache-2.0 */
/* Files: which are found, and how they go over a pair of sockets. */
#include "flowop/files.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "transport/transport.h"

#define CHUNK 4096u

static char top[] = "/tmp/netmodel-files-XXXXXX", dir[sizeof top];

static const struct nm_transport plain = {.name = "plain"};

static ssize_t hook_send(struct nm_conn *conn, const void *opts, void *data, size_t size)
{
	ssize_t n = send(conn->fd, data, size, MSG_NOSIGNAL);

	(void)opts;
	return n < 0 ? -errno : n;
}

static ssize_t hook_recv(struct nm_conn *conn, void *data, size_t size)
{
	ssize_t n = recv(conn->fd, data, size, 0);

	return n < 0 ? -errno : n;
}

static const struct nm_transport hooked = {.name = "hooked", .send = hook_send, .recv = hook_recv};

/* One end of a connection, with the flow that uses it. */
struct end {
	struct nm_counters counters;
	struct nm_io io;
	struct nm_conn conn;
	char tx[CHUNK], rx[CHUNK + 1];
	struct {
		struct nm_flow flow;
		struct nm_transfer transfer;
	} block;
	struct nm_instr instr;
	struct nm_opts_files opts;
};

static struct end from, to;
static struct nm_files *files;

static void begin_end(struct end *end, int fd, const struct nm_transport *transport,
		      const struct nm_flowop *op)
{
	memset(end, 0, sizeof *end);
	end->io = (struct nm_io){.tx = end->tx,
				 .rx = end->rx,
				 .chunk = CHUNK,
				 .count = &end->counters,
				 .in_kept = ~(uint32_t)NM_CONN_IN,
				 .behind.transfer_offset = offsetof(struct end, block.transfer) -
							   offsetof(struct end, block.flow)};
	end->conn = (struct nm_conn){
		.fd = fd, .flags = NM_CONN_OPEN | NM_CONN_IN | NM_CONN_OUT, .transport = transport};
	end->block.flow = (struct nm_flow){.conn = &end->conn};
	end->block.transfer.fd = -1;
	end->instr = (struct nm_instr){
		.op = op, .transport = transport, .opts = &end->opts, .message.files = files};
}

static void begin(const struct nm_transport *transport)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	begin_end(&from, fds[0], transport, nm_flowop_find("sendfilev"));
	begin_end(&to, fds[1], transport, &nm_flowop_recvfile);
}

static enum nm_step step(struct end *end)
{
	return end->instr.op->step(&end->io, &end->block.flow, &end->instr);
}

/* Lets both ends run until they are done. */
static void move(void)
{
	enum nm_step sent = NM_STEP_YIELD, got = NM_STEP_YIELD;

	for (int turns = 0; sent != NM_STEP_NEXT || got != NM_STEP_NEXT; turns++) {
		ck_assert_int_lt(turns, 100000);
		from.conn.flags |= NM_CONN_OUT;
		to.conn.flags |= NM_CONN_IN;
		if (sent != NM_STEP_NEXT)
			sent = step(&from);
		if (got != NM_STEP_NEXT)
			got = step(&to);
		ck_assert(sent == NM_STEP_NEXT || sent == NM_STEP_YIELD ||
			  sent == NM_STEP_WAIT_OUT);
		ck_assert(got == NM_STEP_NEXT || got == NM_STEP_YIELD || got == NM_STEP_WAIT_IN);
	}
	ck_assert_uint_eq(from.block.flow.left, 0);
	ck_assert_uint_eq(to.block.flow.left, 0);
	ck_assert_int_eq(from.block.transfer.fd, -1);
}

static void make_file(const char *name, size_t size)
{
	int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(close(fd), 0);
}

static int find(const char *path, char *why, size_t size)
{
	free(files);
	files = NULL;
	return nm_files_find(path, &files, why, size);
}

static void found(void)
{
	char why[128];

	ck_assert_int_eq(find(".", why, sizeof why), 0);
}

static void setup(void)
{
	memcpy(dir, top, sizeof top);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void teardown(void)
{
	free(files);
	files = NULL;
	nm_transfer_close(&from.block.transfer);
	(void)unlink("link");
	(void)unlink("sub/circle");
	(void)unlink("sub/two");
	(void)rmdir("sub");
	(void)unlink("fifo");
	(void)unlink("one");
	(void)unlink("empty");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(files_are_found_below_and_by_name)
{
	char why[128];

	ck_assert_int_eq(mkdir("sub", 0755), 0);
	ck_assert_int_eq(mkfifo("fifo", 0644), 0);
	ck_assert_int_eq(symlink("..", "sub/circle"), 0);
	ck_assert_int_eq(find(dir, why, sizeof why), -ENOENT);
	ck_assert_str_eq(why, "there is no file in it that may be read");
	make_file("sub/two", 2);
	make_file("one", 1);
	ck_assert_int_eq(symlink("one", "link"), 0);
	ck_assert_int_eq(find("./", why, sizeof why), 0);
	ck_assert_uint_eq(files->count, 3);
	ck_assert_str_eq(files->paths[0], "./link");
	ck_assert_str_eq(files->paths[1], "./one");
	ck_assert_str_eq(files->paths[2], "./sub/two");
	if (geteuid() != 0) { /* who may read everything */
		ck_assert_int_eq(chmod("one", 0), 0);
		found();
		ck_assert_uint_eq(files->count, 1);
	}
}
END_TEST

START_TEST(what_is_no_directory_is_told)
{
	char why[128];

	ck_assert_int_eq(find("nowhere", why, sizeof why), -ENOENT);
	ck_assert_str_eq(why, "No such file or directory");
	make_file("one", 1);
	ck_assert_int_eq(find("one", why, sizeof why), -ENOTDIR);
	ck_assert_int_eq(find("", why, sizeof why), -ENOENT);
	ck_assert_ptr_null(files);
}
END_TEST

static const size_t lengths[] = {0, 1, 8, CHUNK - 8, CHUNK - 7, CHUNK, CHUNK + 1, 3000000};

static void move_length(const struct nm_transport *transport, size_t length, uint64_t chunk)
{
	make_file("one", length);
	found();
	begin(transport);
	from.opts.chunk_bytes = chunk;
	for (int i = 0; i < 3; i++)
		move();
	ck_assert_uint_eq(nm_counter_read(&from.counters.bytes_sent), 3 * length);
	ck_assert_uint_eq(nm_counter_read(&to.counters.bytes_received), 3 * length);
	/* Nothing is left on the connection. */
	ck_assert_int_eq(recv(to.conn.fd, to.rx, 1, 0), -1);
	close(from.conn.fd);
	close(to.conn.fd);
}

START_TEST(files_arrive_whole)
{
	move_length(&plain, lengths[_i], 0);
	move_length(&hooked, lengths[_i], 0);
}
END_TEST

START_TEST(files_arrive_in_pieces)
{
	size_t length = lengths[_i] < 100000 ? lengths[_i] : 100000;

	move_length(&plain, length, 1000);
	move_length(&hooked, length, 1000);
	move_length(&plain, length, 1000000);
	move_length(&hooked, length, 1000000);
}
END_TEST

START_TEST(several_files_are_drawn_and_go_one_after_the_other)
{
	uint64_t all = 0;

	ck_assert_int_eq(mkdir("sub", 0755), 0);
	make_file("empty", 0);
	make_file("one", 10);
	make_file("sub/two", 1000);
	found();
	begin(&plain);
	from.opts.n_files = to.opts.n_files = 300;
	move();
	all = nm_counter_read(&from.counters.bytes_sent);
	/* About a hundred of each. */
	ck_assert(all > 60000 && all < 140000);
	ck_assert_uint_eq(nm_counter_read(&to.counters.bytes_received), all);
	/* The same numbers are the same files, others are others. */
	move();
	ck_assert_uint_eq(nm_counter_read(&from.counters.bytes_sent), 2 * all);
	from.block.flow.repeated = 1;
	move();
	ck_assert_uint_ne(nm_counter_read(&from.counters.bytes_sent), 3 * all);
	close(from.conn.fd);
	close(to.conn.fd);
}
END_TEST

START_TEST(a_file_that_becomes_shorter_fails)
{
	const struct nm_transport *transport = _i ? &hooked : &plain;
	enum nm_step r;

	make_file("one", 3000000);
	found();
	begin(transport);
	r = step(&from);
	ck_assert(r == NM_STEP_WAIT_OUT || r == NM_STEP_YIELD);
	make_file("one", 2000);
	do {
		to.conn.flags |= NM_CONN_IN;
		(void)step(&to);
		from.conn.flags |= NM_CONN_OUT;
		r = step(&from);
	} while (r == NM_STEP_WAIT_OUT || r == NM_STEP_YIELD);
	ck_assert_int_eq(r, NM_STEP_FAIL);
	ck_assert_int_eq(from.block.flow.error, ESTALE);
	ck_assert_int_eq(from.block.transfer.fd, -1);
	/* The other end sees the end of the connection. */
	close(from.conn.fd);
	do {
		to.conn.flags |= NM_CONN_IN;
		r = step(&to);
	} while (r == NM_STEP_WAIT_IN || r == NM_STEP_YIELD);
	ck_assert_int_eq(r, NM_STEP_FAIL);
	ck_assert_int_eq(to.block.flow.error, ECONNRESET);
	close(to.conn.fd);
}
END_TEST

START_TEST(a_file_that_has_gone_or_is_none_fails)
{
	make_file("one", 3);
	found();
	begin(&plain);
	ck_assert_int_eq(unlink("one"), 0);
	ck_assert_int_eq(step(&from), NM_STEP_FAIL);
	ck_assert_int_eq(from.block.flow.error, ENOENT);
	ck_assert_int_eq(mkfifo("one", 0644), 0);
	ck_assert_int_eq(step(&from), NM_STEP_FAIL);
	ck_assert_int_eq(from.block.flow.error, EINVAL);
	ck_assert_int_eq(from.block.transfer.fd, -1);
	close(from.conn.fd);
	close(to.conn.fd);
}
END_TEST

START_TEST(a_header_may_come_byte_by_byte)
{
	static const char wire[] = {0, 0, 0, 0, 0, 0, 1, 4};
	char data[0x104] = {0};

	begin(&plain);
	for (size_t i = 0; i < sizeof wire; i++) {
		ck_assert_int_eq(send(from.conn.fd, &wire[i], 1, 0), 1);
		to.conn.flags |= NM_CONN_IN;
		ck_assert_int_eq(step(&to), NM_STEP_WAIT_IN);
	}
	ck_assert_uint_eq(to.block.flow.left, sizeof data);
	ck_assert_int_eq(send(from.conn.fd, data, sizeof data, 0), sizeof data);
	to.conn.flags |= NM_CONN_IN;
	ck_assert_int_eq(step(&to), NM_STEP_NEXT);
	ck_assert_uint_eq(nm_counter_read(&to.counters.bytes_received), sizeof data);
	close(from.conn.fd);
	close(to.conn.fd);
}
END_TEST

START_TEST(what_is_no_header_fails)
{
	begin(&plain);
	ck_assert_int_eq(send(from.conn.fd, "netmodel", 8, 0), 8);
	ck_assert_int_eq(step(&to), NM_STEP_FAIL);
	ck_assert_int_eq(to.block.flow.error, EPROTO);
	close(from.conn.fd);
	close(to.conn.fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("files");
	TCase *tc = tcase_create("files");
	const int n_lengths = sizeof lengths / sizeof *lengths;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, files_are_found_below_and_by_name);
	tcase_add_test(tc, what_is_no_directory_is_told);
	tcase_add_loop_test(tc, files_arrive_whole, 0, n_lengths);
	tcase_add_loop_test(tc, files_arrive_in_pieces, 0, n_lengths);
	tcase_add_test(tc, several_files_are_drawn_and_go_one_after_the_other);
	tcase_add_loop_test(tc, a_file_that_becomes_shorter_fails, 0, 2);
	tcase_add_test(tc, a_file_that_has_gone_or_is_none_fails);
	tcase_add_test(tc, a_header_may_come_byte_by_byte);
	tcase_add_test(tc, what_is_no_header_fails);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
