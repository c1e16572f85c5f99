/* SPDX-License-Identifier: Apache-2.0 */
/* Waiters and the interpreter without a kernel: the calls that arm and disarm are noted instead of
 * made, and steps follow a script. */
#include "engine/wait/waiter.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "../suite.h"
#include "engine/engine_priv.h"
#include "engine/loop/interp.h"

#define N_FLOWS 3
#define MS	UINT64_C(1000000)

/* --- in place of the kernel --- */

static struct {
	int how[32]; /* of epoll_ctl, in order */
	uint32_t events[32];
	unsigned n_ctl, n_fcntl, n_setsockopt;
	int error; /* that the next epoll_ctl meets; 0: none */
	uint64_t now_ns;
} kernel;

int epoll_ctl(int epoll_fd, int how, int fd, struct epoll_event *event)
{
	(void)epoll_fd;
	(void)fd;
	if (kernel.error) {
		errno = kernel.error;
		return -1;
	}
	kernel.how[kernel.n_ctl % 32] = how;
	kernel.events[kernel.n_ctl++ % 32] = event ? event->events : 0;
	return 0;
}

int fcntl(int fd, int command, ...)
{
	(void)fd;
	(void)command;
	kernel.n_fcntl++;
	return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	(void)fd;
	(void)level;
	(void)name;
	(void)value;
	(void)size;
	kernel.n_setsockopt++;
	return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	ret->tv_sec = (time_t)(kernel.now_ns / 1000000000);
	ret->tv_nsec = (long)(kernel.now_ns % 1000000000);
	return 0;
}

/* --- one worker --- */

static struct {
	struct nm_instr instrs[4];
	struct nm_phase phase;
	struct nm_phase_shape shape;
	struct nm_group group;
	struct nm_worker worker;
	struct {
		struct nm_flow flow;
		struct nm_conn conn;
	} flows[N_FLOWS];
	struct nm_counters counters;
	enum nm_step answers[64]; /* of the steps, in order; all others: WAIT_IN */
	unsigned n_steps;
} f;

static enum nm_step scripted_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	(void)io;
	(void)flow;
	(void)instr;
	return f.n_steps < 64 && f.answers[f.n_steps++] != NM_STEP_NEXT ? f.answers[f.n_steps - 1]
									: NM_STEP_NEXT;
}

static void setup(void)
{
	const struct nm_flowop *ops[] = {nm_flowop_find("write"), nm_flowop_find("read")};

	memset(&f, 0, sizeof f);
	memset(&kernel, 0, sizeof kernel);
	kernel.now_ns = 1000 * MS;
	for (unsigned i = 0; i < 2; i++)
		f.instrs[i] = (struct nm_instr){.step = scripted_step, .op = ops[i], .size = 1};
	f.phase = (struct nm_phase){.n_instrs = 2, .leads = true};
	f.shape = (struct nm_phase_shape){.wait_at = 1, .close_at = NM_NO_INSTR};
	f.group = (struct nm_group){.n_workers = 1, .n_flows = N_FLOWS, .n_conns = 1};
	f.group.instrs = f.instrs;
	f.worker = (struct nm_worker){.group = &f.group,
				      .shape = &f.shape,
				      .flows = (char *)f.flows,
				      .flow_bytes = sizeof f.flows[0],
				      .n_flows = N_FLOWS,
				      .epoll_fd = -1};
	f.worker.waiter.ops = &nm_waiter_epoll;
	f.worker.io = (struct nm_io){
		.count = &f.counters, .recv_flags = MSG_DONTWAIT, .in_kept = ~(uint32_t)NM_CONN_IN};
	f.worker.run.phase = &f.phase;
	f.worker.run.body = f.instrs;
	f.worker.run.check_at = f.worker.run.end_at = UINT64_MAX;
	f.worker.run.budget_mask = 127;
	ck_assert_int_eq(nm_timers_init(&f.worker.timers, N_FLOWS + 8), 0);
	for (unsigned i = 0; i < N_FLOWS; i++) {
		f.flows[i].conn = (struct nm_conn){
			.fd = 50 + (int)i, .flow = &f.flows[i].flow, .flags = NM_CONN_OPEN};
		f.flows[i].flow = (struct nm_flow){
			.at = f.instrs, .conn = &f.flows[i].conn, .iterations_left = UINT64_MAX};
	}
}

