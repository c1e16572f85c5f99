/* SPDX-License-Identifier: Apache-2.0 */
/* Checks options, reads certificates, and makes the SSL_CTX of an opening: work that is done
 * once. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "host/file.h"
#include "transport/ssl_priv.h"

#define READ_BYTES 65536 /* asked of the socket at a time */
#define SESSION_S  86400 /* how long a session can be continued */
#define RSA_BITS   2048
#define DAY_S	   86400L

const char *nm_ssl_error_text(unsigned long error)
{
	const char *text = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error))
						   : ERR_reason_error_string(error);

	return text ? text : "it gives no reason";
}

/* Why the last call of OpenSSL has failed: the first cause, when it names several. */
static const char *last_error(void)
{
	unsigned long error = ERR_get_error();

	ERR_clear_error();
	return nm_ssl_error_text(error);
}

static int check_pairs(const struct nm_ssl_opts *o, char *why, size_t why_size)
{
	const char *alone = NULL, *without = NULL;

	if (nm_is_given(o->key) && !nm_is_given(o->cert)) {
		alone = "key";
		without = "cert";
	} else if (nm_is_given(o->client_key) && !nm_is_given(o->client_cert)) {
		alone = "client_key";
		without = "client_cert";
	} else if (nm_is_given(o->client_ca) && !nm_is_given(o->client_cert)) {
		alone = "client_ca";
		without = "client_cert";
	}
	if (!alone)
		return 0;
	snprintf(why, why_size, "%s: needs %s too", alone, without);
	return -EINVAL;
}

int nm_ssl_set_server(void *opts, struct nm_why *why)
{
	struct nm_ssl_opts *o = opts;
	const struct {
		const char *name, *value;
	} others[] = {{"cert", o->cert}, {"key", o->key}, {"client_ca", o->client_ca}};

	if (!o->verify_given)
		o->verify = true;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (!nm_is_given(others[i].value))
			continue;
		return nm_why_set(why, others[i].name,
				  "%s=\"%.128s\": is of the end that accepts, which with server= "
				  "is not netmodel%s",
				  others[i].name, others[i].value,
				  i == 2 ? "" : "; the certificate of this end is client_cert");
	}
	return 0;
}

int nm_ssl_prepare(void *opts, struct nm_why *why)
{
	const struct nm_ssl_opts *o = opts;
	struct nm_ssl_params params;
	int r = nm_inet_prepare(opts, why);

	if (r == 0)
		r = nm_ssl_read_params(o, &params, why);
	if (r == 0)
		r = check_pairs(o, why->text, sizeof why->text);
	if (r == 0 && nm_is_given(o->engine))
		snprintf(why->text, sizeof why->text,
			 "engine=\"%.64s\" has no effect: OpenSSL 3 does without engines",
			 o->engine);
	else if (r == 0 && nm_is_given(o->ca) && !o->verify)
		snprintf(why->text, sizeof why->text, "ca=\"%.128s\" has no effect without verify",
			 o->ca);
	return r;
}

/* --- files --- */

/* Lent to OpenSSL while it reads a key. */
struct asked {
	const char *password;
	bool asked; /* the key is encrypted */
};

/* Never asks a terminal, as OpenSSL itself would. */
static int tell_password(char *buf, int size, int writing, void *arg)
{
	struct asked *asked = arg;
	size_t length = nm_is_given(asked->password) ? strlen(asked->password) : 0;

	(void)writing;
	asked->asked = true;
	if (!length || length > (size_t)size)
		return -1;
	memcpy(buf, asked->password, length);
	return (int)length;
}

/* A certificate and its key: files, and the options of one end that name them. */
struct pair {
	const char *cert_option, *key_option;
	const char *cert, *key;
};

/* The folder from which files are read, and room for what is wrong with one. */
struct reading {
	SSL_CTX *ctx;
	const struct nm_file_root *root; /* NULL: any */
	char *why;
	size_t why_size;
};

