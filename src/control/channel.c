/* SPDX-License-Identifier: Apache-2.0 */
/* The layer between frames and the socket: plain bytes, or TLS 1.3 whose only way in is the key
 * that both ends have (an external pre-shared key, with a Diffie-Hellman exchange for each
 * connection). */
#include "control/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

/* The first byte of a TLS connection: the type of a handshake record or of an alert. A frame begins
 * with the highest byte of its length, which is 0 as long as no peer is trusted. */
#define TLS_HANDSHAKE 0x16
#define TLS_ALERT     0x15

static const unsigned char identity[] = "netmodel";
static const unsigned char cipher_id[] = {0x13, 0x01}; /* TLS_AES_128_GCM_SHA256 */

/* --- the socket, as OpenSSL reads and writes it --- */

/* As read(2): with the byte that was looked at before the others. */
static ssize_t receive(struct nm_channel *channel, void *to, size_t size)
{
	unsigned char *at = to;
	size_t held = channel->first >= 0;
	ssize_t n;

	if (held)
		*at = (unsigned char)channel->first;
	channel->first = -1;
	if (held == size)
		return 1;
	do {
		n = recv(channel->fd, at + held, size - held, 0);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		channel->at_end = true;
	if (held)
		return n > 0 ? n + 1 : 1;
	return n < 0 ? -errno : n;
}

static ssize_t transmit(const struct nm_channel *channel, const void *data, size_t size)
{
	ssize_t n;

	do {
		n = send(channel->fd, data, size, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static bool is_again(ssize_t r)
{
	return r == -EAGAIN || r == -EWOULDBLOCK;
}

static int bio_write(BIO *bio, const char *data, size_t size, size_t *ret_written)
{
	ssize_t n = transmit(BIO_get_data(bio), data, size);

	BIO_clear_retry_flags(bio);
	*ret_written = n > 0 ? (size_t)n : 0;
	if (is_again(n))
		BIO_set_retry_write(bio);
	errno = n < 0 ? (int)-n : 0;
	return n > 0;
}

static int bio_read(BIO *bio, char *to, size_t size, size_t *ret_read)
{
	struct nm_channel *channel = BIO_get_data(bio);
	/* The first bytes may be no TLS. */
	ssize_t n = channel->decided ? receive(channel, to, size) : -EAGAIN;

	BIO_clear_retry_flags(bio);
	*ret_read = n > 0 ? (size_t)n : 0;
	if (is_again(n))
		BIO_set_retry_read(bio);
	errno = n < 0 ? (int)-n : 0;
	return n > 0;
}

static long bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
	const struct nm_channel *channel = BIO_get_data(bio);

	(void)number;
	(void)pointer;
	if (command == BIO_CTRL_EOF)
		return channel->at_end;
	return command == BIO_CTRL_FLUSH;
}

static int bio_create(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

/* --- TLS --- */

struct nm_channel_tls {
	BIO_METHOD *method;
	SSL_CTX *ctx;
	SSL *ssl;
};

/* A session that stands for the key; NULL when the key has been wiped, or without memory. */
static SSL_SESSION *make_session(SSL *ssl)
{
	const unsigned char *bytes = nm_key_bytes(SSL_get_app_data(ssl));
	const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, cipher_id);
	SSL_SESSION *session = bytes && cipher ? SSL_SESSION_new() : NULL;

	if (session && SSL_SESSION_set1_master_key(session, bytes, NM_KEY_BYTES) &&
	    SSL_SESSION_set_cipher(session, cipher) &&
	    SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION))
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

/* The callback of the master, which offers its key. */
static int use_key(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_id,
		   size_t *ret_id_size, SSL_SESSION **ret_session)
{
	(void)digest; /* there is one cipher, and so one */
	*ret_session = make_session(ssl);
	*ret_id = identity;
	*ret_id_size = sizeof identity - 1;
	return *ret_session != NULL;
}

/* The callback of the slave, which looks up its key. Without a session the handshake would go on
 * with a certificate, and there is none. */
static int find_key(SSL *ssl, const unsigned char *id, size_t id_size, SSL_SESSION **ret_session)
{
	bool ours = id_size == sizeof identity - 1 && memcmp(id, identity, id_size) == 0;

	*ret_session = ours ? make_session(ssl) : NULL;
	return !ours || *ret_session;
}

/* No certificate of anybody's is taken, no session is resumed, and nothing is sent before the
 * handshake is over. */
static SSL_CTX *make_context(bool accepts)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_method());

	if (!ctx)
		return NULL;
	SSL_CTX_set_verify(ctx, accepts ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_psk_use_session_callback(ctx, use_key);
	SSL_CTX_set_psk_find_session_callback(ctx, find_key);
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
	/* The queue of frames moves when it grows. */
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
					    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					    SSL_MODE_RELEASE_BUFFERS);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
	    SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) &&
	    SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") &&
	    SSL_CTX_set_num_tickets(ctx, 0))
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