static void teardown(void)
{
	nm_timers_fini(&f.worker.timers);
}

static struct nm_flow *flow_waits_at_read(unsigned i)
{
	struct nm_flow *flow = &f.flows[i].flow;

	flow->at = &f.instrs[1];
	flow->state = NM_FLOW_WAITING;
	return flow;
}

static int wait_once(struct epoll_event *ready)
{
	return f.worker.waiter.ops->wait(&f.worker, ready, 4, 0);
}

static void use_recv(void)
{
	f.shape.waiter = NM_WAITER_RECV;
	f.worker.n_flows = 1;
	ck_assert_int_eq(nm_waiter_begin(&f.worker), 0);
	ck_assert_ptr_eq(f.worker.waiter.ops, &nm_waiter_recv);
}

/* --- epoll --- */

START_TEST(edges_are_armed_once)
{
	struct nm_conn *conn = &f.flows[0].conn;

	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, false), 0);
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, false), 0);
	ck_assert_uint_eq(kernel.n_ctl, 1);
	ck_assert_int_eq(kernel.how[0], EPOLL_CTL_ADD);
	ck_assert_uint_eq(conn->flags & (NM_CONN_ARMED | NM_CONN_ARMED_OUT), NM_CONN_ARMED);
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, true), 0);
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, true), 0);
	ck_assert_uint_eq(kernel.n_ctl, 2);
	ck_assert_int_eq(kernel.how[1], EPOLL_CTL_MOD);
	ck_assert(kernel.events[1] & EPOLLOUT);
	nm_epoll_forget(&f.worker, conn);
	ck_assert_int_eq(kernel.how[2], EPOLL_CTL_DEL);
	ck_assert(!(conn->flags & (NM_CONN_ARMED | NM_CONN_ARMED_OUT)));
	conn->flags = 0;
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, false), -ENOTCONN);
}
END_TEST

START_TEST(levels_are_asked_for_what_is_waited_for)
{
	struct nm_conn *conn = &f.flows[0].conn;

	f.group.level_triggered = true;
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, false), 0);
	ck_assert_uint_eq(kernel.events[0], EPOLLIN | EPOLLRDHUP);
	/* The next wait alike costs nothing, and is not marked as armed: each wait has to ask. */
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, false), 0);
	ck_assert_uint_eq(kernel.n_ctl, 1);
	ck_assert(!(conn->flags & NM_CONN_ARMED));
	conn->flags |= NM_CONN_IN;
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, true), 0);
	ck_assert_int_eq(kernel.how[1], EPOLL_CTL_MOD);
	ck_assert_uint_eq(kernel.events[1], EPOLLOUT | EPOLLRDHUP);
	ck_assert(conn->flags & NM_CONN_ARMED_OUT);
	/* What nobody waits for would be told on and on. */
	nm_waiter_ignore(&f.worker, conn);
	ck_assert_int_eq(kernel.how[2], EPOLL_CTL_DEL);
	nm_waiter_ignore(&f.worker, conn);
	ck_assert_uint_eq(kernel.n_ctl, 3);
	ck_assert_uint_eq(conn->waiter, 0);
	kernel.error = ENOSPC;
	ck_assert_int_eq(nm_waiter_arm(&f.worker, conn, false), -ENOSPC);
}
END_TEST

/* --- recv --- */

START_TEST(a_receive_sleeps_and_is_given_up)
{
	struct epoll_event ready[4];
	struct nm_flow *flow = flow_waits_at_read(0);

	use_recv();
	ck_assert_uint_eq(kernel.n_setsockopt, 1);
	ck_assert_int_eq(nm_waiter_arm(&f.worker, flow->conn, false), 0);
	ck_assert(flow->conn->flags & NM_CONN_ARMED);
	ck_assert_uint_eq(kernel.n_ctl, 0);
	/* Readable at once: the receive that follows sleeps. */
	ck_assert_int_eq(wait_once(ready), 1);
	ck_assert_ptr_eq(ready[0].data.ptr, flow->conn);
	ck_assert_int_eq(f.worker.io.recv_flags, 0);
	ck_assert(f.worker.io.in_kept & NM_CONN_IN);
	/* It has come back with nothing. */
	ck_assert_int_lt(wait_once(ready), 1);
	ck_assert_int_eq(f.worker.io.recv_flags, MSG_DONTWAIT);
	ck_assert(!(f.worker.io.in_kept & NM_CONN_IN));
	ck_assert_uint_eq(kernel.n_ctl, 1);
	ck_assert_int_eq(kernel.how[0], EPOLL_CTL_ADD);
	/* After some passes it is worth another try. */
	atomic_store(&f.counters.iterations, 127);
	ck_assert_int_lt(wait_once(ready), 1);
	atomic_store(&f.counters.iterations, 128);
	ck_assert_int_eq(wait_once(ready), 1);
	ck_assert_int_eq(kernel.how[1], EPOLL_CTL_DEL);
	ck_assert_int_eq(f.worker.io.recv_flags, 0);
	nm_waiter_end(&f.worker);
	ck_assert_ptr_eq(f.worker.waiter.ops, &nm_waiter_epoll);
	ck_assert_int_eq(f.worker.io.recv_flags, MSG_DONTWAIT);
	ck_assert_int_eq(kernel.how[2], EPOLL_CTL_ADD); /* for which the flow waits */
}
END_TEST

