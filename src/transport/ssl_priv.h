/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the transport ssl: options, what an opening shares, and the input and output of a
 * connection. */
#ifndef NM_TRANSPORT_SSL_PRIV_H
#define NM_TRANSPORT_SSL_PRIV_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/ascii.h"
#include "transport/handshake.h"
#include "transport/inet.h"

struct nm_ssl_opts {
	struct nm_inet_opts inet;
	char *cert, *key, *password;
	char *ca, *name;
	char *client_cert, *client_key, *client_ca;
	char *cipher, *method, *engine;
	bool verify, verify_given, ktls, session_reuse;
};

#define NM_SSL_WORDS 1024 /* bytes of cipher= */

/* The versions and ciphers that method= and cipher= name together. */
struct nm_ssl_params {
	int min, max;		    /* versions; max 0: the newest */
	char ciphers[NM_SSL_WORDS]; /* for TLS 1.2; "": OpenSSL's own choice */
	char suites[NM_SSL_WORDS];  /* for TLS 1.3 */
	char word[NM_SSL_WORDS];    /* one of them, while they are checked */
};

/* Who is at the other end. */
struct nm_ssl_peer {
	char name[256]; /* whom the certificate must be for */
	bool is_address;
	/* With reuse: the first session that was offered, which all later connections continue. */
	_Atomic(SSL_SESSION *) session;
};

/* The result of start. All of it but sessions is immutable while workers run. */
struct nm_ssl_started {
	SSL_CTX *ctx;
	BIO_METHOD *bio; /* NULL: OpenSSL's own, which alone can hand records to the kernel */
	bool accepting;
	bool reuse;
	bool nodelay;
	bool to_servers;  /* that are not netmodel */
	bool verify;	  /* the connecting end checks whom the certificate is for */
	const char *alpn; /* the protocol that it offers; NULL: none */
	/* On the connecting side: connection i goes to number i modulo n_peers. */
	uint32_t n_peers;
	struct nm_ssl_peer peers[];
};

/* Asks for a certificate of that name or address: false: no certificate can have it. */
bool nm_ssl_expect(X509_VERIFY_PARAM *param, const struct nm_ssl_peer *peer);

/* The socket that carries the records of a connection, and its state. */
struct nm_ssl_io {
	int fd;
	bool dry; /* the last receive has emptied the socket's queue: see nm_ssl_bio_new */
	bool eof; /* the peer has closed */
};

/* One connection: conn->state. */
struct nm_ssl_conn {
	SSL *ssl;
	const struct nm_ssl_started *started;
	struct nm_ssl_peer *peer; /* NULL: this end accepts */
	struct nm_ssl_io io;
	bool connected; /* TCP is connected; the handshake is next */
	bool ready;	/* the handshake is done */
	bool ended;	/* it has failed, or the connection under it */
	bool ticket;	/* the peer has sent a session to continue later */
	struct nm_handshake_preamble preamble;
	unsigned long error; /* OpenSSL's, of the last failure; 0: none */
	char *refused;	     /* the certificate that was refused, in words; owned, or NULL */
};

/* The result of a call that has not returned 1: -EAGAIN when it waits for input, -EINPROGRESS for
 * output, 0 when the peer has ended, -EPROTO with an error of OpenSSL, or another -errno. As each
 * failure empties the queue of errors, no error of an earlier call is taken for its cause. */
static inline int nm_ssl_outcome(const SSL *ssl, int returned, unsigned long *ret_error)
{
	int saved = errno;

	switch (SSL_get_error(ssl, returned)) {
	case SSL_ERROR_WANT_READ:
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		return -EINPROGRESS;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	case SSL_ERROR_SYSCALL:
		ERR_clear_error();
		return saved ? -saved : -ECONNRESET;
	default:
		*ret_error = ERR_peek_last_error();
		ERR_clear_error();
		return -EPROTO;
	}
}

/* ssl_params.c: 0, or -EINVAL with a phrase in why. */
int nm_ssl_read_params(const struct nm_ssl_opts *opts, struct nm_ssl_params *ret,
		       struct nm_why *why);

/* ssl_ctx.c */
int nm_ssl_set_server(void *opts, struct nm_why *why);
int nm_ssl_prepare(void *opts, struct nm_why *why);
int nm_ssl_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		 size_t why_size);
void nm_ssl_stop(void *started);
/* An error of OpenSSL in words, static or thread-local. */
const char *nm_ssl_error_text(unsigned long error);

/* ssl_refusal.c: a callback of SSL_CTX_set_verify that notes what was refused. */
int nm_ssl_note_refused(int ok, X509_STORE_CTX *store);
/* Why the other end's certificate is refused, in a phrase. */
void nm_ssl_refusal(const struct nm_ssl_conn *conn, char *buf, size_t size);

/* ssl_bio.c: input and output over io->fd, where io, a struct nm_ssl_io, is its BIO_get_data. A
 * receive that brings less than it was asked for has emptied the queue: the next one answers
 * "again" by itself, until io->dry is reset, and spares the call that would only find that out.
 * NULL: out of memory. */
BIO_METHOD *nm_ssl_bio_new(void);

#endif