static BIO_METHOD *make_method(void)
{
	BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "netmodel control connection");

	if (method && BIO_meth_set_create(method, bio_create) &&
	    BIO_meth_set_write_ex(method, bio_write) && BIO_meth_set_read_ex(method, bio_read) &&
	    BIO_meth_set_ctrl(method, bio_ctrl))
		return method;
	BIO_meth_free(method);
	return NULL;
}

static struct nm_channel_tls *free_tls(struct nm_channel_tls *tls)
{
	if (!tls)
		return NULL;
	SSL_free(tls->ssl);
	SSL_CTX_free(tls->ctx);
	BIO_meth_free(tls->method);
	free(tls);
	return NULL;
}

/* Puts TLS upon the channel: 0, or -ENOMEM. */
static int begin_tls(struct nm_channel *channel, bool accepts)
{
	struct nm_channel_tls *tls = calloc(1, sizeof *tls);
	BIO *bio = NULL;

	if (tls) {
		tls->method = make_method();
		tls->ctx = make_context(accepts);
		tls->ssl = tls->ctx ? SSL_new(tls->ctx) : NULL;
		bio = tls->method && tls->ssl ? BIO_new(tls->method) : NULL;
	}
	if (!bio || SSL_set_app_data(tls->ssl, channel->key) != 1) {
		BIO_free(bio);
		ERR_clear_error();
		channel->tls = free_tls(tls);
		return -ENOMEM;
	}
	BIO_set_data(bio, channel);
	SSL_set_bio(tls->ssl, bio, bio);
	if (accepts)
		SSL_set_accept_state(tls->ssl);
	else
		SSL_set_connect_state(tls->ssl);
	channel->tls = tls;
	channel->state = NM_CHANNEL_HANDSHAKE;
	return 0;
}

/* The error of a channel for a failure of TLS. The slave is the first to find that the keys differ,
 * and its alert tells the master: which alert that is depends on the version of OpenSSL. */
static int explain(const struct nm_channel *channel, unsigned long error)
{
	bool shakes = channel->state == NM_CHANNEL_HANDSHAKE;

	switch (ERR_GET_REASON(error)) {
	case SSL_R_BINDER_DOES_NOT_VERIFY:
	case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
	case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
	case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE: /* the slave found no key that it knows */
		return shakes ? -EKEYREJECTED : -EBADMSG;
	case ERR_R_MALLOC_FAILURE:
		return -ENOMEM;
	default:
		return -EBADMSG;
	}
}

/* The result of a call of OpenSSL that has not succeeded: 0 at the end, or -errno. */
static ssize_t outcome(struct nm_channel *channel, int answer)
{
	int cause = errno, how = SSL_get_error(channel->tls->ssl, answer);
	unsigned long error = ERR_peek_error();

	ERR_clear_error();
	channel->wants_out = how == SSL_ERROR_WANT_WRITE;
	if (how == SSL_ERROR_WANT_READ || how == SSL_ERROR_WANT_WRITE)
		return -EAGAIN;
	if (how == SSL_ERROR_ZERO_RETURN || channel->at_end)
		return 0;
	return how == SSL_ERROR_SYSCALL && cause ? -cause : explain(channel, error);
}

/* The outcome of a call that reads: after an error no more bytes can come. */
static ssize_t outcome_of_reading(struct nm_channel *channel, int answer)
{
	ssize_t n = outcome(channel, answer);

	if (n < 0 && !is_again(n))
		channel->error = (int)n;
	return n;
}

/* The session of the connection has kept the key, which its records do not need: they are sealed
 * with keys that the handshake has derived. */
static void forget_key(SSL *ssl)
{
	static const unsigned char nothing[NM_KEY_BYTES];
	SSL_SESSION *session = SSL_get_session(ssl);

	if (session)
		(void)SSL_SESSION_set1_master_key(session, nothing, sizeof nothing);
}

/* 1 when both ends have proved the key, or as outcome. */
static ssize_t shake_hands(struct nm_channel *channel)
{
	SSL *ssl = channel->tls->ssl;

	ERR_clear_error();
	errno = 0;
	int answer = SSL_do_handshake(ssl);

	if (answer != 1)
		return outcome_of_reading(channel, answer);
	channel->wants_out = false;
	/* Not by a certificate, for which nothing is set up either. */
	if (!SSL_session_reused(ssl) || SSL_version(ssl) != TLS1_3_VERSION) {
		channel->error = -EKEYREJECTED;
		return channel->error;
	}
	forget_key(ssl);
	channel->state = NM_CHANNEL_PROVED;
	return 1;
}

/* --- the channel --- */

void nm_channel_init(struct nm_channel *channel, int fd, enum nm_side side, struct nm_key *key)
{
	*channel = (struct nm_channel){.fd = fd, .key = key, .first = -1};
	if (side == NM_SIDE_SLAVE && key)
		channel->error = begin_tls(channel, false);
	else if (side == NM_SIDE_SLAVE)
		channel->state = NM_CHANNEL_PLAIN;
}