static int cannot(const struct reading *reading, const char *option, const char *path,
		  const char *reason)
{
	snprintf(reading->why, reading->why_size, "%s=\"%.128s\": %s", option, path, reason);
	return -EINVAL;
}

/* Reads the file, which OpenSSL is then given in memory: OpenSSL itself would wait for a file that
 * is not regular. NULL with a phrase in why. The caller frees the BIO and wipes the file. */
static BIO *read_file(const struct reading *reading, const char *option, const char *path,
		      struct nm_file *ret_file)
{
	char text[160];
	int r = nm_file_read(reading->root, path, ret_file, text, sizeof text);

	if (r < 0) {
		(void)cannot(reading, option, path, text);
		return NULL;
	}
	BIO *bio = BIO_new_mem_buf(ret_file->data, (int)ret_file->size);

	if (bio)
		return bio;
	nm_file_fini(ret_file);
	(void)cannot(reading, option, path, strerror(ENOMEM));
	return NULL;
}

/* Also compares the key with the certificate. */
static bool use_key(SSL_CTX *ctx, BIO *bio, struct asked *asked)
{
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, tell_password, asked);
	bool used = key && SSL_CTX_use_PrivateKey(ctx, key) == 1;

	EVP_PKEY_free(key);
	return used;
}

static int load_key(const struct reading *reading, const struct pair *pair, const char *password)
{
	bool apart = nm_is_given(pair->key);
	const char *key = apart ? pair->key : pair->cert;
	const char *option = apart ? pair->key_option : pair->cert_option;
	struct asked asked = {.password = password};
	struct nm_file file;
	char text[128];
	BIO *bio = read_file(reading, option, key, &file);

	if (!bio)
		return -EINVAL;
	bool used = use_key(reading->ctx, bio, &asked);

	BIO_free(bio);
	nm_file_fini(&file);
	if (used)
		return 0;
	if (asked.asked && !nm_is_given(password))
		return cannot(reading, option, key,
			      "the key is encrypted, and there is no password");
	snprintf(text, sizeof text, "no key of that certificate in PEM form%s: %s",
		 asked.asked ? ", or not with this password" : "", last_error());
	return cannot(reading, option, key, text);
}

/* The end of a file of PEM is an error of OpenSSL's. */
static bool at_end(void)
{
	unsigned long error = ERR_peek_last_error();

	if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
		return false;
	ERR_clear_error();
	return true;
}

/* Uses the certificate of this end, and the chain from it to an authority. */
static bool use_chain(SSL_CTX *ctx, BIO *bio)
{
	X509 *cert = PEM_read_bio_X509_AUX(bio, NULL, tell_password, &(struct asked){0});
	bool used = cert && SSL_CTX_use_certificate(ctx, cert) == 1 &&
		    SSL_CTX_clear_chain_certs(ctx) == 1;

	X509_free(cert);
	while (used && (cert = PEM_read_bio_X509(bio, NULL, tell_password, &(struct asked){0}))) {
		used = SSL_CTX_add0_chain_cert(ctx, cert) == 1;
		if (!used)
			X509_free(cert);
	}
	return used && at_end();
}

static int load_pair(const struct reading *reading, const struct pair *pair, const char *password)
{
	char text[128];
	struct nm_file file;
	BIO *bio = read_file(reading, pair->cert_option, pair->cert, &file);

	if (!bio)
		return -EINVAL;
	bool used = use_chain(reading->ctx, bio);

	BIO_free(bio);
	nm_file_fini(&file);
	if (!used) {
		snprintf(text, sizeof text, "no certificate in PEM form: %s", last_error());
		return cannot(reading, pair->cert_option, pair->cert, text);
	}
	return load_key(reading, pair, password);
}

