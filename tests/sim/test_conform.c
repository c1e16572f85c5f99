/* SPDX-License-Identifier: Apache-2.0 */
/* Some hundred scripts of calls on the simulated kernel and on the machine's, and what calls of
 * scripts say. */
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../unit/suite.h"
#include "conform.h"
#include "kernel.h"
#include "script.h"
#include "world.h"

#define SCRIPTS 100

START_TEST(both_kernels_say_the_same)
{
	struct sim_choices choices = sim_choices_plain();

	for (uint64_t i = 1; i <= SCRIPTS; i++) {
		struct sim_outcome outcome;

		choices.seed = (uint64_t)_i * SCRIPTS + i;
		sim_conform(&choices, &outcome);
		ck_assert_msg(!*outcome.why, "seed %llu: %s; build/tests/sim/sim conform %llu",
			      (unsigned long long)choices.seed, outcome.why,
			      (unsigned long long)choices.seed);
	}
}
END_TEST

static void settle(void)
{
	(void)poll(NULL, 0, 2);
}

struct line {
	const char *call;
	unsigned slot, other;
	uint64_t number;
	const char *says; /* NULL: anything */
};

/* Makes the calls on the machine's kernel, to the one without a name. */
static void ck_says(const struct line *lines)
{
	static const struct sim_patience patience = {.settle = settle, .full_ms = 100};
	struct sim_script script = {.steps = {{.call = 0}}};
	unsigned n = 0;
	sim_says said;

	for (; lines[n].call; n++) {
		struct sim_step *step = &script.steps[n];

		*step = (struct sim_step){
			.slot = lines[n].slot, .other = lines[n].other, .number = lines[n].number};
		while (strcmp(sim_script_calls[step->call].name, lines[n].call) != 0)
			ck_assert_uint_lt(++step->call, sim_n_script_calls);
	}
	(void)sim_script_perform(&script, UINT64_MAX << n, &patience, NULL, &said);
	for (unsigned i = 0; i < n; i++)
		if (lines[i].says)
			ck_assert_str_eq(said[i], lines[i].says);
}

START_TEST(flags_of_no_descriptor_are_an_error)
{
	ck_says((const struct line[]){
		{.call = "flags", .says = "EBADF"},
		{.call = "socket"},
		{.call = "flags", .says = "0 O_NONBLOCK"},
		{.call = NULL},
	});
}
END_TEST

/* 300 bytes have all values. */
START_TEST(what_fills_is_told_from_all_else)
{
	ck_says((const struct line[]){
		{.call = "socket", .slot = 1},
		{.call = "listen", .slot = 1, .number = 3},
		{.call = "socket"},
		{.call = "connect", .other = 1},
		{.call = "accept", .slot = 1, .other = 2},
		{.call = "send", .number = 99},
		{.call = "send", .number = 99},
		{.call = "send", .number = 99},
		{.call = "fill", .says = "a part, then EAGAIN"},
		{.call = "recv", .slot = 2, .says = "all of what has no room, d3122357"},
		{.call = "recv", .slot = 2, .number = 1, .says = "EAGAIN"},
		{.call = NULL},
	});
}
END_TEST

static void sleep_in_world(void)
{
	(void)sim_block(NULL, NULL, sim_now() + UINT64_C(100000000), "sleep");
}

/* Both ends of a connection. */
static void connect_pair(int ret_fds[2])
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof addr;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	(void)listen(listener, 1);
	(void)getsockname(listener, (struct sockaddr *)&addr, &size);
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret_fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	(void)connect(ret_fds[0], (const struct sockaddr *)&addr, size);
	ret_fds[1] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	(void)close(listener);
}

/* What an edge-triggered epoll reports of an end that takes all that the other has sent before its
 * own end; 0: nothing. */
static void take_all(const int fds[2], uint32_t ret_reports[3])
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	static char data[1000];

	while (send(fds[0], data, sizeof data, MSG_NOSIGNAL) > 0)
		;
	(void)shutdown(fds[0], SHUT_WR);
	sleep_in_world();
	(void)epoll_ctl(epoll, EPOLL_CTL_ADD, fds[1], &event);
	for (unsigned i = 0; i < 3; i++) {
		int n = epoll_wait(epoll, &event, 1, 100);

		ret_reports[i] = n > 0 ? event.events : 0;
		while (recv(fds[1], data, sizeof data, 0) > 0)
			;
	}
	(void)close(epoll);
}

/* Scripts settle behind each call: nothing of theirs is on its way while another is made. */
START_TEST(an_end_behind_what_has_no_room_comes_once)
{
	struct sim_choices choices = sim_choices_plain();
	struct sim_kernel_state state;
	uint32_t reports[3];
	int fds[2];

	choices.delay_ns = 1000000;
	sim_begin(1);
	sim_kernel_begin(&choices);
	connect_pair(fds);
	take_all(fds, reports);
	(void)close(fds[0]);
	(void)close(fds[1]);
	sim_kernel_end(&state);
	sim_end();
	ck_assert_uint_eq(state.descriptors, 0);
	ck_assert_uint_eq(reports[0], EPOLLIN);
	ck_assert_uint_eq(reports[1], EPOLLIN | EPOLLRDHUP);
	ck_assert_uint_eq(reports[2], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conformance");
	TCase *tests = tcase_create("scripts");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, both_kernels_say_the_same, 0, 4);
	tcase_add_test(tests, flags_of_no_descriptor_are_an_error);
	tcase_add_test(tests, what_fills_is_told_from_all_else);
	tcase_add_test(tests, an_end_behind_what_has_no_room_comes_once);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
