/* SPDX-License-Identifier: Apache-2.0 */
/* One worker of two flows that is driven by hand, over a transport that follows a script: what the
 * tests of phases and of reconnecting share. */
#include "one_worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/phase/reconnect.h"

struct script script;
struct one_worker f;

static ssize_t scripted(size_t size)
{
	ssize_t answer = script.next < 8 ? script.answers[script.next++] : 0;

	return !answer ? -EAGAIN : answer > (ssize_t)size ? (ssize_t)size : answer;
}

static ssize_t fake_send(struct nm_conn *conn, const void *opts, void *data, size_t size)
{
	(void)conn;
	(void)opts;
	(void)data;
	return scripted(size);
}

static ssize_t fake_recv(struct nm_conn *conn, void *data, size_t size)
{
	(void)conn;
	(void)data;
	return scripted(size);
}

static void fake_close(struct nm_conn *conn, bool reset)
{
	(void)reset;
	script.closed++;
	conn->flags = 0;
}

static bool fake_expired(const struct nm_conn *conn, const void *started, char *why, size_t size)
{
	(void)conn;
	(void)started;
	if (script.expired)
		(void)snprintf(why, size, "its key is too old");
	return script.expired;
}

static int fake_event_fd(const void *started)
{
	return *(const int *)started;
}

static enum nm_transport_event fake_event(void *started, char *why, size_t size)
{
	enum nm_transport_event event = script.events[script.next_event];

	(void)started;
	script.next_event += event != NM_TRANSPORT_EVENT_NONE;
	if (event == NM_TRANSPORT_EVENT_LOST)
		(void)snprintf(why, size, "the device is gone");
	return event;
}

static const struct nm_transport_events fake_events = {
	.fd = fake_event_fd, .next = fake_event, .expired = fake_expired};
static const struct nm_transport fake = {.name = "fake",
					 .caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_RECONNECTS,
					 .send = fake_send,
					 .recv = fake_recv,
					 .close = fake_close,
					 .events = &fake_events};

static void make_flows(void)
{
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		struct nm_flow *flow = nm_worker_flow(&f.worker, i);

		f.flows[i].conn =
			(struct nm_conn){.fd = -1,
					 .transport = &fake,
					 .flow = flow,
					 .flags = NM_CONN_OPEN | NM_CONN_ARMED | NM_CONN_ARMED_OUT};
		*flow = (struct nm_flow){.index = i,
					 .at = &f.instrs[1],
					 .state = NM_FLOW_WAITING,
					 .iterations_left = 10,
					 .conn = &f.flows[i].conn};
	}
}

static void setup(void)
{
	memset(&f, 0, sizeof f);
	memset(&script, 0, sizeof script);
	f.instrs[0] =
		(struct nm_instr){.op = nm_flowop_find("connect"), .transport = &fake, .line = 3};
	f.instrs[1] = (struct nm_instr){.op = nm_flowop_find("read"),
					.step = nm_flowop_find("read")->step,
					.transport = &fake,
					.size = 100,
					.pass = {.drains = true, .rekey_point = true},
					.line = 5};
	f.phase = (struct nm_phase){.first = 1, .n_instrs = 1, .leader = NM_NO_HOST, .leads = true};
	f.group = (struct nm_group){.name = (char *)"g",
				    .n_workers = 1,
				    .n_flows = N_FLOWS,
				    .n_conns = 1,
				    .n_openings = 1,
				    .instrs = f.instrs,
				    .n_instrs = 3,
				    .phases = &f.phase,
				    .n_phases = 1,
				    .runs = true};
	f.plan = (struct nm_plan){.groups = &f.group, .n_groups = 1};
	f.fd = eventfd(0, EFD_NONBLOCK);
	f.started = &f.fd;
	f.engine_group = (struct nm_engine_group){
		.plan = &f.group, .workers = &f.worker, .n_workers = 1, .started = &f.started};
	f.engine = (struct nm_engine){
		.plan = &f.plan, .groups = &f.engine_group, .event_fd = eventfd(0, EFD_NONBLOCK)};
	f.worker = (struct nm_worker){.engine = &f.engine,
				      .group = &f.group,
				      .flows = (char *)f.flows,
				      .flow_bytes = sizeof f.flows[0],
				      .n_flows = N_FLOWS,
				      .stats = &f.stats,
				      .epoll_fd = -1,
				      .wake_fd = eventfd(0, EFD_NONBLOCK)};
	f.worker.waiter.ops = &nm_waiter_epoll;
	f.worker.accept.listeners = &f.listener;
	f.worker.io = (struct nm_io){.rx = f.rx,
				     .tx = f.tx,
				     .chunk = CHUNK,
				     .count = &f.stats.tally.counters,
				     .in_kept = ~(uint32_t)NM_CONN_IN,
				     .started = f.engine_group.started,
				     .behind.pipe_offset =
					     (size_t)(f.flows[0].pipe - (char *)&f.flows[0]),
				     .n_conns = 1};
	ck_assert_int_eq(nm_timers_init(&f.worker.timers, N_FLOWS + NM_TIMER__COUNT), 0);
	atomic_store(&f.worker.commands.drain, UINT64_MAX);
	atomic_store(&f.worker.commands.follow, UINT64_MAX);
	ck_assert_int_eq(nm_reconnect_init(&f.worker), 0);
	make_flows();
	f.worker.run = (struct nm_phase_run){.phase = &f.phase,
					     .body = &f.instrs[1],
					     .state = NM_PHASE_RUN,
					     .n_active = N_FLOWS,
					     .end_at = UINT64_MAX};
}

static void teardown(void)
{
	nm_timers_fini(&f.worker.timers);
	free(f.worker.reconnect.openings);
	(void)close(f.fd);
	(void)close(f.engine.event_fd);
	(void)close(f.worker.wake_fd);
}

TCase *one_worker_tests(const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, teardown);
	return tcase;
}