/* Trusts all certificates of the file, and takes its lists of revoked ones. */
static bool trust(X509_STORE *store, BIO *bio)
{
	STACK_OF(X509_INFO) *found =
		PEM_X509_INFO_read_bio(bio, NULL, tell_password, &(struct asked){0});
	int count = 0;

	for (int i = 0; i < sk_X509_INFO_num(found); i++) {
		const X509_INFO *info = sk_X509_INFO_value(found, i);

		if (info->x509)
			count += X509_STORE_add_cert(store, info->x509);
		if (info->crl)
			count += X509_STORE_add_crl(store, info->crl);
	}
	sk_X509_INFO_pop_free(found, X509_INFO_free);
	return count > 0;
}

static int load_trusted(const struct reading *reading, const char *option, const char *path)
{
	char text[128];
	struct nm_file file;
	BIO *bio = read_file(reading, option, path, &file);

	if (!bio)
		return -EINVAL;
	bool trusted = trust(SSL_CTX_get_cert_store(reading->ctx), bio);

	BIO_free(bio);
	nm_file_fini(&file);
	if (trusted)
		return 0;
	snprintf(text, sizeof text, "no certificates in PEM form: %s", last_error());
	return cannot(reading, option, path, text);
}

/* --- the SSL_CTX --- */

static bool fill(X509 *cert, EVP_PKEY *key)
{
	X509_NAME *name = X509_get_subject_name(cert);

	return X509_set_version(cert, X509_VERSION_3) &&
	       ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) &&
	       X509_gmtime_adj(X509_getm_notBefore(cert), -DAY_S) &&
	       X509_gmtime_adj(X509_getm_notAfter(cert), 3650 * DAY_S) &&
	       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
					  (const unsigned char *)"netmodel", -1, -1, 0) &&
	       X509_set_issuer_name(cert, name) && X509_set_pubkey(cert, key) &&
	       X509_sign(cert, key, EVP_sha256()) > 0;
}

/* Makes a certificate where the user names none: it proves nothing, and costs as much as any
 * other. */
static int self_sign(SSL_CTX *ctx, bool rsa)
{
	EVP_PKEY *key = rsa ? EVP_RSA_gen(RSA_BITS) : EVP_EC_gen("P-256");
	X509 *cert = X509_new();
	bool done = key && cert && fill(cert, key) && SSL_CTX_use_certificate(ctx, cert) == 1 &&
		    SSL_CTX_use_PrivateKey(ctx, key) == 1;

	X509_free(cert);
	EVP_PKEY_free(key);
	return done ? 0 : -EIO;
}

/* Makes the certificates that the ciphers ask for. */
static int sign_own(SSL_CTX *ctx, const struct nm_ssl_params *params)
{
	const STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(ctx);
	bool rsa = false, ecdsa = params->max != TLS1_2_VERSION || !*params->ciphers;

	for (int i = 0; *params->ciphers && i < sk_SSL_CIPHER_num(ciphers); i++) {
		int by = SSL_CIPHER_get_auth_nid(sk_SSL_CIPHER_value(ciphers, i));

		rsa |= by == NID_auth_rsa;
		ecdsa |= by == NID_auth_ecdsa;
	}
	int r = ecdsa ? self_sign(ctx, false) : 0;

	return r == 0 && rsa ? self_sign(ctx, true) : r;
}

static int take_any(X509_STORE_CTX *store, void *arg)
{
	(void)store;
	(void)arg;
	return 1;
}

/* A connection that continues a session gets no other session: it would have to wait for that, see
 * nm_ssl_conn. */
static SSL_TICKET_RETURN renew_none(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
				    size_t name_size, SSL_TICKET_STATUS status, void *arg)
{
	(void)ssl;
	(void)session;
	(void)name;
	(void)name_size;
	(void)arg;
	switch (status) {
	case SSL_TICKET_SUCCESS:
	case SSL_TICKET_SUCCESS_RENEW:
		return SSL_TICKET_RETURN_USE;
	case SSL_TICKET_EMPTY:
	case SSL_TICKET_NO_DECRYPT:
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	default:
		return SSL_TICKET_RETURN_ABORT;
	}
}

