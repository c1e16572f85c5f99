/* SPDX-License-Identifier: Apache-2.0 */
/* TLS over TCP, by OpenSSL; ssl(7ssl). */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/err.h>

#include "transport/address.h"
#include "transport/handshake.h"
#include "transport/socket.h"
#include "transport/ssl_priv.h"
#include "transport/tcp_fields.h"
#include "transport/transport.h"

static const struct nm_opt ssl_opts[] = {
	NM_INET_OPTS,
	NM_OPT(STRING, struct nm_ssl_opts, cert, "cert", .is_file = true,
	       .help = "file (PEM) with the certificate of the accepting end, and those that lead "
		       "to its root; read there; without it, one is made that only it has signed"),
	NM_OPT(STRING, struct nm_ssl_opts, key, "key", .is_file = true,
	       .help = "file (PEM) with the key of cert; without it, the file of cert"),
	NM_OPT(STRING, struct nm_ssl_opts, password, "password", .secret = true,
	       .help = "of the key"),
	NM_OPT(FLAG, struct nm_ssl_opts, verify, "verify",
	       .given = offsetof(struct nm_ssl_opts, verify_given),
	       .help = "the connecting end checks the certificate and the name in it; with server= "
		       "it does so unless this is no"),
	NM_OPT(STRING, struct nm_ssl_opts, ca, "ca", .is_file = true,
	       .help = "file (PEM) with the certificates that verify trusts; read by the "
		       "connecting end; without it, those that its system trusts"),
	NM_OPT(HOST, struct nm_ssl_opts, name, "name",
	       .help = "name or address that the certificate must be for, and a name also what the "
		       "other end is told (SNI); without it, that of server, or remotehost on the "
		       "master (localhost for local), and the master's address on a slave"),
	NM_OPT(STRING, struct nm_ssl_opts, client_cert, "client_cert", .is_file = true,
	       .help = "file (PEM) with a certificate of the connecting end, which the accepting "
		       "end then asks for"),
	NM_OPT(STRING, struct nm_ssl_opts, client_key, "client_key", .is_file = true,
	       .help = "file (PEM) with the key of client_cert; without it, the file of "
		       "client_cert"),
	NM_OPT(STRING, struct nm_ssl_opts, client_ca, "client_ca", .is_file = true,
	       .help = "file (PEM) with the certificates by which the accepting end checks "
		       "client_cert; without it, it takes any"),
	NM_OPT(STRING, struct nm_ssl_opts, method, "method",
	       .help = "version: TLSv1.2, TLSv1.3, or TLS (SSLv23) for the newest that both ends "
		       "have, which is what they use without it"),
	NM_OPT(STRING, struct nm_ssl_opts, cipher, "cipher",
	       .help = "suites of TLS 1.3 or ciphers of TLS 1.2, as OpenSSL calls them, separated "
		       "by colons; if all are of one version, that version is used"),
	NM_OPT(FLAG, struct nm_ssl_opts, ktls, "ktls",
	       .help = "let the kernel make and open the records, where it can; the result tells "
		       "whether it does"),
	NM_OPT(FLAG, struct nm_ssl_opts, session_reuse, "session_reuse",
	       .help = "all connections after the first continue its session, which spares most of "
		       "the handshake"),
	NM_OPT(STRING, struct nm_ssl_opts, engine, "engine",
	       .help = "has no effect: OpenSSL 3 does without engines"),
	NM_OPT_END,
};

static int outcome(struct nm_ssl_conn *conn, int returned)
{
	int r = nm_ssl_outcome(conn->ssl, returned, &conn->error);

	/* After an alert of the peer it is the peer that knows the cause. */
	return r == -EPROTO && ERR_GET_REASON(conn->error) > SSL_AD_REASON_OFFSET ? -ECONNABORTED
										  : r;
}

/* Whether the session to continue later has still to come: with TLS 1.3 it follows the handshake. A
 * connection that is closed earlier answers it by a reset, which may destroy bytes that were
 * sent. */
static bool waits_for_ticket(const struct nm_ssl_conn *conn)
{
	return conn->started->reuse && !conn->started->accepting && !conn->started->to_servers &&
	       !conn->ticket && SSL_version(conn->ssl) == TLS1_3_VERSION &&
	       !SSL_session_reused(conn->ssl);
}

/* The last message of a handshake may have no answer, and without nodelay the connecting end keeps
 * back its next bytes until that message is acknowledged. The kernel would wait 40 ms for a chance
 * to acknowledge it. */
static void acknowledge(const struct nm_ssl_conn *conn)
{
	if (conn->started->accepting && !conn->started->nodelay)
		(void)nm_socket_set(conn->io.fd, IPPROTO_TCP, TCP_QUICKACK, 1);
}

