/* SPDX-License-Identifier: Apache-2.0 */
/* One suite over every transport there is: what flowops and the engine rely on, whatever moves the
 * bytes. Both ends are driven by hand, in this process, over the loopback. What this kernel may
 * lack is made of TCP: see fake_sockets.c. */
#include "ends.h"
#include "transport/peers.h"

/* Sends so many bytes while the other end takes them. */
static void move(struct end *from, struct end *into, uint64_t size, size_t piece)
{
	uint64_t got = nm_counter_read(&into->count.bytes_received) + size;
	ssize_t n;

	while (size) {
		size_t want = size < piece ? (size_t)size : piece;

		if (nm_conn_send(&from->io, &from->conn, NULL, tx, want, &n) == NM_IO_ERROR)
			ck_abort_msg("%s: %s", t->name, strerror((int)-n));
		size -= (uint64_t)n;
		while (!(from->conn.flags & NM_CONN_OUT) || t->datagram) {
			uint64_t left = got - size - nm_counter_read(&into->count.bytes_received);

			receive_all(into, left);
			if (t->datagram)
				break;
			wake(from, POLLOUT);
		}
	}
	receive_all(into, got - nm_counter_read(&into->count.bytes_received));
}

/* --- the descriptor --- */

START_TEST(a_descriptor_has_what_is_required)
{
	t = nm_transports[_i];
	ck_assert(t->name && t->help && t->opts && t->connect && t->established);
	ck_assert(t->accept || t->datagram);
	ck_assert(t->close && (has(NM_TRANSPORT_NO_PEER) || (t->listen && t->endpoint)));
	ck_assert(!t->send == !t->recv);
	ck_assert(!t->shared || t->shared->start);
	ck_assert(!t->preamble || t->preamble->attach);
	ck_assert(!t->datagram || (t->preamble && t->datagram->accept && t->datagram->port_of &&
				   t->datagram->retarget));
	ck_assert(!t->events || (t->events->fd && t->events->next && t->events->expired));
	ck_assert_ptr_eq(nm_transport_find(t->name), t);
	ck_assert(!t->alias || nm_transport_find(t->alias) == t);
	ck_assert_ptr_null(nm_transport_find("carrier pigeons"));
}
END_TEST

START_TEST(no_options_mean_nothing_special)
{
	struct nm_why said = {.option = NULL};
	char why[256] = "";

	t = nm_transports[_i];
	const uint32_t port = t->caps & NM_TRANSPORT_ONE_HOST ? 0 : 80;
	void *opts = calloc(1, t->opts_size);

	ck_assert_int_eq(nm_opts_defaults(t->opts, opts), 0);
	ck_assert_int_eq(nm_transport_prepare(t, opts, &said), 0);
	ck_assert_str_eq(said.text, "");
	ck_assert_int_eq(nm_transport_check_group(t, opts, 1000, port, &said), 0);
	ck_assert_int_eq(nm_transport_check_host(t, "local", why, sizeof why), 0);
	ck_assert_uint_eq(nm_transport_ports(t, opts), 1);
	ck_assert_uint_eq(nm_transport_busy_poll_ns(t, opts), 0);
	ck_assert_ptr_eq(nm_transport_accepting(t, opts), t);
	nm_opts_fini(t->opts, opts);
	free(opts);
}
END_TEST

START_TEST(what_is_missing_is_said)
{
	char why[256] = "";

	t = nm_transports[_i];
	int r = nm_transport_check_available(t, "local", why, sizeof why);

	ck_assert_msg(r == 0 || (r < 0 && *why), "%s: %d", t->name, r);
	ck_assert(r == 0 || !opens_here());
}
END_TEST

START_TEST(a_text_that_is_no_endpoint_is_refused)
{
	static const char *const wrong[] = {
		"",
		"no such place at all, and far too long for any address, which a peer might send "
		"nevertheless to see what becomes of it; and some more of it"};
	struct nm_addr none;

	t = nm_transports[_i];
	for (size_t i = 0; t->endpoint && i < sizeof wrong / sizeof *wrong; i++)
		ck_assert_int_eq(t->endpoint(&here, wrong[i], &none), -EINVAL);
}
END_TEST

