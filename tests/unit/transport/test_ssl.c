/* SPDX-License-Identifier: Apache-2.0 */
/* Connections over ssl, both ends of which are driven by hand, as flows drive them. */
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "base/opt.h"
#include "transport/transport.h"

#define MESSAGE 100
#define MANY	50
#define LARGE	1000000

struct end {
	struct nm_conn conn;
	void *opts, *started;
};

static const struct nm_transport *ssl;
static struct end client, server;
static int listen_fd;
static char tx[LARGE], rx[LARGE];

static void take_options(struct end *end, const char *const *options)
{
	struct nm_why wrong = {.option = NULL};
	char why[256];

	end->opts = calloc(1, ssl->opts_size);
	ck_assert_ptr_nonnull(end->opts);
	for (; *options; options += 2)
		ck_assert_int_eq(nm_opt_set(nm_opt_find(ssl->opts, options[0]), end->opts,
					    options[1], why, sizeof why),
				 0);
	ck_assert_msg(ssl->checks->prepare(end->opts, &wrong) == 0, "%s", wrong.text);
}

static void begin(struct end *end, const char *const *options, bool accepting)
{
	const struct nm_start how = {.accepting = accepting, .peer_name = "local"};
	char why[256] = "";

	memset(end, 0, sizeof *end);
	take_options(end, options);
	ck_assert_msg(ssl->shared->start(end->opts, &how, &end->started, why, sizeof why) == 0,
		      "%s", why);
}

/* Goes on with the handshake; true once it is over. */
static bool established(struct end *end)
{
	int r = ssl->established(&end->conn);

	ck_assert_msg(r == 0 || r == -EAGAIN || r == -EINPROGRESS, "%s", strerror(-r));
	return r == 0;
}

static void wait_input(const struct end *end)
{
	struct pollfd wait = {.fd = end->conn.fd, .events = POLLIN};

	ck_assert_int_eq(poll(&wait, 1, 5000), 1);
}

static void open_pair(const char *text)
{
	struct nm_addr here = {.len = sizeof(struct sockaddr_in)}, to;

	((struct sockaddr_in *)(void *)&here.sa)->sin_family = AF_INET;
	((struct sockaddr_in *)(void *)&here.sa)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(ssl->endpoint(&here, text, &to), 0);
	client.conn = (struct nm_conn){.fd = -1, .state = client.started};
	server.conn = (struct nm_conn){.fd = -1, .state = server.started};
	ck_assert_int_eq(ssl->connect(&client.conn, client.opts, &to), -EINPROGRESS);
	struct pollfd wait = {.fd = listen_fd, .events = POLLIN};
	ck_assert_int_eq(poll(&wait, 1, 5000), 1);
	ck_assert_int_eq(ssl->accept(&server.conn, listen_fd, server.opts, NULL), -EINPROGRESS);
	bool c = false, s = false;
	for (int turns = 0; !c || !s; turns++) {
		ck_assert_int_lt(turns, 1000);
		c = c || established(&client);
		s = s || established(&server);
		(void)usleep(100);
	}
}

static void open_both(const char *const *options)
{
	struct nm_addr here = {.len = sizeof(struct sockaddr_in)};
	static char text[NM_ENDPOINT_TEXT];

	((struct sockaddr_in *)(void *)&here.sa)->sin_family = AF_INET;
	((struct sockaddr_in *)(void *)&here.sa)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ssl = nm_transport_find("ssl");
	begin(&client, options, false);
	begin(&server, options, true);
	*text = '\0';
	ck_assert_int_eq(ssl->listen(server.opts, &here, NM_LISTEN_FIRST, 16, text, &listen_fd), 0);
	open_pair(text);
}

static void close_both(void)
{
	if (client.conn.flags & NM_CONN_OPEN)
		ssl->close(&client.conn, false);
	if (server.conn.flags & NM_CONN_OPEN)
		ssl->close(&server.conn, false);
	(void)close(listen_fd);
	ssl->shared->stop(client.started);
	ssl->shared->stop(server.started);
	nm_opts_fini(ssl->opts, client.opts);
	nm_opts_fini(ssl->opts, server.opts);
	free(client.opts);
	free(server.opts);
}

static const char *const none[] = {NULL};

START_TEST(a_receive_gathers_all_records)
{
	const char *const options[] = {"nodelay", "yes", NULL};

	open_both(options);
	for (int i = 0; i < MANY; i++) {
		memset(tx, 'a' + i % 26, MESSAGE);
		ck_assert_int_eq(ssl->send(&client.conn, NULL, tx, MESSAGE), MESSAGE);
	}
	wait_input(&server);
	(void)usleep(20000);
	/* The engine takes one that is short as a sign that nothing is left. */
	ck_assert_int_eq(ssl->recv(&server.conn, rx, MESSAGE * MANY + 1), MESSAGE * MANY);
	for (int i = 0; i < MESSAGE * MANY; i++)
		ck_assert_int_eq(rx[i], 'a' + i / MESSAGE % 26);
	ck_assert_int_eq(ssl->recv(&server.conn, rx, 1), -EAGAIN);
	close_both();
}
END_TEST

START_TEST(what_is_left_of_a_record_is_received_later)
{
	open_both(none);
	ck_assert_int_eq(ssl->send(&client.conn, NULL, tx, MESSAGE), MESSAGE);
	wait_input(&server);
	for (int i = 0; i < MESSAGE; i++)
		ck_assert_int_eq(ssl->recv(&server.conn, rx, 1), 1);
	ck_assert_int_eq(ssl->recv(&server.conn, rx, 1), -EAGAIN);
	close_both();
}
END_TEST

