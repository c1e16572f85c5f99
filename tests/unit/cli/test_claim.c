/* SPDX-License-Identifier: Apache-2.0 */
/* Names that have an owner, in one process. */
#include "cli/claim.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/pass_fd.h"

#include "../suite.h"

#define OWNER  "a study"
#define NOBODY 65534

static int ends = -1; /* a socket that is closed before the next connect */
static char name[32];

static void start(void)
{
	(void)snprintf(name, sizeof name, "test%ld", (long)getpid());
}

/* Instead of the one of the C library. */
int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	if (ends >= 0)
		(void)close(ends);
	ends = -1;
	return (int)syscall(SYS_connect, fd, address, size);
}

static int claim(void)
{
	bool asks;
	int fd = nm_claim(name, &asks);

	ck_assert(fd < 0 || !asks);
	return fd;
}

static socklen_t address_of(struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	return (socklen_t)(sizeof(sa_family_t) + 1 +
			   (size_t)snprintf(ret->sun_path + 1, sizeof ret->sun_path - 1,
					    "netmodel-claim/%s", name));
}

/* What one of that user is told who asks, and the descriptor that it gets. */
static int ask_as(uid_t user, int owner, char ret_said[NM_CLAIM_OWNER])
{
	struct sockaddr_un address;
	socklen_t size = address_of(&address);
	int asker = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), got = -1;
	const uid_t own = geteuid();

	ck_assert_int_eq(seteuid(user), 0);
	int error = connect(asker, (const struct sockaddr *)&address, size);

	ck_assert_int_eq(seteuid(own), 0);
	ck_assert_int_eq(error, 0);
	nm_claim_answer(owner, OWNER);
	ssize_t n = nm_pass_fd_receive(asker, ret_said, NM_CLAIM_OWNER - 1, &got);

	ret_said[n > 0 ? n : 0] = '\0';
	ck_assert_int_eq(close(asker), 0);
	return got;
}

START_TEST(only_the_same_user_gets_the_name)
{
	char said[NM_CLAIM_OWNER];
	int owner = claim();

	ck_assert_int_ge(owner, 0);
	int got = ask_as(geteuid(), owner, said);

	ck_assert_str_eq(said, OWNER);
	ck_assert_int_ge(got, 0);
	ck_assert_int_eq(close(got), 0);
	if (geteuid() == 0) { /* who may be another */
		ck_assert_int_eq(ask_as(NOBODY, owner, said), -1);
		ck_assert_str_eq(said, OWNER);
	}
	ck_assert_int_eq(close(owner), 0);
}
END_TEST

/* What nm_claim_hear returns, with the descriptor closed, to who asks for that owner. */
static int hear_as(const char *as, int owner, bool answers, char ret_said[NM_CLAIM_OWNER])
{
	bool asks = false;
	int fd = nm_claim(name, &asks);

	ck_assert_int_ge(fd, 0);
	ck_assert(asks);
	if (answers)
		nm_claim_answer(owner, OWNER);
	int held = nm_claim_hear(fd, as, ret_said);

	return held < 0 ? held : close(held);
}

START_TEST(who_asks_hears_of_the_owner)
{
	char said[NM_CLAIM_OWNER];
	int owner = claim();

	ck_assert_int_eq(hear_as(OWNER, owner, true, said), 0);
	ck_assert_str_eq(said, OWNER);
	ck_assert_int_eq(hear_as("another", owner, true, said), -EADDRINUSE);
	ck_assert_str_eq(said, OWNER);
	ck_assert_int_eq(hear_as(OWNER, owner, false, said), -EADDRINUSE);
	ck_assert_str_eq(said, "");
	nm_claim_answer(owner, OWNER); /* to who has gone */
	ck_assert_int_eq(close(owner), 0);
}
END_TEST

START_TEST(a_name_whose_owner_ends_meanwhile_is_free)
{
	ends = claim();
	ck_assert_int_ge(ends, 0);
	int owner = claim();

	ck_assert_int_ge(owner, 0);
	ck_assert_int_eq(ends, -1);
	ck_assert_int_eq(close(owner), 0);
}
END_TEST

/* The kernel resets who was not accepted yet. */
START_TEST(an_owner_that_ends_without_an_answer_leaves_its_name)
{
	for (int accepts = 0; accepts < 2; accepts++) {
		char said[NM_CLAIM_OWNER];
		bool asks = false;
		int owner = claim(), fd = nm_claim(name, &asks);

		ck_assert(asks);
		if (accepts)
			ck_assert_int_eq(close(accept(owner, NULL, NULL)), 0);
		ck_assert_int_eq(close(owner), 0);
		ck_assert_int_eq(nm_claim_hear(fd, OWNER, said), -ECONNRESET);
		ck_assert_str_eq(said, "");
		owner = claim();
		ck_assert_int_ge(owner, 0);
		ck_assert_int_eq(close(owner), 0);
	}
}
END_TEST

START_TEST(an_owner_that_never_listens_keeps_its_name)
{
	struct sockaddr_un address;
	socklen_t size = address_of(&address);
	int owner = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(owner, (const struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(claim(), -EADDRINUSE);
	ck_assert_int_eq(close(owner), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("claim");
	TCase *tests = tcase_create("names");

	tcase_add_checked_fixture(tests, start, NULL);
	tcase_add_test(tests, only_the_same_user_gets_the_name);
	tcase_add_test(tests, who_asks_hears_of_the_owner);
	tcase_add_test(tests, a_name_whose_owner_ends_meanwhile_is_free);
	tcase_add_test(tests, an_owner_that_ends_without_an_answer_leaves_its_name);
	tcase_add_test(tests, an_owner_that_never_listens_keeps_its_name);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
