/* SPDX-License-Identifier: Apache-2.0 */
/* The slave: a session against masters that say what the script says, and the daemon that takes
 * masters. */
#include "control/slave/daemon.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "control/master/run.h"
#include "control/peer.h"
#include "control/slave/session.h"
#include "control/wire/codec.h"
#include "fake_engine.h"
#include "host/clock.h"
#include "profile/tree.h"

#define S UINT64_C(1000000000)

#define PROFILE                                                                                    \
	"<profile name='t'><group nthreads='1'>"                                                   \
	"<transaction iterations='1'><flowop type='connect' options='remotehost=peer "             \
	"protocol=tcp'/></transaction>"                                                            \
	"<transaction duration='30ms'><flowop type='write' options='size=10'/></transaction>"      \
	"</group></profile>"

static struct nm_slave_options options;
static struct nm_peer master;
static int session_fd;
static char answers[65536];
static char log_text[8192];
static struct nm_result_host ended, its_master;
static unsigned n_ended;

static void on_log(void *arg, const char *line)
{
	size_t used = strlen(log_text);

	(void)arg;
	(void)snprintf(log_text + used, sizeof log_text - used, "%s\n", line);
}

static void on_ended(void *arg, struct nm_result *result)
{
	(void)arg;
	n_ended++;
	ended = result->hosts[0];
	its_master =
		result->n_hosts > 1 ? result->hosts[1] : (struct nm_result_host){.n_groups = 0};
}

static int listen_here(struct sockaddr_in *at)
{
	socklen_t length = sizeof *at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*at = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	ck_assert_int_eq(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)at, &length), 0);
	return fd;
}

static void start(void)
{
	struct sockaddr_in at;
	int listener = listen_here(&at), fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	session_fd = accept(listener, NULL, NULL);
	(void)close(listener);
	ck_assert_int_eq(nm_peer_init(&master, fd, NM_SIDE_SLAVE, NULL, 10 * S, nm_clock_ns()), 0);
	nm_slave_options_default(&options);
	options.in_process = true;
	options.log = on_log;
	options.ended = on_ended;
	fake_script = (struct fake_script){.works = true, .passes = 6};
	log_text[0] = '\0';
	n_ended = 0;
}

static void end(void)
{
	nm_peer_fini(&master);
}

static void say(enum nm_message_type type, json_t *body)
{
	ck_assert_int_eq(nm_peer_send(&master, type, body, nm_clock_ns()), 0);
}

static void prepare_of(const char *profile, const char *cpus, uint64_t interval_ns)
{
	const struct nm_msg_prepare prepare = {.run_id = "0123456789abcdef0123456789abcdef",
					       .host = "peer",
					       .profile = profile,
					       .file = "t.xml",
					       .cpus = cpus,
					       .interval_ns = interval_ns,
					       .timeout_ns = 10 * S};

	say(NM_MESSAGE_PREPARE, nm_prepare_pack(&prepare));
}

static void arm(void)
{
	say(NM_MESSAGE_HELLO, nm_hello_pack());
	prepare_of(PROFILE, NULL, S);
	static const unsigned char nonce[NM_NONCE_BYTES];

	say(NM_MESSAGE_CONNECT, nm_connect_pack(json_array(), nonce));
}

static void begin(uint32_t phase)
{
	const struct nm_phase_order order = {.phase = phase,
					     .measured = phase == 1,
					     .usage_from_ns = phase == 1 ? 0 : NM_USAGE_NEVER,
					     .usage_to_ns =
						     phase == 1 ? NM_USAGE_AT_END : NM_USAGE_NEVER};

	say(NM_MESSAGE_BEGIN, nm_begin_pack(&order));
}

/* Serves what the master has said, who then goes; what it was answered is in `answers`. */
static enum nm_session_end serve(void)
{
	size_t used = 0;
	ssize_t n;

	ck_assert_int_eq(shutdown(master.fd, SHUT_WR), 0);
	enum nm_session_end how = nm_session_serve(session_fd, &options, NULL);

	while ((n = recv(master.fd, answers + used, sizeof answers - 1 - used, 0)) > 0)
		used += (size_t)n;
	for (size_t i = 0; i < used; i++)
		answers[i] = answers[i] ? answers[i] : ' ';
	answers[used] = '\0';
	return how;
}

static void refused(const char *what)
{
	ck_assert_msg(strstr(answers, what), "%s", answers);
}

