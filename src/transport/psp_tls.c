/* SPDX-License-Identifier: Apache-2.0 */
/* Protects the keys of PSP while they are exchanged: TLS 1.3 with an external key (RFC 8446,
 * 4.2.11), and a Diffie-Hellman exchange on top, so that somebody who learns the external key later
 * learns nothing of the exchange. */
#include <errno.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "transport/psp_priv.h"

#define IDENTITY   "netmodel"
#define SUITE	   "TLS_AES_256_GCM_SHA384"
#define READ_BYTES 4096

static const unsigned char suite_id[] = {0x13, 0x02};

/* HKDF (RFC 5869) with SHA-256. */
static int derive(const unsigned char secret[NM_SECRET_BYTES], unsigned char *ret_key, size_t size)
{
	char digest[] = "SHA256", info[] = "netmodel psp";
	unsigned char copy[NM_SECRET_BYTES];
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;

	memcpy(copy, secret, sizeof copy);
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, copy, sizeof copy),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, sizeof info - 1),
		OSSL_PARAM_construct_end()};
	int done = ctx ? EVP_KDF_derive(ctx, ret_key, size, params) : 0;

	OPENSSL_cleanse(copy, sizeof copy);
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return done == 1 ? 0 : -ENOMEM;
}

/* Makes a session that has never been: OpenSSL's form of an external key. */
static int make_session(struct nm_psp_started *s, const unsigned char *key, size_t size)
{
	SSL *ssl = SSL_new(s->ctx);
	const SSL_CIPHER *cipher = ssl ? SSL_CIPHER_find(ssl, suite_id) : NULL;

	s->key = SSL_SESSION_new();
	bool made = cipher && s->key && SSL_SESSION_set1_master_key(s->key, key, size) == 1 &&
		    SSL_SESSION_set_cipher(s->key, cipher) == 1 &&
		    SSL_SESSION_set_protocol_version(s->key, TLS1_3_VERSION) == 1;

	SSL_free(ssl);
	return made ? 0 : -ENOMEM;
}

static int use_key(SSL *ssl, const EVP_MD *digest, const unsigned char **ret_identity,
		   size_t *ret_size, SSL_SESSION **ret_session)
{
	const struct nm_psp_started *s = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	(void)digest;
	*ret_identity = (const unsigned char *)IDENTITY;
	*ret_size = sizeof IDENTITY - 1;
	*ret_session = SSL_SESSION_dup(s->key);
	return *ret_session != NULL;
}

static int find_key(SSL *ssl, const unsigned char *identity, size_t size, SSL_SESSION **ret_session)
{
	const struct nm_psp_started *s = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

	*ret_session = NULL;
	if (size != sizeof IDENTITY - 1 || memcmp(identity, IDENTITY, size) != 0)
		return 1;
	*ret_session = SSL_SESSION_dup(s->key);
	return *ret_session != NULL;
}

int nm_psp_tls_start(struct nm_psp_started *s, const unsigned char secret[NM_SECRET_BYTES])
{
	unsigned char key[32];

	s->ctx = SSL_CTX_new(s->accepting ? TLS_server_method() : TLS_client_method());
	s->bio = nm_ssl_bio_new();
	if (!s->ctx || !s->bio || SSL_CTX_set_min_proto_version(s->ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_max_proto_version(s->ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_ciphersuites(s->ctx, SUITE) != 1)
		return -ENOMEM;
	SSL_CTX_set_app_data(s->ctx, s);
	/* A ticket would be clear bytes that nobody reads, and with them there is no PSP. */
	SSL_CTX_set_options(s->ctx,
			    SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CLEANSE_PLAINTEXT);
	SSL_CTX_set_num_tickets(s->ctx, 0);
	SSL_CTX_set_session_cache_mode(s->ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_read_ahead(s->ctx, 1);
	SSL_CTX_set_default_read_buffer_len(s->ctx, READ_BYTES);
	if (s->accepting)
		SSL_CTX_set_psk_find_session_callback(s->ctx, find_key);
	else
		SSL_CTX_set_psk_use_session_callback(s->ctx, use_key);
	int r = derive(secret, key, sizeof key);

	if (r == 0)
		r = make_session(s, key, sizeof key);
	OPENSSL_cleanse(key, sizeof key);
	return r;
}

SSL *nm_psp_tls_new(const struct nm_psp_started *s, struct nm_ssl_io *io)
{
	SSL *ssl = SSL_new(s->ctx);
	BIO *bio = ssl ? BIO_new(s->bio) : NULL;

	if (!bio) {
		SSL_free(ssl);
		ERR_clear_error();
		return NULL;
	}
	BIO_set_data(bio, io);
	SSL_set_bio(ssl, bio, bio);
	if (s->accepting)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	return ssl;
}
