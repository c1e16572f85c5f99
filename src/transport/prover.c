/* SPDX-License-Identifier: Apache-2.0 */
/* The codes of preambles, by OpenSSL; EVP_MAC-HMAC(7ssl). */
#include "transport/prover.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#define KEY_BYTES 32

/* The label by which the token is derived: the secret has other uses, too. */
static const char label[] = "netmodel data connections";

struct nm_prover {
	EVP_MAC_CTX *keyed;
};

static struct nm_prover *new_with(const unsigned char key[KEY_BYTES])
{
	char digest[] = "SHA256";
	const OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end()};
	struct nm_prover *prover = calloc(1, sizeof *prover);
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);

	if (prover && mac)
		prover->keyed = EVP_MAC_CTX_new(mac);
	EVP_MAC_free(mac);
	if (prover && prover->keyed && EVP_MAC_init(prover->keyed, key, KEY_BYTES, params) == 1)
		return prover;
	ERR_clear_error();
	return nm_prover_free(prover);
}

struct nm_prover *nm_prover_new(const unsigned char secret[NM_SECRET_BYTES])
{
	unsigned char token[KEY_BYTES];
	size_t size = 0;
	struct nm_prover *prover = NULL;

	if (EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, secret, NM_SECRET_BYTES,
		      (const unsigned char *)label, sizeof label - 1, token, sizeof token, &size) &&
	    size == sizeof token)
		prover = new_with(token);
	else
		ERR_clear_error();
	OPENSSL_cleanse(token, sizeof token);
	return prover;
}

struct nm_prover *nm_prover_new_random(void)
{
	unsigned char key[KEY_BYTES];
	struct nm_prover *prover = NULL;

	if (getrandom(key, sizeof key, 0) == (ssize_t)sizeof key)
		prover = new_with(key);
	OPENSSL_cleanse(key, sizeof key);
	return prover;
}

struct nm_prover *nm_prover_free(struct nm_prover *prover)
{
	if (prover)
		EVP_MAC_CTX_free(prover->keyed);
	free(prover);
	return NULL;
}

bool nm_prover_code(struct nm_prover *prover, const void *a, size_t a_size, const void *b,
		    size_t b_size, unsigned char ret[NM_PROOF_BYTES])
{
	unsigned char whole[KEY_BYTES];
	size_t size = 0;

	/* Without a key EVP_MAC_init begins anew with the key that the context has. */
	if (EVP_MAC_init(prover->keyed, NULL, 0, NULL) == 1 &&
	    EVP_MAC_update(prover->keyed, a, a_size) == 1 &&
	    EVP_MAC_update(prover->keyed, b, b_size) == 1 &&
	    EVP_MAC_final(prover->keyed, whole, &size, sizeof whole) == 1) {
		memcpy(ret, whole, NM_PROOF_BYTES);
		return true;
	}
	ERR_clear_error();
	memset(ret, 0, NM_PROOF_BYTES);
	return false;
}