/* A master of another version says nothing of itself. */
START_TEST(a_whole_session_is_served)
{
	const struct nm_host_window window = {.ns = 9, .counts = {.iterations = 5}};

	arm();
	say(NM_MESSAGE_PING, nm_number_pack(NM_MESSAGE_PING, 1));
	begin(0);
	begin(1);
	uint64_t totals[] = {4};
	const struct nm_msg_totals follow = {.phase = 1, .totals = totals};

	say(NM_MESSAGE_FOLLOW, nm_follow_pack(&follow, 1));
	say(NM_MESSAGE_RENEW, nm_renew_pack(0));
	say(NM_MESSAGE_HEARTBEAT, nm_number_pack(NM_MESSAGE_HEARTBEAT, 0));
	/* It crosses with the news that the group is done. */
	say(NM_MESSAGE_FOLLOW, nm_follow_pack(&follow, 1));
	say(NM_MESSAGE_FINISH, json_object());
	say(NM_MESSAGE_BYE, _i ? nm_bye_pack(&window) : json_object());
	ck_assert_int_eq(serve(), NM_SESSION_SERVED);
	refused("[\"pong\"");
	refused("[\"result\"");
	ck_assert_uint_eq(n_ended, 1);
	ck_assert_uint_eq(ended.window.counts.iterations, 4);
	ck_assert_uint_eq(its_master.window.counts.iterations, _i ? 5 : 0);
}
END_TEST