START_TEST(commands_and_output_are_for_epoll)
{
	struct epoll_event ready[4];
	struct nm_flow *flow = flow_waits_at_read(0);

	use_recv();
	atomic_store(&f.worker.commands.has_command, true);
	ck_assert_int_lt(wait_once(ready), 1);
	ck_assert_int_eq(f.worker.io.recv_flags, MSG_DONTWAIT);
	ck_assert(f.worker.waiter.sleeps_in_recv);
	atomic_store(&f.worker.commands.has_command, false);
	ck_assert_int_eq(wait_once(ready), 1);
	flow->state = NM_FLOW_READY;
	ck_assert_int_eq(nm_waiter_arm(&f.worker, flow->conn, true), 0);
	ck_assert(!f.worker.waiter.sleeps_in_recv);
	ck_assert(kernel.events[0] & EPOLLOUT);
}
END_TEST

START_TEST(one_that_spins_looks_again_and_again)
{
	struct epoll_event ready[4];
	unsigned told = 0;

	f.group.spins = true;
	(void)flow_waits_at_read(0);
	use_recv();
	ck_assert_uint_eq(kernel.n_setsockopt + kernel.n_fcntl, 0);
	while (told < 1000 && wait_once(ready) == 1)
		told++;
	ck_assert_uint_eq(told, 255); /* and then epoll is asked */
	ck_assert_int_eq(f.worker.io.recv_flags, MSG_DONTWAIT);
}
END_TEST

/* --- the interpreter --- */

START_TEST(a_flow_waits_without_a_call_where_it_is_armed)
{
	struct nm_flow *flow = &f.flows[0].flow;

	f.answers[0] = NM_STEP_NEXT;
	f.answers[1] = NM_STEP_WAIT_IN;
	nm_worker_run_flow(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_WAITING);
	ck_assert_ptr_eq(flow->at, &f.instrs[1]);
	ck_assert_uint_eq(kernel.n_ctl, 1);
	/* Done, and the next pass up to its read. */
	f.answers[2] = NM_STEP_NEXT;
	f.answers[3] = NM_STEP_NEXT_WAIT_IN;
	nm_worker_run_flow(&f.worker, flow);
	ck_assert_ptr_eq(flow->at, &f.instrs[1]);
	ck_assert_uint_eq(kernel.n_ctl, 1);
	ck_assert_uint_eq(nm_counter_read(&f.counters.iterations), 1);
	ck_assert_uint_eq(f.worker.timers.count, 0);
}
END_TEST

START_TEST(a_wait_has_the_deadline_of_its_instruction)
{
	struct nm_flow *flow = &f.flows[0].flow;

	flow->conn->flags |= NM_CONN_ARMED;
	f.worker.run.has_deadlines = true;
	f.instrs[1].timeout_ns = 5 * MS;
	f.answers[0] = NM_STEP_NEXT_WAIT_IN;
	nm_worker_run_flow(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_WAITING_UNTIL);
	ck_assert_ptr_eq(flow->at, &f.instrs[1]);
	ck_assert_uint_eq(nm_timers_next_ns(&f.worker.timers), 1005 * MS);
}
END_TEST