/* --- opening --- */

START_TEST(a_listener_can_be_one_of_several_or_says_so)
{
	char other[NM_ENDPOINT_TEXT];
	int fd = -1;

	begin(nm_transports[_i]);
	if (t->listen) {
		memcpy(other, text, sizeof other);
		int r = t->listen(server.opts, &here, NM_LISTEN_SHARED, 8, other, &fd);

		ck_assert_msg(r == 0 || r == -EOPNOTSUPP, "%s: %s", t->name, strerror(-r));
		ck_assert_str_eq(other, text);
		if (r == 0)
			(void)close(fd);
		strcpy(other, "/dev/null/x"); /* neither a port nor a path */
		ck_assert_int_lt(t->listen(server.opts, &here, NM_LISTEN_FIXED, 8, other, &fd), 0);
	}
	end();
}
END_TEST

START_TEST(without_a_connection_there_is_none_to_accept)
{
	begin(nm_transports[_i]);
	if (is_stream()) {
		ck_assert_int_eq(t->accept(&server.conn, listen_fd, server.opts, NULL), -EAGAIN);
		ck_assert_int_eq(server.conn.fd, -1);
	}
	end();
}
END_TEST

START_TEST(where_nobody_listens_nothing_opens)
{
	begin(nm_transports[_i]);
	if (is_stream()) {
		(void)close(listen_fd);
		listen_fd = -1;
		int r = t->connect(&client.conn, client.opts, &to);

		for (int turns = 0; r == -EINPROGRESS || r == -EAGAIN; turns++) {
			ck_assert_int_lt(turns, PATIENCE);
			wait_for(client.conn.fd, POLLOUT);
			r = t->established(&client.conn);
		}
		ck_assert_int_eq(r, -ECONNREFUSED);
		if (client.conn.flags & NM_CONN_OPEN)
			t->close(&client.conn, false);
		ck_assert_int_eq(client.conn.fd, -1);
	}
	end();
}
END_TEST

START_TEST(strangers_are_not_let_in)
{
	struct nm_peers other = {.own = NULL};

	begin(nm_transports[_i]);
	other.control = here;
	((struct sockaddr_in *)(void *)&other.control.sa)->sin_addr.s_addr =
		htonl(INADDR_LOOPBACK + 7);
	if (is_stream() && !has(NM_TRANSPORT_ONE_HOST) && !has(NM_TRANSPORT_VSOCK)) {
		int r = t->connect(&client.conn, client.opts, &to);

		ck_assert(r == 0 || r == -EINPROGRESS);
		wait_for(listen_fd, POLLIN);
		ck_assert_int_eq(t->accept(&server.conn, listen_fd, server.opts, &other),
				 -ECONNABORTED);
		ck_assert_int_eq(server.conn.fd, -1);
	}
	end();
}
END_TEST

/* Whatever has begun, a close ends it, and leaves a connection that can be opened. */
START_TEST(a_handshake_can_be_given_up)
{
	begin(nm_transports[_i]);
	if (is_stream()) {
		int r = t->connect(&client.conn, client.opts, &to);

		ck_assert(r == 0 || r == -EINPROGRESS);
		t->close(&client.conn, true);
		ck_assert_int_eq(client.conn.fd, -1);
		ck_assert_uint_eq(client.conn.flags, 0);
		wait_for(listen_fd, POLLIN);
		r = t->accept(&server.conn, listen_fd, server.opts, NULL);
		for (int turns = 0; r == -EINPROGRESS || r == -EAGAIN; turns++) {
			if (!is_readable(server.conn.fd, PATIENCE) || turns == 1000)
				break;
			r = t->established(&server.conn);
		}
		if (server.conn.flags & NM_CONN_OPEN)
			t->close(&server.conn, false);
		ck_assert_int_eq(server.conn.fd, -1);
		client.conn.state = client.started;
		server.conn.state = server.started;
		while (is_readable(listen_fd, 0) &&
		       t->accept(&server.conn, listen_fd, server.opts, NULL) != -EAGAIN) {
			t->close(&server.conn, true);
			server.conn.state = server.started;
		}
		open_pair();
		move(&client, &server, 100, 100);
	}
	end();
}
END_TEST