START_TEST(what_speaks_another_language_is_no_master)
{
	ck_assert_int_eq(send(master.fd, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
	ck_assert_int_eq(serve(), NM_SESSION_NOTHING);
	refused("what has connected is no netmodel master");
}
END_TEST

START_TEST(a_master_that_only_connects_is_nothing)
{
	ck_assert_int_eq(serve(), NM_SESSION_NOTHING);
	ck_assert_str_eq(answers, "");
}
END_TEST

START_TEST(another_version_is_refused)
{
	json_t *hello = nm_hello_pack();

	json_object_set_new(hello, "protocol", json_integer(NM_PROTOCOL + 1));
	say(NM_MESSAGE_HELLO, hello);
	ck_assert_int_eq(serve(), NM_SESSION_NOTHING);
	refused("use the same version on both hosts");
}
END_TEST

START_TEST(a_profile_that_cannot_be_used_is_refused)
{
	say(NM_MESSAGE_HELLO, nm_hello_pack());
	prepare_of("<profile name='t'><group/></profile>", NULL, S);
	ck_assert_int_eq(serve(), NM_SESSION_NOTHING);
	refused("[\"refuse\"");
}
END_TEST

START_TEST(more_flows_than_it_allows_are_refused)
{
	static const char many[] =
		"<profile name='t'><group nthreads='9'><transaction iterations='1'>"
		"<flowop type='connect' options='remotehost=peer protocol=tcp'/>"
		"</transaction></group></profile>";

	options.max_flows = 8;
	say(NM_MESSAGE_HELLO, nm_hello_pack());
	prepare_of(many, NULL, S);
	ck_assert_int_eq(serve(), NM_SESSION_NOTHING);
	refused("9 flows are asked for, and it allows 8");
}
END_TEST

START_TEST(a_run_longer_than_it_allows_is_refused)
{
	options.max_duration_ns = 29 * S / 1000;
	say(NM_MESSAGE_HELLO, nm_hello_pack());
	prepare_of(PROFILE, NULL, S);
	ck_assert_int_eq(serve(), NM_SESSION_NOTHING);
	refused("a run of at least 30.0 ms is asked for, and it allows 29.0 ms (--max-duration)");
}
END_TEST

START_TEST(cpus_that_are_not_there_break_the_session)
{
	say(NM_MESSAGE_HELLO, nm_hello_pack());
	prepare_of(PROFILE, "99999", S);
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	refused("CPU list \\\"99999\\\"");
}
END_TEST

START_TEST(phases_come_in_their_order)
{
	arm();
	begin(1);
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	refused("a wrong message \\\"begin\\\"");
}
END_TEST

START_TEST(who_follows_is_not_stopped)
{
	arm();
	begin(0);
	begin(1);
	say(NM_MESSAGE_STOP, nm_stop_pack(1, 0));
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	refused("a wrong message \\\"stop\\\"");
}
END_TEST

/* It has not told that it is done, as its passes are not. */
START_TEST(a_window_is_not_cut_before_the_phase_is_over)
{
	arm();
	begin(0);
	begin(1);
	say(NM_MESSAGE_CUT, nm_stop_pack(1, 0));
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	refused("a wrong message \\\"cut\\\"");
}
END_TEST

START_TEST(an_order_for_another_phase_is_wrong)
{
	uint64_t totals[] = {4};
	const struct nm_msg_totals follow = {.phase = 1, .totals = totals};

	arm();
	begin(0);
	say(NM_MESSAGE_FOLLOW, nm_follow_pack(&follow, 1));
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	refused("a wrong message \\\"follow\\\"");
}
END_TEST

START_TEST(a_master_that_gives_up_says_why)
{
	arm();
	say(NM_MESSAGE_ABORT, nm_refuse_pack("abort", "no more"));
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	ck_assert(strstr(log_text, "aborted: no more"));
}
END_TEST

START_TEST(a_master_that_goes_has_broken_its_session)
{
	arm();
	begin(0);
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	ck_assert(strstr(log_text, "closed the control connection"));
}
END_TEST

START_TEST(a_failure_is_told_once)
{
	fake_script.slave_fails = ECONNRESET;
	arm();
	begin(0);
	ck_assert_int_eq(serve(), NM_SESSION_BROKEN);
	refused("[\"failed\"");
	ck_assert_ptr_null(strstr(strstr(answers, "[\"failed\"") + 1, "[\"failed\""));
}
END_TEST

START_TEST(a_session_may_last_only_so_long)
{
	options.max_duration_ns = S / 20;
	arm();
	enum nm_session_end how = nm_session_serve(session_fd, &options, NULL);

	ck_assert_int_eq(how, NM_SESSION_BROKEN);
	ck_assert(strstr(log_text, "longer than this slave allows"));
}
END_TEST

START_TEST(a_silent_master_is_given_up)
{
	options.timeout_ns = S / 20;
	arm();
	ck_assert_int_eq(nm_session_serve(session_fd, &options, NULL), NM_SESSION_BROKEN);
	ck_assert(strstr(log_text, "silent too long"));
}
END_TEST

/* --- the daemon, in a process of its own: it forks, and no thread of ours may be busy then --- */

enum { ENDED_BY_ITSELF, ENDED_A_SESSION, ENDED_BADLY };

static pid_t daemon_pid;
static unsigned daemon_port;
static int stop_fds[2], port_fds[2];
static struct nm_diags daemon_diags;

static void on_listening(void *arg, const char *address, uint16_t port)
{
	(void)arg;
	(void)address;
	ck_assert_int_eq(write(port_fds[1], &port, sizeof port), sizeof port);
}

static void start_daemon(void)
{
	ck_assert_int_eq(pipe(stop_fds), 0);
	ck_assert_int_eq(pipe(port_fds), 0);
	nm_slave_options_default(&options);
	options.port = 0;
	options.bind = "127.0.0.1";
	options.log = on_log;
	options.listening = on_listening;
	options.interrupt_fd = stop_fds[0];
	log_text[0] = '\0';
	daemon_diags = (struct nm_diags){.count = 0};
	fake_script = (struct fake_script){.works = true, .passes = 6};
}

static void fork_daemon(void)
{
	uint16_t port;

	daemon_pid = fork();
	ck_assert_int_ge(daemon_pid, 0);
	if (daemon_pid == 0) {
		int error = nm_slave_serve(&options, &daemon_diags);

		exit(error					    ? ENDED_BADLY
		     : strstr(log_text, "ends 1 session under way") ? ENDED_A_SESSION
								    : ENDED_BY_ITSELF);
	}
	ck_assert_int_eq(read(port_fds[0], &port, sizeof port), sizeof port);
	daemon_port = port;
}

/* How the daemon has ended, which it does after `stop` or by itself. */
static int wait_for_daemon(bool stop)
{
	int status;

	if (stop)
		ck_assert_int_eq(write(stop_fds[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(daemon_pid, &status, 0), daemon_pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void end_daemon(void)
{
	nm_diags_fini(&daemon_diags);
	for (int i = 0; i < 2; i++) {
		(void)close(stop_fds[i]);
		(void)close(port_fds[i]);
	}
}

/* A run with the daemon's slave. */
static enum nm_run_status run_with_daemon(void)
{
	char text[sizeof PROFILE + 32];
	const char *name = strstr(PROFILE, "peer");
	struct nm_diags diags = {.count = 0};
	struct nm_run_options run;
	struct nm_result *result;

	(void)snprintf(text, sizeof text, "%.*s127.0.0.1%s", (int)(name - PROFILE), PROFILE,
		       name + 4);
	struct nm_node *root = nm_profile_parse("t.xml", text, strlen(text), &diags);
	struct nm_plan *plan = nm_plan_compile(root, "t.xml", &diags);
	const struct nm_job job = {
		.text = text, .text_length = strlen(text), .root = root, .plan = plan};

	ck_assert_ptr_nonnull(plan);
	nm_run_options_default(&run);
	run.in_process = true;
	run.port = (uint16_t)daemon_port;
	enum nm_run_status status = nm_run(&job, &run, &result, &diags);

	result = nm_result_free(result);
	nm_plan_free(plan);
	nm_node_free(root);
	nm_diags_fini(&diags);
	return status;
}

START_TEST(a_daemon_serves_until_it_is_interrupted)
{
	fork_daemon();
	ck_assert_int_eq(run_with_daemon(), NM_RUN_COMPLETE);
	ck_assert_int_eq(run_with_daemon(), NM_RUN_COMPLETE);
	ck_assert_int_ne(wait_for_daemon(true), ENDED_BADLY);
}
END_TEST

START_TEST(a_daemon_ends_after_so_many_sessions)
{
	options.sessions = 1;
	fork_daemon();
	ck_assert_int_eq(run_with_daemon(), NM_RUN_COMPLETE);
	ck_assert_int_eq(wait_for_daemon(false), ENDED_BY_ITSELF);
}
END_TEST

START_TEST(sessions_under_way_end_with_the_daemon)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	fork_daemon();
	at.sin_port = htons((uint16_t)daemon_port);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	ck_assert_int_eq(nm_peer_init(&master, fd, NM_SIDE_SLAVE, NULL, 10 * S, nm_clock_ns()), 0);
	say(NM_MESSAGE_HELLO, nm_hello_pack());
	/* Once it answers, it is there. */
	while (recv(fd, answers, 1, 0) < 1)
		(void)usleep(1000);
	ck_assert_int_eq(wait_for_daemon(true), ENDED_A_SESSION);
	nm_peer_fini(&master);
}
END_TEST

START_TEST(a_port_in_use_is_told)
{
	struct sockaddr_in at;
	int fd = listen_here(&at);

	options.port = ntohs(at.sin_port);
	ck_assert_int_eq(nm_slave_serve(&options, &daemon_diags), -EADDRINUSE);
	ck_assert_uint_eq(daemon_diags.n_errors, 1);
	(void)close(fd);
}
END_TEST

START_TEST(an_address_that_is_none_is_told)
{
	options.bind = "999.1.1.1";
	ck_assert_int_eq(nm_slave_serve(&options, &daemon_diags), -EADDRNOTAVAIL);
	ck_assert_uint_eq(daemon_diags.n_errors, 1);
}
END_TEST

START_TEST(a_cid_that_is_none_is_told)
{
	options.control = 1;
	ck_assert_int_lt(nm_slave_serve(&options, &daemon_diags), 0);
	ck_assert_uint_eq(daemon_diags.n_errors, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slave");
	TCase *session = tcase_create("session"), *daemon = tcase_create("daemon");

	tcase_add_checked_fixture(session, start, end);
	tcase_add_loop_test(session, a_whole_session_is_served, 0, 2);
	tcase_add_test(session, what_speaks_another_language_is_no_master);
	tcase_add_test(session, a_master_that_only_connects_is_nothing);
	tcase_add_test(session, another_version_is_refused);
	tcase_add_test(session, a_profile_that_cannot_be_used_is_refused);
	tcase_add_test(session, more_flows_than_it_allows_are_refused);
	tcase_add_test(session, a_run_longer_than_it_allows_is_refused);
	tcase_add_test(session, cpus_that_are_not_there_break_the_session);
	tcase_add_test(session, phases_come_in_their_order);
	tcase_add_test(session, who_follows_is_not_stopped);
	tcase_add_test(session, a_window_is_not_cut_before_the_phase_is_over);
	tcase_add_test(session, an_order_for_another_phase_is_wrong);
	tcase_add_test(session, a_master_that_gives_up_says_why);
	tcase_add_test(session, a_master_that_goes_has_broken_its_session);
	tcase_add_test(session, a_failure_is_told_once);
	tcase_add_test(session, a_session_may_last_only_so_long);
	tcase_add_test(session, a_silent_master_is_given_up);
	tcase_add_checked_fixture(daemon, start_daemon, end_daemon);
	tcase_add_test(daemon, a_daemon_serves_until_it_is_interrupted);
	tcase_add_test(daemon, a_daemon_ends_after_so_many_sessions);
	tcase_add_test(daemon, sessions_under_way_end_with_the_daemon);
	tcase_add_test(daemon, a_port_in_use_is_told);
	tcase_add_test(daemon, an_address_that_is_none_is_told);
	tcase_add_test(daemon, a_cid_that_is_none_is_told);
	suite_add_tcase(suite, session);
	suite_add_tcase(suite, daemon);
	return run_suite(suite);
}
