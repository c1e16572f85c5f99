/* SPDX-License-Identifier: Apache-2.0 */
/* How sockets are made before they are connected, and how they end. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../suite.h"
#include "transport/inet.h"
#include "transport/transport.h"

static const struct nm_transport *tcp;
static void *opts;
static int listen_fd;
static struct nm_addr at;

static void setup(void)
{
	struct sockaddr_in *in = (struct sockaddr_in *)(void *)&at.sa;

	tcp = nm_transport_find("tcp");
	opts = calloc(1, tcp->opts_size);
	ck_assert_ptr_nonnull(opts);
	ck_assert_int_eq(nm_opts_defaults(tcp->opts, opts), 0);
	*in = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	at.len = sizeof *in;
	listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(listen_fd, 0);
	ck_assert_int_eq(bind(listen_fd, (const struct sockaddr *)&at.sa, at.len), 0);
	ck_assert_int_eq(listen(listen_fd, 4), 0);
	ck_assert_int_eq(getsockname(listen_fd, (struct sockaddr *)&at.sa, &at.len), 0);
}

static void teardown(void)
{
	close(listen_fd);
	nm_opts_fini(tcp->opts, opts);
	free(opts);
}

/* Opens conn, which is closed; the other end of it. */
static int open_to(struct nm_conn *conn)
{
	int r = tcp->connect(conn, opts, &at);

	ck_assert(r == 0 || r == -EINPROGRESS);
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* What the other end finds: 0, or ECONNRESET. */
static int end_of(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, 0);
	int error = n < 0 ? errno : 0;

	ck_assert_int_le(n, 0);
	close(fd);
	return error;
}

START_TEST(a_close_is_what_it_is_said_to_be_when_it_is_made)
{
	bool before = _i & 1, reset = _i & 2;
	struct nm_conn conn = {.fd = -1};
	int fd = open_to(&conn);

	if (before)
		nm_conn_resets(&conn);
	tcp->close(&conn, reset);
	ck_assert_int_eq(end_of(fd), reset ? ECONNRESET : 0);
	ck_assert_int_eq(conn.fd, -1);

	/* It is forgotten with the connection. */
	fd = open_to(&conn);
	tcp->close(&conn, false);
	ck_assert_int_eq(end_of(fd), 0);
}
END_TEST

START_TEST(a_close_that_lingers_does_not_reset)
{
	bool reset = _i;
	struct nm_conn conn = {.fd = -1};
	int fd = open_to(&conn);

	nm_conn_resets(&conn);
	nm_conn_linger(&conn, UINT64_C(1000000000));
	tcp->close(&conn, reset);
	ck_assert_int_eq(end_of(fd), reset ? ECONNRESET : 0);
}
END_TEST

static void wait_a_little(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	(void)nanosleep(&ms, NULL);
}

START_TEST(a_connection_that_was_asked_and_is_still_there_is_found)
{
	struct nm_conn conn = {.fd = -1};
	int fd = open_to(&conn);

	ck_assert(!nm_conn_has_peer(&conn));
	while (!nm_conn_ask_end(&conn, true)) /* it has to be silent for a while */
		wait_a_little();
	ck_assert_uint_ne(conn.traits & NM_CONN_FINISHED, 0);
	while (!nm_conn_has_peer(&conn)) /* the other end's kernel takes its time */
		wait_a_little();
	const struct linger at_once = {.l_onoff = 1};

	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
	close(fd);
	while (nm_conn_has_peer(&conn))
		wait_a_little();
	tcp->close(&conn, false);
}
END_TEST

START_TEST(a_socket_made_before_is_taken_once)
{
	int made = tcp->socket->make(opts, &at);
	struct nm_conn conn = {.fd = made};

	ck_assert_int_ge(made, 0);
	int fd = open_to(&conn);

	ck_assert_int_eq(conn.fd, made);
	tcp->close(&conn, true);
	close(fd);
	ck_assert_int_lt(fcntl(made, F_GETFD), 0);
	ck_assert_int_eq(errno, EBADF);
}
END_TEST

START_TEST(a_socket_that_cannot_be_connected_is_not_kept)
{
	struct nm_conn conn = {.fd = tcp->socket->make(opts, &at)};
	struct nm_addr nowhere = at;
	int made = conn.fd;

	((struct sockaddr_in *)(void *)&nowhere.sa)->sin_addr.s_addr = htonl(INADDR_BROADCAST);
	ck_assert_int_lt(tcp->connect(&conn, opts, &nowhere), 0);
	ck_assert_int_eq(conn.fd, -1);
	ck_assert_int_lt(fcntl(made, F_GETFD), 0);
}
END_TEST

START_TEST(a_connection_that_is_handed_over_ends_there)
{
	struct nm_conn conn = {.fd = -1}, spent = {.fd = -1};
	int fd = open_to(&conn), was = conn.fd;

	nm_conn_move(&conn, &spent);
	ck_assert_int_eq(conn.fd, -1);
	ck_assert_uint_eq(conn.flags, 0);
	ck_assert_int_eq(spent.fd, was);
	int other = open_to(&conn);

	tcp->close(&spent, false);
	ck_assert_int_eq(end_of(fd), 0);
	ck_assert_int_eq(send(other, "x", 1, MSG_NOSIGNAL), 1);
	tcp->close(&conn, true);
	ck_assert_int_eq(end_of(other), ECONNRESET);
}
END_TEST

static int set_sndbuf(const char *value)
{
	char why[128];

	return nm_opt_set(nm_opt_find(tcp->opts, "sndbuf"), opts, value, why, sizeof why);
}

