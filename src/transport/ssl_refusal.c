/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates that are refused: which, why, and what to type. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/x509v3.h>

#include "transport/ssl_priv.h"

#define WORDS 96 /* bytes of what a certificate says of itself */

/* The common name, or the whole name where it has none. */
static void put_name(const X509_NAME *name, char *buf, size_t size)
{
	if (X509_NAME_get_text_by_NID(name, NID_commonName, buf, (int)size) <= 0)
		(void)X509_NAME_oneline(name, buf, (int)size);
}

/* One of the names that the certificate is for; "": it is nothing that a host has. */
static void put_general(const GENERAL_NAME *name, char *buf, size_t size)
{
	const ASN1_STRING *text = name->type == GEN_DNS	    ? name->d.dNSName
				  : name->type == GEN_IPADD ? name->d.iPAddress
							    : NULL;
	const void *bytes = text ? ASN1_STRING_get0_data(text) : NULL;

	*buf = '\0';
	if (name->type == GEN_DNS)
		snprintf(buf, size, "%.*s", ASN1_STRING_length(text), (const char *)bytes);
	else if (bytes)
		(void)inet_ntop(ASN1_STRING_length(text) == 4 ? AF_INET : AF_INET6, bytes, buf,
				(socklen_t)size);
}

/* Whom the certificate is for. *ret_addresses: whether an address is among them, other than as a
 * common name, where nobody looks for one. */
static void put_names(const X509 *cert, char *buf, size_t size, bool *ret_addresses)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	char one[WORDS];
	size_t used = 0;

	*ret_addresses = false;
	put_name(X509_get_subject_name(cert), buf, size);
	for (int i = 0; i < sk_GENERAL_NAME_num(names) && used + 1 < size; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		int length = name->type == GEN_IPADD ? ASN1_STRING_length(name->d.iPAddress) : 4;

		if (length != 4 && length != 16)
			continue;
		put_general(name, one, sizeof one);
		*ret_addresses |= name->type == GEN_IPADD;
		if (*one)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 one);
	}
	GENERAL_NAMES_free(names);
}

static bool is_mismatch(long error)
{
	return error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

int nm_ssl_note_refused(int ok, X509_STORE_CTX *store)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct nm_ssl_conn *conn = SSL_get_app_data(ssl);
	const X509 *cert = X509_STORE_CTX_get_current_cert(store);
	char names[WORDS] = "", issuer[WORDS / 2] = "", text[2 * WORDS];

	if (ok || !cert || conn->refused)
		return ok;
	if (is_mismatch(X509_STORE_CTX_get_error(store))) {
		bool is_address = X509_STORE_CTX_get_error(store) == X509_V_ERR_IP_ADDRESS_MISMATCH;
		bool addresses;

		put_names(cert, names, sizeof names, &addresses);
		snprintf(text, sizeof text, "it is for %s%s", names,
			 is_address && !addresses ? ", and its subjectAltName has no address" : "");
	} else {
		put_name(X509_get_subject_name(cert), names, sizeof names / 2);
		put_name(X509_get_issuer_name(cert), issuer, sizeof issuer);
		snprintf(text, sizeof text, "%s, signed by %s", names, issuer);
	}
	/* The other end has written it. */
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	conn->refused = strdup(text);
	return ok;
}

void nm_ssl_refusal(const struct nm_ssl_conn *conn, char *buf, size_t size)
{
	const long error = SSL_get_verify_result(conn->ssl);
	const char *reason = X509_verify_cert_error_string(error);
	const char *option = !conn->peer ? "client_ca" : is_mismatch(error) ? "name" : "ca";

	if (conn->started->to_servers)
		snprintf(buf, size,
			 "the certificate of %.64s is refused: %s: %s (%s; verify=no takes any)",
			 conn->peer->name, reason, conn->refused ? conn->refused : "",
			 is_mismatch(error) ? "name=... expects another name"
					    : "ca=FILE has who may sign");
	else
		snprintf(buf, size, "the certificate of the other end is refused: %s (see %s)",
			 reason, option);
}