START_TEST(what_is_closed_can_be_opened_again)
{
	begin(nm_transports[_i]);
	for (int i = 0; opens_here() && i < 3; i++) {
		client.conn.state = client.started;
		server.conn.state = server.started;
		open_pair();
		move(&client, &server, 1000, 1000);
		t->close(&client.conn, false);
		t->close(&server.conn, false);
		ck_assert(client.conn.fd == -1 && server.conn.fd == -1);
		ck_assert(client.conn.flags == 0 && server.conn.flags == 0);
	}
	ck_assert_uint_eq(nm_counter_read(&server.count.bytes_received), opens_here() ? 3000 : 0);
	end();
}
END_TEST

/* As the rendezvous does it, which has taken the socket and read whose it is. */
START_TEST(a_socket_that_was_accepted_becomes_a_connection)
{
	begin(nm_transports[_i]);
	if (is_stream() && t->preamble) {
		static const char hello[32] = "here I am, and I am the first";
		char got[sizeof hello] = "";

		client.ready = server.ready = false;
		note(&client, t->connect(&client.conn, client.opts, &to));
		if (t->preamble->queue)
			t->preamble->queue(&client.conn, hello, sizeof hello);
		wait_for(listen_fd, POLLIN);
		int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		ck_assert_int_ge(fd, 0);
		for (int turns = 0; t->preamble->queue && !is_readable(fd, 1); turns++) {
			ck_assert_int_lt(turns, PATIENCE);
			(void)go_on(&client);
		}
		if (t->preamble->queue) {
			ck_assert_int_eq(recv(fd, got, sizeof got, MSG_WAITALL), sizeof got);
			ck_assert_mem_eq(got, hello, sizeof hello);
		}
		note(&server, t->preamble->attach(&server.conn, fd, server.opts));
		for (int turns = 0; !client.ready || !server.ready; turns++) {
			ck_assert_int_lt(turns, PATIENCE);
			if (!client.ready)
				(void)go_on(&client);
			if (!server.ready)
				(void)go_on(&server);
			(void)usleep(1000);
		}
		ck_assert(server.conn.traits & NM_CONN_ACCEPTED);
		move(&client, &server, 5000, 700);
		move(&server, &client, 5000, CHUNK);
	}
	end();
}
END_TEST

/* --- moving bytes --- */

START_TEST(what_is_sent_is_counted_once_at_each_end)
{
	uint64_t sum = 0;

	begin(nm_transports[_i]);
	if (opens_here()) {
		open_pair();
		for (size_t size = 1; size <= CHUNK; sum += size, size = size * 2 + 1)
			move(&client, &server, size, size);
		for (size_t piece = 1; piece <= 64; sum += 64, piece *= 2)
			move(&client, &server, 64, piece);
		move(&server, &client, 10, 10);
		ck_assert_uint_eq(nm_counter_read(&client.count.bytes_sent), sum);
		ck_assert_uint_eq(nm_counter_read(&server.count.bytes_received), sum);
		ck_assert_uint_eq(nm_counter_read(&server.count.bytes_sent), 10);
		ck_assert_uint_eq(nm_counter_read(&client.count.bytes_received), 10);
	}
	end();
}
END_TEST