static int set_accepting(const struct reading *reading, const struct nm_ssl_opts *o,
			 const struct nm_ssl_params *params)
{
	SSL_CTX *ctx = reading->ctx;
	static const unsigned char id[] = "netmodel";
	const struct pair pair = {"cert", "key", o->cert, o->key};
	int r = nm_is_given(o->cert) ? load_pair(reading, &pair, o->password)
				     : sign_own(ctx, params);

	if (r == 0 && nm_is_given(o->client_cert)) {
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
		if (nm_is_given(o->client_ca))
			r = load_trusted(reading, "client_ca", o->client_ca);
		else
			SSL_CTX_set_cert_verify_callback(ctx, take_any, NULL);
	}
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	if (r == 0 && o->session_reuse &&
	    (SSL_CTX_set_session_id_context(ctx, id, sizeof id - 1) != 1 ||
	     SSL_CTX_set_session_ticket_cb(ctx, NULL, renew_none, NULL) != 1))
		r = -ENOMEM;
	SSL_CTX_set_num_tickets(ctx, o->session_reuse ? 1 : 0);
	SSL_CTX_set_dh_auto(ctx, 1);
	return r;
}

/* The first session is kept for all connections that follow; a session of TLS 1.3 can be continued
 * more than once. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct nm_ssl_conn *conn = SSL_get_app_data(ssl);
	SSL_SESSION *none = NULL;

	conn->ticket = true;
	return atomic_compare_exchange_strong(&conn->peer->session, &none, session);
}

static bool is_address(const char *name)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

bool nm_ssl_expect(X509_VERIFY_PARAM *param, const struct nm_ssl_peer *peer)
{
	return (peer->is_address ? X509_VERIFY_PARAM_set1_ip_asc(param, peer->name)
				 : X509_VERIFY_PARAM_set1_host(param, peer->name, 0)) == 1;
}

/* Notes who is at the other end. */
static int set_peer(const struct reading *reading, struct nm_ssl_peer *peer, const char *name)
{
	X509_VERIFY_PARAM *scratch = X509_VERIFY_PARAM_new();

	if (strcmp(name, "local") == 0)
		name = "localhost";
	peer->is_address = is_address(name);
	snprintf(peer->name, sizeof peer->name, "%s", name);
	/* OpenSSL takes a name with a dot before it for any below that. */
	bool can_be = *name != '.' && scratch && nm_ssl_expect(scratch, peer);

	X509_VERIFY_PARAM_free(scratch);
	return can_be ? 0 : cannot(reading, "name", name, "no name that a certificate can have");
}

static int offer(SSL_CTX *ctx, const char *alpn)
{
	unsigned char wire[256];
	size_t n = strlen(alpn);

	wire[0] = (unsigned char)n;
	memcpy(wire + 1, alpn, n);
	return SSL_CTX_set_alpn_protos(ctx, wire, (unsigned)n + 1) == 0 ? 0 : -ENOMEM;
}

static int set_connecting(const struct reading *reading, struct nm_ssl_started *s,
			  const struct nm_ssl_opts *o, const struct nm_start *how)
{
	const struct pair pair = {"client_cert", "client_key", o->client_cert, o->client_key};
	int r = nm_is_given(o->client_cert) ? load_pair(reading, &pair, o->password) : 0;

	for (uint32_t i = 0; r == 0 && i < s->n_peers; i++)
		r = set_peer(reading, &s->peers[i],
			     nm_is_given(o->name) ? o->name
			     : how->n_servers	  ? how->servers[i]
						  : how->peer_name);
	if (r == 0 && s->alpn)
		r = offer(s->ctx, s->alpn);
	SSL_CTX_set_session_cache_mode(s->ctx, o->session_reuse ? SSL_SESS_CACHE_CLIENT |
									  SSL_SESS_CACHE_NO_INTERNAL
								: SSL_SESS_CACHE_OFF);
	if (o->session_reuse)
		SSL_CTX_sess_set_new_cb(s->ctx, keep_session);
	if (r < 0 || !o->verify)
		return r;
	SSL_CTX_set_verify(s->ctx, SSL_VERIFY_PEER, nm_ssl_note_refused);
	if (nm_is_given(o->ca))
		return load_trusted(reading, "ca", o->ca);
	return SSL_CTX_set_default_verify_paths(s->ctx) == 1 ? 0 : -ENOMEM;
}