void nm_channel_fini(struct nm_channel *channel)
{
	if (channel->state == NM_CHANNEL_PROVED && !channel->error) {
		(void)SSL_shutdown(channel->tls->ssl);
		ERR_clear_error();
	}
	channel->tls = free_tls(channel->tls);
	*channel = (struct nm_channel){.fd = -1, .state = NM_CHANNEL_PLAIN, .first = -1};
}

short nm_channel_events(const struct nm_channel *channel, bool queued)
{
	bool can_write = channel->state == NM_CHANNEL_PLAIN || channel->state == NM_CHANNEL_PROVED;

	return (queued && can_write) || channel->wants_out ? POLLIN | POLLOUT : POLLIN;
}

/* Decides between TLS and frames by the first byte of the other end. 1 when that is decided,
 * otherwise the answer of the read. */
static ssize_t decide(struct nm_channel *channel)
{
	unsigned char first;
	ssize_t n = receive(channel, &first, 1);

	if (n <= 0)
		return n;
	bool tls = first == TLS_HANDSHAKE || first == TLS_ALERT;

	channel->first = first;
	if (channel->state == NM_CHANNEL_HANDSHAKE && !tls) {
		channel->tls = free_tls(channel->tls);
		channel->state = NM_CHANNEL_ANSWERED_PLAIN;
	} else if (channel->state == NM_CHANNEL_UNDECIDED && !tls) {
		channel->state = NM_CHANNEL_PLAIN;
	} else if (channel->state == NM_CHANNEL_UNDECIDED && !channel->key) {
		channel->state = NM_CHANNEL_PLAIN; /* to answer */
		channel->error = -ENOKEY;
		return channel->error;
	} else if (channel->state == NM_CHANNEL_UNDECIDED) {
		channel->error = begin_tls(channel, true);
		if (channel->error)
			return channel->error;
	}
	channel->decided = true;
	return 1;
}

/* As nm_channel_read; the handshake is over. */
static ssize_t read_tls(struct nm_channel *channel, void *to, size_t size)
{
	size_t done = 0;

	ERR_clear_error();
	errno = 0;
	int answer = SSL_read_ex(channel->tls->ssl, to, size, &done);

	if (answer != 1)
		return outcome_of_reading(channel, answer);
	channel->wants_out = false;
	return (ssize_t)done;
}

ssize_t nm_channel_read(struct nm_channel *channel, void *to, size_t size)
{
	if (channel->error)
		return channel->error;
	bool looks = channel->state == NM_CHANNEL_UNDECIDED ||
		     (channel->state == NM_CHANNEL_HANDSHAKE && !channel->decided);
	ssize_t n = looks ? decide(channel) : 1;

	/* A master's own first bytes may wait to be sent. */
	if (n <= 0 && !(is_again(n) && channel->wants_out))
		return n;
	if (channel->state == NM_CHANNEL_HANDSHAKE)
		n = shake_hands(channel);
	if (channel->state == NM_CHANNEL_PROVED)
		return read_tls(channel, to, size);
	return channel->state == NM_CHANNEL_HANDSHAKE ? n : receive(channel, to, size);
}

bool nm_channel_holds(const struct nm_channel *channel)
{
	return channel->state == NM_CHANNEL_PROVED && !channel->error &&
	       SSL_pending(channel->tls->ssl) > 0;
}

ssize_t nm_channel_write(struct nm_channel *channel, const void *data, size_t size)
{
	size_t done = 0;

	if (channel->state == NM_CHANNEL_PLAIN ||
	    (channel->state == NM_CHANNEL_UNDECIDED && !channel->key))
		return transmit(channel, data, size);
	if (channel->error)
		return channel->error;
	if (channel->state == NM_CHANNEL_UNDECIDED)
		return -EAGAIN;
	if (channel->state == NM_CHANNEL_ANSWERED_PLAIN)
		return -EPIPE;
	if (channel->state == NM_CHANNEL_HANDSHAKE) {
		ssize_t n = shake_hands(channel);

		if (n != 1)
			return n ? n : -EPIPE;
	}
	ERR_clear_error();
	errno = 0;
	int answer = SSL_write_ex(channel->tls->ssl, data, size, &done);

	if (answer == 1)
		return (ssize_t)done;
	/* Reading tells why nothing can be written, after the bytes that have still arrived. */
	ssize_t n = outcome(channel, answer);

	return n ? n : -EPIPE;
}

void nm_channel_finish(struct nm_channel *channel)
{
	if (channel->state == NM_CHANNEL_PROVED && !channel->error) {
		(void)SSL_shutdown(channel->tls->ssl);
		ERR_clear_error();
	}
	(void)shutdown(channel->fd, SHUT_WR);
}

bool nm_channel_discard(struct nm_channel *channel)
{
	char bytes[4096];
	ssize_t n = receive(channel, bytes, sizeof bytes);

	return n > 0 || is_again(n);
}

void nm_channel_warm_up(void)
{
	(void)OPENSSL_init_ssl(0, NULL);
	SSL_CTX_free(make_context(true));
	ERR_clear_error();
}