START_TEST(a_step_may_say_its_own_deadline)
{
	struct nm_flow *flow = &f.flows[0].flow;

	flow->conn->flags |= NM_CONN_ARMED;
	f.worker.run.has_deadlines = true;
	flow->timer.at_ns = 1002 * MS;
	f.answers[0] = NM_STEP_WAIT_IN;
	nm_worker_run_flow(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_WAITING_UNTIL);
	ck_assert_uint_eq(nm_timers_next_ns(&f.worker.timers), 1002 * MS);
}
END_TEST

START_TEST(sleep_and_yield_and_jump)
{
	struct nm_flow *flow = &f.flows[0].flow;

	f.answers[0] = NM_STEP_NEXT;
	f.answers[1] = NM_STEP_JUMP;
	f.answers[2] = NM_STEP_YIELD;
	nm_worker_run_flow(&f.worker, flow);
	ck_assert_uint_eq(f.n_steps, 3);
	ck_assert_ptr_eq(f.worker.runq.first, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_READY);
	f.worker.runq.first = f.worker.runq.last = NULL;
	flow->timer.at_ns = 1001 * MS;
	f.answers[3] = NM_STEP_SLEEP;
	nm_worker_run_flow(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_ASLEEP);
	ck_assert_uint_eq(nm_timers_next_ns(&f.worker.timers), 1001 * MS);
}
END_TEST

/* --- deferred waits --- */

START_TEST(a_wait_is_deferred_to_the_next_turn)
{
	struct nm_flow *flow = &f.flows[0].flow;

	f.shape.defer = NM_DEFER_NEXT_TURN;
	nm_defer_begin(&f.worker);
	f.answers[0] = NM_STEP_WAIT_IN;
	nm_worker_run_flow(&f.worker, flow);
	ck_assert_int_eq(flow->state, NM_FLOW_RETRYING);
	ck_assert_uint_eq(kernel.n_ctl, 0);
	f.worker.runq.first = f.worker.runq.last = NULL;
	/* In vain: it is armed now, and the next wait at once. */
	nm_defer_begin_round(&f.worker);
	f.answers[1] = NM_STEP_WAIT_IN;
	nm_worker_retry_flow(&f.worker, flow);
	nm_defer_end_round(&f.worker);
	ck_assert_int_eq(flow->state, NM_FLOW_WAITING);
	ck_assert_uint_eq(kernel.n_ctl, 1);
	ck_assert_uint_eq(f.worker.defer.backoff.skips, 1);
	f.answers[2] = NM_STEP_WAIT_IN;
	nm_worker_run_flow(&f.worker, &f.flows[1].flow);
	ck_assert_int_eq(f.flows[1].flow.state, NM_FLOW_WAITING);
	f.answers[3] = NM_STEP_WAIT_IN;
	nm_worker_run_flow(&f.worker, &f.flows[2].flow);
	ck_assert_int_eq(f.flows[2].flow.state, NM_FLOW_RETRYING);
}
END_TEST

START_TEST(vain_rounds_are_waited_out_longer_and_longer)
{
	static const unsigned expected[] = {1, 3, 7, 15, 15};

	f.shape.defer = NM_DEFER_NEXT_TURN;
	nm_defer_begin(&f.worker);
	for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
		f.worker.defer.tried = f.worker.defer.missed = 2;
		nm_defer_end_round(&f.worker);
		ck_assert_uint_eq(f.worker.defer.backoff.skips, 2 * expected[i]);
	}
	f.worker.defer.missed = 1;
	nm_defer_end_round(&f.worker);
	ck_assert_uint_eq(f.worker.defer.backoff.vain, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waiter");
	TCase *tc = tcase_create("waiter");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, edges_are_armed_once);
	tcase_add_test(tc, levels_are_asked_for_what_is_waited_for);
	tcase_add_test(tc, a_receive_sleeps_and_is_given_up);
	tcase_add_test(tc, commands_and_output_are_for_epoll);
	tcase_add_test(tc, one_that_spins_looks_again_and_again);
	tcase_add_test(tc, a_flow_waits_without_a_call_where_it_is_armed);
	tcase_add_test(tc, a_wait_has_the_deadline_of_its_instruction);
	tcase_add_test(tc, a_step_may_say_its_own_deadline);
	tcase_add_test(tc, sleep_and_yield_and_jump);
	tcase_add_test(tc, a_wait_is_deferred_to_the_next_turn);
	tcase_add_test(tc, vain_rounds_are_waited_out_longer_and_longer);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