START_TEST(an_empty_queue_is_known_to_be_empty)
{
	ssize_t n;

	begin(nm_transports[_i]);
	if (opens_here() && !has(NM_TRANSPORT_NO_PEER)) {
		open_pair();
		server.conn.flags |= NM_CONN_IN | NM_CONN_HUP;
		ck_assert_int_eq(nm_conn_recv(&server.io, &server.conn, 10, &n), NM_IO_AGAIN);
		ck_assert_int_eq(n, 0);
		ck_assert_uint_eq(server.conn.flags & (NM_CONN_IN | NM_CONN_HUP), 0);
		ck_assert_int_eq(nm_conn_send(&client.io, &client.conn, NULL, tx, 10, &n),
				 NM_IO_DONE);
		ck_assert_int_eq(n, 10);
		wake(&server, POLLIN);
		enum nm_io_status status = nm_conn_recv(&server.io, &server.conn, 11, &n);

		ck_assert_int_eq(n, 10);
		ck_assert_int_eq(status, has(NM_TRANSPORT_MESSAGES) ? NM_IO_DONE : NM_IO_SHORT);
		ck_assert_int_eq(!(server.conn.flags & NM_CONN_IN), !has(NM_TRANSPORT_MESSAGES));
	}
	end();
}
END_TEST

START_TEST(a_full_buffer_is_known_to_be_full)
{
	ssize_t n = 0;

	begin(nm_transports[_i]);
	if (is_stream()) {
		open_pair();
		uint64_t sent = 0;

		while (client.conn.flags & NM_CONN_OUT) {
			enum nm_io_status status =
				nm_conn_send(&client.io, &client.conn, NULL, tx, CHUNK, &n);

			ck_assert_int_le(status, NM_IO_AGAIN);
			sent += (uint64_t)n;
			ck_assert_uint_lt(sent, UINT64_C(1) << 30);
		}
		ck_assert_uint_eq(nm_counter_read(&client.count.bytes_sent), sent);
		ck_assert_int_eq(nm_conn_send(&client.io, &client.conn, NULL, tx, CHUNK, &n),
				 NM_IO_AGAIN);
		receive_all(&server, sent);
		wake(&client, POLLOUT);
		move(&client, &server, LARGE, CHUNK);
		ck_assert_uint_eq(nm_counter_read(&server.count.bytes_received), sent + LARGE);
	}
	end();
}
END_TEST

/* --- ends --- */

/* What is left of a stream: bytes, and then how it ends. */
static enum nm_io_status drain(struct end *end, uint64_t *ret_bytes)
{
	enum nm_io_status status;
	ssize_t n;

	for (*ret_bytes = 0;;) {
		if (!(end->conn.flags & (NM_CONN_IN | NM_CONN_HUP)))
			wake(end, POLLIN);
		status = nm_conn_recv(&end->io, &end->conn, CHUNK, &n);
		if (status >= NM_IO_EOF)
			return status;
		*ret_bytes += (uint64_t)n;
	}
}

START_TEST(all_that_was_sent_comes_before_the_end)
{
	uint64_t bytes;
	ssize_t n;

	begin(nm_transports[_i]);
	if (is_stream()) {
		open_pair();
		for (int i = 0; i < 5; i++)
			ck_assert_int_eq(nm_conn_send(&client.io, &client.conn, NULL, tx, 1000, &n),
					 NM_IO_DONE);
		t->close(&client.conn, false);
		ck_assert_int_eq(drain(&server, &bytes), NM_IO_EOF);
		ck_assert_uint_eq(bytes, 5000);
	}
	end();
}
END_TEST

START_TEST(one_direction_can_end_before_the_other)
{
	uint64_t bytes;

	begin(nm_transports[_i]);
	if (is_stream() && t->finish) {
		open_pair();
		move(&client, &server, 500, 500);
		t->finish(&client.conn);
		ck_assert(client.conn.traits & NM_CONN_FINISHED);
		ck_assert_int_eq(drain(&server, &bytes), NM_IO_EOF);
		ck_assert_uint_eq(bytes, 0);
		move(&server, &client, 700, 700);
		t->close(&server.conn, false);
		ck_assert_int_eq(drain(&client, &bytes), NM_IO_EOF);
	}
	end();
}
END_TEST