static int set_common(SSL_CTX *ctx, const struct nm_ssl_opts *o, const struct nm_ssl_params *params)
{
	uint64_t options = SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF;

	if (!o->session_reuse)
		options |= SSL_OP_NO_TICKET;
	if (o->ktls)
		options |= SSL_OP_ENABLE_KTLS;
	SSL_CTX_set_options(ctx, options);
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				      SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_timeout(ctx, SESSION_S);
	/* The kernel must find its records whole. */
	if (!o->ktls) {
		SSL_CTX_set_read_ahead(ctx, 1);
		SSL_CTX_set_default_read_buffer_len(ctx, READ_BYTES);
	}
	if (SSL_CTX_set_min_proto_version(ctx, params->min) != 1 ||
	    SSL_CTX_set_max_proto_version(ctx, params->max) != 1 ||
	    (*params->ciphers && SSL_CTX_set_cipher_list(ctx, params->ciphers) != 1) ||
	    (*params->suites && SSL_CTX_set_ciphersuites(ctx, params->suites) != 1))
		return -EINVAL;
	return 0;
}

int nm_ssl_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		 size_t why_size)
{
	const struct nm_ssl_opts *o = opts;
	struct nm_ssl_params params;
	struct nm_why wrong = {.option = NULL};
	int tried = nm_inet_start(opts, how, ret_started, why, why_size);

	if (tried < 0)
		return tried;
	uint32_t n_peers = how->accepting ? 0 : how->n_servers ? how->n_servers : 1;
	struct nm_ssl_started *s = calloc(1, sizeof *s + n_peers * sizeof *s->peers);

	if (!s)
		return -ENOMEM;
	s->n_peers = n_peers;
	s->accepting = how->accepting;
	s->to_servers = how->n_servers > 0;
	s->verify = o->verify;
	s->alpn = how->alpn;
	s->reuse = o->session_reuse;
	s->nodelay = o->inet.nodelay;
	s->ctx = SSL_CTX_new(how->accepting ? TLS_server_method() : TLS_client_method());
	s->bio = o->ktls ? NULL : nm_ssl_bio_new();
	int r = s->ctx && (s->bio || o->ktls) ? nm_ssl_read_params(o, &params, &wrong) : -ENOMEM;

	const struct reading reading = {s->ctx, how->files, why, why_size};
	if (r == 0) {
		r = set_common(s->ctx, o, &params);
	}
	if (r == 0)
		r = how->accepting ? set_accepting(&reading, o, &params)
				   : set_connecting(&reading, s, o, how);
	if (r < 0) {
		if (*wrong.text)
			snprintf(why, why_size, "%s", wrong.text);
		else if (!*why)
			snprintf(why, why_size, "OpenSSL: %s", last_error());
		nm_ssl_stop(s);
		ERR_clear_error();
		return r;
	}
	ERR_clear_error();
	*ret_started = s;
	return 0;
}

void nm_ssl_stop(void *started)
{
	struct nm_ssl_started *s = started;

	for (uint32_t i = 0; i < s->n_peers; i++)
		SSL_SESSION_free(atomic_load(&s->peers[i].session));
	SSL_CTX_free(s->ctx);
	BIO_meth_free(s->bio);
	free(s);
}