/* The kernel cuts without an error; how much it gives is the machine's matter. */
START_TEST(buffers_that_are_cut_are_found)
{
	struct nm_buffers cut = {.send_asked = 0};
	const struct nm_start how = {.cut = &cut, .peer = &at, .local = &at};
	char why[128];
	void *started;

	ck_assert_int_eq(set_sndbuf("4k"), 0);
	ck_assert_int_eq(tcp->shared->start(opts, &how, &started, why, sizeof why), 0);
	ck_assert_uint_eq(cut.send_asked, 0);
	ck_assert_int_eq(set_sndbuf("1g"), 0);
	ck_assert_int_eq(tcp->shared->start(opts, &how, &started, why, sizeof why), 0);
	ck_assert_uint_eq(cut.send_asked, 1 << 30);
	ck_assert_uint_lt(cut.send_given, 1 << 30);
	ck_assert_uint_eq(cut.receive_asked, 0);
}
END_TEST

/* What TCP_INFO tells of a connection, and how many bytes the path may drop for their size. */
static const struct {
	const char *what;
	struct tcp_info info;
	uint64_t queued, bytes;
} stuck[] = {
	{"nothing is acknowledged", {.tcpi_retransmits = 3, .tcpi_unacked = 1}, 8192, 8192},
	{"two timeouts", {.tcpi_retransmits = 2, .tcpi_unacked = 1}, 8192, 0},
	{"a handshake has passed",
	 {.tcpi_retransmits = 5, .tcpi_unacked = 1, .tcpi_bytes_acked = 41, .tcpi_delivered = 2},
	 8192,
	 8192},
	{"pings have passed",
	 {.tcpi_retransmits = 5,
	  .tcpi_unacked = 1,
	  .tcpi_bytes_acked = 64000000,
	  .tcpi_delivered = 1000000},
	 8192,
	 8192},
	{"a stream that was cut",
	 {.tcpi_retransmits = 9,
	  .tcpi_unacked = 10,
	  .tcpi_bytes_acked = 8900000,
	  .tcpi_delivered = 1000},
	 60000,
	 0},
	{"an older kernel",
	 {.tcpi_retransmits = 9, .tcpi_unacked = 10, .tcpi_bytes_acked = 8900000},
	 60000,
	 0},
	{"not all is sent",
	 {.tcpi_retransmits = 3, .tcpi_unacked = 10, .tcpi_notsent_bytes = 1000000},
	 1060000,
	 60000},
	{"other paths have some", {.tcpi_retransmits = 3, .tcpi_unacked = 2}, 1000000, 2 * 8948},
};

START_TEST(bytes_that_the_path_may_drop_are_found)
{
	struct tcp_info info = stuck[_i].info;

	info.tcpi_snd_mss = 8948;
	ck_assert_msg(nm_inet_flight(&info, stuck[_i].queued).unacked_bytes == stuck[_i].bytes,
		      "%s", stuck[_i].what);
}
END_TEST

/* What TCP_INFO tells of a connection, and in how long the kernel sends again what was lost. */
static const struct {
	const char *what;
	struct tcp_info info;
	uint64_t queued;
	uint32_t again_ms;
} backed_off[] = {
	{"it has sent for the last time 6 s ago, and waits for 26 s",
	 {.tcpi_rto = 26112000,
	  .tcpi_backoff = 7,
	  .tcpi_retransmits = 7,
	  .tcpi_last_data_sent = 6112,
	  .tcpi_unacked = 10,
	  .tcpi_bytes_acked = 8900000,
	  .tcpi_delivered = 1000},
	 60000,
	 20000},
	{"small ones have passed, and this one is small",
	 {.tcpi_rto = 1600000,
	  .tcpi_retransmits = 3,
	  .tcpi_last_data_sent = 600,
	  .tcpi_unacked = 1,
	  .tcpi_bytes_acked = 41,
	  .tcpi_delivered = 41},
	 1,
	 1000},
	{"its timer is late",
	 {.tcpi_rto = 1600000,
	  .tcpi_retransmits = 3,
	  .tcpi_last_data_sent = 1700,
	  .tcpi_unacked = 1,
	  .tcpi_bytes_acked = 41,
	  .tcpi_delivered = 41},
	 1,
	 1},
	{"all is acknowledged, and the other end takes no more",
	 {.tcpi_rto = 1600000, .tcpi_notsent_bytes = 60000, .tcpi_bytes_acked = 8900000},
	 60000,
	 0},
	{"nothing that large was ever acknowledged",
	 {.tcpi_rto = 1600000, .tcpi_retransmits = 3, .tcpi_unacked = 1},
	 8192,
	 0},
};

START_TEST(the_wait_until_the_kernel_sends_again_is_found)
{
	struct tcp_info info = backed_off[_i].info;

	info.tcpi_snd_mss = 8948;
	ck_assert_msg(nm_inet_flight(&info, backed_off[_i].queued).again_ms ==
			      backed_off[_i].again_ms,
		      "%s", backed_off[_i].what);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("socket");
	TCase *tc = tcase_create("socket");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_close_is_what_it_is_said_to_be_when_it_is_made, 0, 4);
	tcase_add_loop_test(tc, a_close_that_lingers_does_not_reset, 0, 2);
	tcase_add_test(tc, a_connection_that_was_asked_and_is_still_there_is_found);
	tcase_add_test(tc, a_socket_made_before_is_taken_once);
	tcase_add_test(tc, a_socket_that_cannot_be_connected_is_not_kept);
	tcase_add_test(tc, buffers_that_are_cut_are_found);
	tcase_add_loop_test(tc, bytes_that_the_path_may_drop_are_found, 0,
			    (int)(sizeof stuck / sizeof *stuck));
	tcase_add_loop_test(tc, the_wait_until_the_kernel_sends_again_is_found, 0,
			    sizeof backed_off / sizeof *backed_off);
	tcase_add_test(tc, a_connection_that_is_handed_over_ends_there);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