START_TEST(a_reset_ends_the_other_end)
{
	uint64_t bytes;
	char why[256];

	begin(nm_transports[_i]);
	if (is_stream()) {
		open_pair();
		move(&client, &server, 500, 500);
		t->close(&client.conn, true);
		ck_assert_int_eq(client.conn.fd, -1);
		ck_assert_int_ge(drain(&server, &bytes), NM_IO_EOF);
		ck_assert_uint_eq(bytes, 0);
		ck_assert(!t->why || !t->why(&server.conn, why, sizeof why) || *why);
		ssize_t n = 0;
		enum nm_io_status status = NM_IO_DONE;

		for (int i = 0; i < 100 && status <= NM_IO_AGAIN; i++)
			status = nm_conn_send(&server.io, &server.conn, NULL, tx, 100, &n);
		ck_assert_int_eq(status, NM_IO_ERROR);
	}
	end();
}
END_TEST

START_TEST(what_is_known_of_a_connection_can_be_asked)
{
	struct nm_conn_info info;
	char why[256];

	begin(nm_transports[_i]);
	if (opens_here()) {
		open_pair();
		move(&client, &server, 1000, 1000);
		memset(&info, 0xff, sizeof info);
		if (t->info && t->info(&client.conn, &info) == 0)
			ck_assert_uint_lt(info.srtt_us, 10000000);
		if (t->why)
			ck_assert(!t->why(&client.conn, why, sizeof why));
		if (!has(NM_TRANSPORT_NO_PEER)) {
			(void)nm_conn_is_acknowledged(&client.conn);
			nm_conn_linger(&client.conn, 1);
			nm_conn_resets(&client.conn);
		}
	}
	end();
}
END_TEST

/* --- options --- */

struct row {
	const char *transport;
	const char *options[24];
};

static const struct row rows[] = {
	{"tcp",
	 {"wndsz", "64k", "nodelay", "yes", "mss", "1000", "notsent_lowat", "16k", "user_timeout",
	  "5s", "keepalive", "2s", "quickack", "no", "localhost", "127.0.0.1"}},
	{"tcp",
	 {"sndbuf", "64k", "rcvbuf", "64k", "source_port", "42100", "source_ports", "8", "quickack",
	  "yes", "tos", "8", "ttl", "9", "reuseaddr", "yes"}},
	{"tcp", {"max_pacing_rate", "8g", "dscp", "10", "freebind", "yes", "listen_backlog", "7"}},
	{"tcp", {"tcp_fastopen", "yes", "dont_fragment", "yes", "num_ports", "1"}},
	{"mptcp", {"nodelay", "yes", "wndsz", "64k"}},
	{"ssl", {"method", "TLSv1.2", "nodelay", "yes"}},
	{"ssl", {"session_reuse", "yes"}},
	{"ssl", {"cipher", "TLS_AES_256_GCM_SHA384"}},
	{"ssl", {"ktls", "yes"}},
	{"unix", {"wndsz", "64k"}},
	{"vsock", {"wndsz", "64k"}},
	{"sctp",
	 {"nodelay", "yes", "wndsz", "64k", "sctp_in_streams", "3", "sctp_out_streams", "4",
	  "sctp_rto_min", "10", "sctp_rto_max", "100", "sctp_rto_initial", "50", "sctp_hb_interval",
	  "1000"}},
	{"sctp", {"localhost", "127.0.0.1", "sndbuf", "64k", "rcvbuf", "64k"}},
	{"udp", {"gso", "no", "gro", "no", "wndsz", "256k", "ttl", "5"}},
	{"udp", {"localhost", "127.0.0.1", "source_port", "42300"}},
};

START_TEST(options_do_not_change_what_arrives)
{
	begin_with(nm_transport_find(rows[_i].transport), rows[_i].options);
	for (int i = 0; i < 2; i++) {
		client.conn.state = client.started;
		server.conn.state = server.started;
		open_pair();
		move(&client, &server, 100000, 1000);
		move(&server, &client, 100000, 1000);
		t->close(&client.conn, i == 0);
		t->close(&server.conn, i == 0);
	}
	ck_assert_uint_eq(nm_counter_read(&server.count.bytes_received), 200000);
	ck_assert_uint_eq(nm_counter_read(&client.count.bytes_received), 200000);
	end();
}
END_TEST

