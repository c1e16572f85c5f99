/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a certificate where the user names none: it proves nothing, and costs as much as any
 * other. */
#include <errno.h>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "transport/ssl_priv.h"

#define RSA_BITS 2048
#define DAY_S	 86400L

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

int nm_ssl_self_signed(SSL_CTX *ctx, bool rsa)
{
	EVP_PKEY *key = rsa ? EVP_RSA_gen(RSA_BITS) : EVP_EC_gen("P-256");
	X509 *cert = X509_new();
	bool done = key && cert && fill(cert, key) && SSL_CTX_use_certificate(ctx, cert) == 1 &&
		    SSL_CTX_use_PrivateKey(ctx, key) == 1;

	X509_free(cert);
	EVP_PKEY_free(key);
	return done ? 0 : -EIO;
}