/* Records that were begun are finished by the next send, from a buffer that lies elsewhere. */
START_TEST(more_than_there_is_room_for)
{
	size_t sent = 0, received = 0, total = (size_t)LARGE * 20;
	bool full = false;

	open_both(none);
	for (size_t i = 0; i < LARGE; i++)
		tx[i] = (char)(i % 251);
	while (received < total) {
		while (sent < total) {
			size_t at = sent % LARGE;
			ssize_t n = ssl->send(&client.conn, NULL, tx + at, LARGE - at);

			full |= n < (ssize_t)(LARGE - at);
			if (n == -EAGAIN)
				break;
			ck_assert_int_gt(n, 0);
			sent += (size_t)n;
		}
		ssize_t n = ssl->recv(&server.conn, rx, LARGE);

		ck_assert(n > 0 || n == -EAGAIN);
		for (ssize_t i = 0; i < n; i += 997)
			ck_assert_int_eq(rx[i], (char)((received + (size_t)i) % LARGE % 251));
		received += n > 0 ? (size_t)n : 0;
	}
	ck_assert(full);
	ck_assert_uint_eq(received, total);
	close_both();
}
END_TEST

START_TEST(the_end_comes_after_the_data)
{
	open_both(none);
	ck_assert_int_eq(ssl->send(&client.conn, NULL, tx, MESSAGE), MESSAGE);
	ssl->close(&client.conn, false);
	ck_assert_int_eq(client.conn.fd, -1);
	ck_assert_ptr_null(client.conn.state);
	wait_input(&server);
	(void)usleep(20000);
	ck_assert_int_eq(ssl->recv(&server.conn, rx, LARGE), MESSAGE);
	ck_assert(server.conn.flags & NM_CONN_HUP);
	ck_assert_int_eq(ssl->recv(&server.conn, rx, LARGE), 0);
	close_both();
}
END_TEST

START_TEST(what_was_agreed_upon_is_told)
{
	const char *const options[] = {"method", "tlsv1.2", "cipher", "ECDHE-RSA-AES128-GCM-SHA256",
				       NULL};
	struct nm_conn_info info;

	open_both(options);
	ck_assert_int_eq(ssl->info(&client.conn, &info), 0);
	ck_assert_uint_eq(info.tls.connections, 1);
	ck_assert_str_eq(info.tls.version, "TLSv1.2");
	ck_assert_str_eq(info.tls.cipher, "ECDHE-RSA-AES128-GCM-SHA256");
	ck_assert_uint_eq(info.tls.resumed, 0);
	ck_assert_uint_gt(info.snd_mss, 0);
	close_both();
}
END_TEST

START_TEST(a_certificate_that_is_not_trusted_is_named)
{
	const char *const options[] = {"verify", "yes", NULL};
	struct nm_addr here = {.len = sizeof(struct sockaddr_in)}, to;
	char text[NM_ENDPOINT_TEXT] = "", why[256] = "";
	int r = -EAGAIN;

	((struct sockaddr_in *)(void *)&here.sa)->sin_family = AF_INET;
	((struct sockaddr_in *)(void *)&here.sa)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ssl = nm_transport_find("tls");
	begin(&client, options, false);
	begin(&server, options, true);
	ck_assert_int_eq(ssl->listen(server.opts, &here, NM_LISTEN_FIRST, 16, text, &listen_fd), 0);
	ck_assert_int_eq(ssl->endpoint(&here, text, &to), 0);
	client.conn = (struct nm_conn){.fd = -1, .state = client.started};
	server.conn = (struct nm_conn){.fd = -1, .state = server.started};
	ck_assert_int_eq(ssl->connect(&client.conn, client.opts, &to), -EINPROGRESS);
	wait_input(&(struct end){.conn.fd = listen_fd});
	ck_assert_int_eq(ssl->accept(&server.conn, listen_fd, server.opts, NULL), -EINPROGRESS);
	for (int turns = 0; turns < 1000 && (r == -EAGAIN || r == -EINPROGRESS); turns++) {
		r = ssl->established(&client.conn);
		(void)ssl->established(&server.conn);
		(void)usleep(100);
	}
	ck_assert_int_eq(r, -EPROTO);
	ck_assert(ssl->why(&client.conn, why, sizeof why));
	ck_assert_ptr_nonnull(strstr(why, "self-signed"));
	/* The other end is told, and does not think that the cause is its own. */
	r = ssl->established(&server.conn);
	for (int turns = 0; turns < 1000 && r == -EAGAIN; turns++)
		r = ssl->established(&server.conn);
	ck_assert(ssl->why(&server.conn, why, sizeof why));
	ck_assert_ptr_nonnull(strstr(why, "has refused"));
	close_both();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ssl");
	TCase *tcase = tcase_create("connections");

	tcase_add_test(tcase, a_receive_gathers_all_records);
	tcase_add_test(tcase, what_is_left_of_a_record_is_received_later);
	tcase_add_test(tcase, more_than_there_is_room_for);
	tcase_add_test(tcase, the_end_comes_after_the_data);
	tcase_add_test(tcase, what_was_agreed_upon_is_told);
	tcase_add_test(tcase, a_certificate_that_is_not_trusted_is_named);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