static const struct {
	const char *transport, *name, *value;
	const char *why; /* what is said, in part */
} wrong[] = {
	{"tcp", "encaps", "9", "encaps"},
	{"tcp", "cc", "no_such_law", "cc"},
	{"tcp", "localhost", "no.such.address.at.all", "localhost"},
	{"ssl", "method", "SSLv2", "method"},
	{"ssl", "cipher", "ROT13", "cipher"},
	{"sctp", "encaps", "70000", NULL},
};

START_TEST(a_wrong_option_is_named)
{
	char why[256] = "";

	t = nm_transport_find(wrong[_i].transport);
	void *opts = calloc(1, t->opts_size);
	const struct nm_opt *opt = nm_opt_find(t->opts, wrong[_i].name);

	ck_assert_int_eq(nm_opts_defaults(t->opts, opts), 0);
	int r = nm_opt_set(opt, opts, wrong[_i].value, why, sizeof why);

	if (r == 0) {
		struct nm_why said = {.option = NULL};

		r = nm_transport_prepare(t, opts, &said);
		ck_assert(!wrong[_i].why || strstr(said.text, wrong[_i].why));
	}
	ck_assert_msg(r == -EINVAL, "%s: %s", t->name, why);
	nm_opts_fini(t->opts, opts);
	free(opts);
}
END_TEST

static Suite *conformance_suite(void)
{
	Suite *suite = suite_create("conformance");
	TCase *all = tcase_create("all transports");
	int count = 0;

	while (nm_transports[count])
		count++;
	tcase_add_loop_test(all, a_descriptor_has_what_is_required, 0, count);
	tcase_add_loop_test(all, no_options_mean_nothing_special, 0, count);
	tcase_add_loop_test(all, what_is_missing_is_said, 0, count);
	tcase_add_loop_test(all, a_text_that_is_no_endpoint_is_refused, 0, count);
	for (int i = 0; i < count; i++) {
		if (strcmp(nm_transports[i]->name, "psp") == 0)
			continue;
		tcase_add_loop_test(all, a_listener_can_be_one_of_several_or_says_so, i, i + 1);
		tcase_add_loop_test(all, without_a_connection_there_is_none_to_accept, i, i + 1);
		tcase_add_loop_test(all, where_nobody_listens_nothing_opens, i, i + 1);
		tcase_add_loop_test(all, strangers_are_not_let_in, i, i + 1);
		tcase_add_loop_test(all, a_handshake_can_be_given_up, i, i + 1);
		tcase_add_loop_test(all, what_is_closed_can_be_opened_again, i, i + 1);
		tcase_add_loop_test(all, a_socket_that_was_accepted_becomes_a_connection, i, i + 1);
		tcase_add_loop_test(all, what_is_sent_is_counted_once_at_each_end, i, i + 1);
		tcase_add_loop_test(all, an_empty_queue_is_known_to_be_empty, i, i + 1);
		tcase_add_loop_test(all, a_full_buffer_is_known_to_be_full, i, i + 1);
		tcase_add_loop_test(all, all_that_was_sent_comes_before_the_end, i, i + 1);
		tcase_add_loop_test(all, one_direction_can_end_before_the_other, i, i + 1);
		tcase_add_loop_test(all, a_reset_ends_the_other_end, i, i + 1);
		tcase_add_loop_test(all, what_is_known_of_a_connection_can_be_asked, i, i + 1);
	}
	tcase_add_loop_test(all, options_do_not_change_what_arrives, 0,
			    (int)(sizeof rows / sizeof *rows));
	tcase_add_loop_test(all, a_wrong_option_is_named, 0, (int)(sizeof wrong / sizeof *wrong));
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return run_suite(conformance_suite());
}
