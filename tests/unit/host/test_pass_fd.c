/* SPDX-License-Identifier: Apache-2.0 */
#include "host/pass_fd.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../suite.h"

static int pair[2], passed = -1; /* to pair[1], from pair[0] */
static int lowest;		 /* the descriptor that is free next */

static int lowest_free(void)
{
	int fd = dup(pair[0]);

	ck_assert_int_ge(fd, 0);
	close(fd);
	return fd;
}

static void start(void)
{
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

	ck_assert_int_eq(socketpair(AF_UNIX, type, 0, pair), 0);
	passed = eventfd(5, EFD_CLOEXEC);
	ck_assert_int_ge(passed, 0);
	lowest = lowest_free();
}

static void end(void)
{
	close(pair[0]);
	close(pair[1]);
	close(passed);
}

/* What a peer sends that does it otherwise: so many descriptors, none at all with 0. */
static void send_fds(unsigned count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = {.bytes = {0}};
	const int fds[3] = {passed, passed, passed};
	char text[] = "text";
	struct iovec iov = {.iov_base = text, .iov_len = 4};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (count) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS,
						  .cmsg_len = CMSG_LEN(count * sizeof(int))};
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	ck_assert_int_eq(sendmsg(pair[1], &message, 0), 4);
}

/* The bytes come, and no descriptor is open that was not before. */
static void receive_none(void)
{
	char bytes[8] = "";
	int fd = passed;

	ck_assert_int_eq(nm_pass_fd_receive(pair[0], bytes, sizeof bytes, &fd), 4);
	ck_assert_str_eq(bytes, "text");
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(lowest_free(), lowest);
}

START_TEST(a_descriptor_comes_with_its_bytes)
{
	char bytes[8] = "";
	int fd = -1;
	uint64_t value = 0;

	ck_assert_int_eq(nm_pass_fd_send(pair[1], "text", 4, passed), 0);
	ck_assert_int_eq(nm_pass_fd_receive(pair[0], bytes, sizeof bytes, &fd), 4);
	ck_assert_str_eq(bytes, "text");
	ck_assert_int_eq(fd, lowest);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(read(fd, &value, sizeof value), sizeof value);
	ck_assert_uint_eq(value, 5);
	close(fd);
	ck_assert_int_ge(fcntl(passed, F_GETFD), 0);
}
END_TEST

/* Two are as many as the room of one may take, aligned; three are more. */
static const unsigned others[] = {0, 2, 3};

START_TEST(other_than_one_descriptor_is_none)
{
	send_fds(others[_i]);
	receive_none();
}
END_TEST

/* There is room for no more descriptors, or for one of two. */
START_TEST(what_a_limit_cuts_off_is_none)
{
	struct rlimit before, limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){.rlim_cur = (rlim_t)lowest + (rlim_t)_i - 1,
				.rlim_max = before.rlim_max};
	send_fds((unsigned)_i);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	char bytes[8];
	int fd = passed;
	ssize_t n = nm_pass_fd_receive(pair[0], bytes, sizeof bytes, &fd);

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(n, 4);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(lowest_free(), lowest);
}
END_TEST

START_TEST(errors_are_told)
{
	char bytes[8];
	int fd = passed;

	ck_assert_int_eq(nm_pass_fd_receive(pair[0], bytes, sizeof bytes, &fd), -EAGAIN);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(nm_pass_fd_send(pair[1], "text", 4, -1), -EBADF);
	close(pair[1]);
	pair[1] = -1;
	ck_assert_int_eq(nm_pass_fd_receive(pair[0], bytes, sizeof bytes, &fd), 0);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(nm_pass_fd_send(pair[0], "text", 4, passed), -EPIPE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pass_fd");
	TCase *core = tcase_create("core");

	tcase_add_checked_fixture(core, start, end);
	tcase_add_test(core, a_descriptor_comes_with_its_bytes);
	tcase_add_loop_test(core, other_than_one_descriptor_is_none, 0,
			    sizeof others / sizeof *others);
	tcase_add_loop_test(core, what_a_limit_cuts_off_is_none, 1, 3);
	tcase_add_test(core, errors_are_told);
	suite_add_tcase(suite, core);
	return run_suite(suite);
}