static int ssl_established(struct nm_conn *c)
{
	struct nm_ssl_conn *conn = c->state;
	int r;

	conn->io.dry = false;
	if (!conn->connected) {
		r = nm_socket_established(c);
		if (r < 0)
			return r;
		conn->connected = true;
		r = nm_handshake_send_preamble(conn->io.fd, &conn->preamble);
		if (r < 0)
			return r;
	}
	if (!conn->ready) {
		r = SSL_do_handshake(conn->ssl);
		if (r != 1) {
			r = outcome(conn, r);
			conn->ended = r != -EAGAIN && r != -EINPROGRESS;
			return r ? r : -ECONNRESET;
		}
		conn->ready = true;
		acknowledge(conn);
	}
	if (waits_for_ticket(conn)) {
		char first;

		r = SSL_peek(conn->ssl, &first, 1);
		r = r == 1 ? 0 : outcome(conn, r);
		if (r < 0 && !conn->ticket)
			return r == -EINPROGRESS ? -EAGAIN : r;
	}
	/* OpenSSL may have taken in more than the handshake, and there is no event for that. */
	c->flags |= NM_CONN_IN | NM_CONN_OUT;
	return 0;
}

/* Continues a copy of the session: OpenSSL marks a session that was used as used up. */
static void continue_session(struct nm_ssl_conn *conn)
{
	SSL_SESSION *first = atomic_load(&conn->peer->session);
	SSL_SESSION *session = first ? SSL_SESSION_dup(first) : NULL;

	if (session)
		(void)SSL_set_session(conn->ssl, session);
	SSL_SESSION_free(session);
}

/* Tells the other end who is meant, and has its certificate checked for that. */
static bool name_peer(SSL *ssl, const struct nm_ssl_started *started,
		      const struct nm_ssl_peer *peer)
{
	return (peer->is_address || SSL_set_tlsext_host_name(ssl, peer->name) == 1) &&
	       (!started->verify || nm_ssl_expect(SSL_get0_param(ssl), peer));
}

/* Puts TLS upon the socket of c: 0 or -errno. */
static int attach(struct nm_conn *c)
{
	struct nm_ssl_started *started = c->state;
	struct nm_ssl_peer *peer =
		started->accepting ? NULL : &started->peers[c->number % started->n_peers];
	struct nm_ssl_conn *conn = calloc(1, sizeof *conn);
	SSL *ssl = conn ? SSL_new(started->ctx) : NULL;
	BIO *bio = NULL;

	if (ssl)
		bio = started->bio ? BIO_new(started->bio) : BIO_new_socket(c->fd, BIO_NOCLOSE);
	if (!bio || SSL_set_app_data(ssl, conn) != 1 || (peer && !name_peer(ssl, started, peer))) {
		BIO_free(bio);
		SSL_free(ssl);
		free(conn);
		ERR_clear_error();
		return -ENOMEM;
	}
	*conn = (struct nm_ssl_conn){
		.ssl = ssl, .started = started, .peer = peer, .io.fd = c->fd, .connected = !peer};
	if (started->bio)
		BIO_set_data(bio, &conn->io);
	SSL_set_bio(ssl, bio, bio);
	if (started->accepting)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	if (started->reuse && peer)
		continue_session(conn);
	c->state = conn;
	return 0;
}

static int ssl_connect(struct nm_conn *c, const void *opts, const struct nm_addr *to)
{
	return nm_handshake_connect(c, opts, to, attach);
}

static void ssl_queue(struct nm_conn *c, const void *bytes, size_t size)
{
	struct nm_ssl_conn *conn = c->state;

	nm_handshake_leave_preamble(&conn->preamble, bytes, size);
}

static int ssl_accept(struct nm_conn *c, int listen_fd, const void *opts,
		      const struct nm_peers *peers)
{
	return nm_handshake_accept(c, listen_fd, opts, peers, attach);
}

static int ssl_attach(struct nm_conn *c, int fd, const void *opts)
{
	return nm_handshake_attach(c, fd, opts, attach);
}

static ssize_t ssl_send(struct nm_conn *c, const void *opts, void *data, size_t size)
{
	struct nm_ssl_conn *conn = c->state;
	size_t done = 0, n;

	(void)opts;
	/* Each call makes one record at most, so that bytes reported as sent have gone. */
	do {
		int r = SSL_write_ex(conn->ssl, (char *)data + done, size - done, &n);

		if (__builtin_expect(r != 1, 0)) {
			r = outcome(conn, r);
			if (r == -EINPROGRESS || r == -EAGAIN)
				return done ? (ssize_t)done : -EAGAIN;
			return r ? r : -EPIPE;
		}
		done += n;
	} while (done < size);
	return (ssize_t)done;
}

static ssize_t ssl_recv(struct nm_conn *c, void *data, size_t size)
{
	struct nm_ssl_conn *conn = c->state;
	size_t done = 0, n;

	conn->io.dry = false;
	do {
		int r = SSL_read_ex(conn->ssl, (char *)data + done, size - done, &n);

		if (r != 1) {
			r = outcome(conn, r);
			if (r == -EAGAIN || r == -EINPROGRESS)
				return done ? (ssize_t)done : -EAGAIN;
			/* There will be no event that asks for the end, or the error, behind the
			 * data, nor one for an end of TLS that leaves TCP open. */
			if (done || r == 0)
				c->flags |= NM_CONN_HUP;
			return done ? (ssize_t)done : r;
		}
		done += n;
	} while (done < size);
	return (ssize_t)done;
}

static void ssl_finish(struct nm_conn *c)
{
	const struct nm_ssl_conn *conn = c->state;

	if (conn->ready)
		(void)SSL_shutdown(conn->ssl);
	ERR_clear_error();
	nm_socket_finish(c);
}

static void ssl_close(struct nm_conn *c, bool reset)
{
	struct nm_ssl_conn *conn = c->state;

	/* A peer that has closed would only answer by a reset. */
	if (conn->ready && !reset && !(c->flags & NM_CONN_HUP) && !(c->traits & NM_CONN_FINISHED))
		(void)SSL_shutdown(conn->ssl);
	/* However the connection ends, its session is as good as before. */
	SSL_set_shutdown(conn->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(conn->ssl);
	ERR_clear_error();
	free(conn->refused);
	free(conn);
	c->state = NULL;
	nm_socket_close(c, reset);
}

static bool ssl_why(const struct nm_conn *c, char *buf, size_t size)
{
	const struct nm_ssl_conn *conn = c->state;

	/* Whoever gives it up has waited for long enough. */
	if (!conn->error && conn->peer && conn->connected && !conn->ready && !conn->ended) {
		snprintf(buf, size, "TCP has connected, and the handshake of TLS has %s",
			 BIO_number_read(SSL_get_rbio(conn->ssl))
				 ? "begun, but not ended in time"
				 : "had no answer in time: perhaps the port is one without TLS");
		return true;
	}
	if (!conn->error)
		return false;
	if (ERR_GET_LIB(conn->error) == ERR_LIB_SSL &&
	    ERR_GET_REASON(conn->error) == SSL_R_CERTIFICATE_VERIFY_FAILED)
		nm_ssl_refusal(conn, buf, size);
	else if (ERR_GET_REASON(conn->error) > SSL_AD_REASON_OFFSET)
		snprintf(buf, size, "the other end has refused: %s%s%s",
			 nm_ssl_error_text(conn->error),
			 conn->started->alpn ? "; offered was " : "",
			 conn->started->alpn ? conn->started->alpn : "");
	else
		snprintf(buf, size, "TLS: %s", nm_ssl_error_text(conn->error));
	return true;
}

static int ssl_info(const struct nm_conn *c, struct nm_conn_info *ret_info)
{
	const struct nm_ssl_conn *conn = c->state;
	int r = nm_inet_info(c, ret_info);

	if (r < 0 || !conn->ready)
		return r;
	struct nm_conn_tls *tls = &ret_info->tls;

	tls->connections = 1;
	tls->resumed = SSL_session_reused(conn->ssl) == 1;
	if (!conn->started->bio) {
		tls->ktls_send = BIO_get_ktls_send(SSL_get_wbio(conn->ssl));
		tls->ktls_receive = BIO_get_ktls_recv(SSL_get_rbio(conn->ssl));
	}
	const unsigned char *chosen;
	unsigned n_chosen;

	SSL_get0_alpn_selected(conn->ssl, &chosen, &n_chosen);
	snprintf(tls->alpn, sizeof tls->alpn, "%.*s", (int)n_chosen, (const char *)chosen);
	snprintf(tls->version, sizeof tls->version, "%s", SSL_get_version(conn->ssl));
	snprintf(tls->cipher, sizeof tls->cipher, "%s", SSL_get_cipher_name(conn->ssl));
	return 0;
}

const struct nm_transport nm_transport_ssl = {
	.name = "ssl",
	.alias = "tls",
	.help = "TLS 1.2 and 1.3 over TCP; also called tls",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_SERVERS | NM_TRANSPORT_TLS,
	.opts = ssl_opts,
	.opts_size = sizeof(struct nm_ssl_opts),
	.listen = nm_inet_listen,
	.endpoint = nm_addr_endpoint,
	.connect = ssl_connect,
	.established = ssl_established,
	.accept = ssl_accept,
	.close = ssl_close,
	.send = ssl_send,
	.recv = ssl_recv,
	.finish = ssl_finish,
	.why = ssl_why,
	.tcp_fields = nm_tcp_fields_read,
	.info = ssl_info,
	.checks = &(const struct nm_transport_checks){.prepare = nm_ssl_prepare,
						      .server = nm_ssl_set_server,
						      .group = nm_inet_check_group},
	.shared = &(const struct nm_transport_shared){.start = nm_ssl_start, .stop = nm_ssl_stop},
	.socket = &nm_handshake_socket,
	.preamble = &(const struct nm_transport_preamble){.attach = ssl_attach, .queue = ssl_queue},
};
