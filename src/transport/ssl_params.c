/* SPDX-License-Identifier: Apache-2.0 */
/* method= and cipher=: which version, and which ciphers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <openssl/err.h>

#include "transport/ssl_priv.h"

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(word, *words) == 0)
			return true;
	return false;
}

static int read_method(const char *method, struct nm_ssl_params *ret, char *why, size_t why_size)
{
	static const char *const any[] = {"TLS", "SSLv23", NULL};
	static const char *const v1_2[] = {"TLSv1.2", "TLSv1_2", "TLS1.2", NULL};
	static const char *const v1_3[] = {"TLSv1.3", "TLSv1_3", "TLS1.3", NULL};
	static const char *const old[] = {"SSLv2",   "SSLv3",	"TLSv1",  "TLSv1.0", "TLSv1_0",
					  "TLSv1.1", "TLSv1_1", "TLS1.0", "TLS1.1",  NULL};

	ret->min = TLS1_2_VERSION;
	ret->max = 0;
	if (!nm_is_given(method) || is_one_of(method, any))
		return 0;
	if (is_one_of(method, v1_2)) {
		ret->max = TLS1_2_VERSION;
		return 0;
	}
	if (is_one_of(method, v1_3)) {
		ret->min = TLS1_3_VERSION;
		return 0;
	}
	snprintf(why, why_size,
		 "method=\"%.64s\": %s; must be TLSv1.2, TLSv1.3, or TLS for the newest that both "
		 "ends have",
		 method, is_one_of(method, old) ? "too old, and no longer safe" : "unknown");
	return -EINVAL;
}

/* Whether the word is a suite of TLS 1.3: names of TLS 1.2 that begin with TLS_ all have a WITH. */
static bool is_suite(const char *word)
{
	return strncmp(word, "TLS_", 4) == 0 && !strstr(word, "_WITH_");
}

static bool append(char list[NM_SSL_WORDS], const char *word)
{
	size_t used = strlen(list);

	return (size_t)snprintf(list + used, NM_SSL_WORDS - used, "%s%s", used ? ":" : "", word) <
	       NM_SSL_WORDS - used;
}

/* Whether certificates are enough for one of the ciphers: ciphers with a secret shared beforehand
 * cannot be used. */
static bool any_usable(const SSL_CTX *scratch)
{
	const STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers(scratch);

	for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); i++) {
		int exchange = SSL_CIPHER_get_kx_nid(sk_SSL_CIPHER_value(ciphers, i));

		if (exchange == NID_kx_rsa || exchange == NID_kx_dhe || exchange == NID_kx_ecdhe)
			return true;
	}
	return false;
}

static bool is_known(SSL_CTX *scratch, const char *word)
{
	if (!*word)
		return false;
	if (strchr("!-+@", *word)) /* changes what other words have chosen */
		return true;
	if (is_suite(word))
		return SSL_CTX_set_ciphersuites(scratch, word) == 1;
	return SSL_CTX_set_cipher_list(scratch, word) == 1 && any_usable(scratch);
}

/* Takes one word of cipher=. OpenSSL itself passes over words that it does not know, as long as it
 * knows another. */
static int take_word(SSL_CTX *scratch, struct nm_ssl_params *params, char *why, size_t why_size)
{
	const char *word = params->word;
	bool known = is_known(scratch, word);

	ERR_clear_error();
	if (known)
		return append(is_suite(word) ? params->suites : params->ciphers, word) ? 0
										       : -ENOMEM;
	snprintf(why, why_size,
		 "cipher: \"%.64s\" is nothing that OpenSSL %s can do with certificates (openssl "
		 "ciphers -s -v lists what it can)",
		 word, OpenSSL_version(OPENSSL_VERSION_STRING));
	return -EINVAL;
}

/* The words decide about the version where method= leaves it open: otherwise a list for the one
 * would have no effect when the ends agree upon the other. */
static int fit_version(struct nm_ssl_params *params, const char *method, char *why, size_t why_size)
{
	bool old_only = !*params->suites, new_only = !*params->ciphers;

	if (new_only && params->max != TLS1_2_VERSION) {
		params->min = TLS1_3_VERSION;
		return 0;
	}
	if (old_only && params->min != TLS1_3_VERSION) {
		params->max = TLS1_2_VERSION;
		return 0;
	}
	if (!old_only && !new_only)
		return 0;
	snprintf(why, why_size, "cipher: \"%.64s\" is for TLSv1.%c, but method is %s",
		 old_only ? params->ciphers : params->suites, old_only ? '2' : '3', method);
	return -EINVAL;
}

static int read_ciphers(const char *cipher, const char *method, struct nm_ssl_params *params,
			char *why, size_t why_size)
{
	SSL_CTX *scratch = SSL_CTX_new(TLS_method());
	int r = scratch ? 0 : -ENOMEM;

	for (const char *at = cipher; r == 0; at++) {
		size_t n = strcspn(at, ":");

		snprintf(params->word, sizeof params->word, "%.*s", (int)n, at);
		r = n < sizeof params->word ? take_word(scratch, params, why, why_size) : -ENOMEM;
		at += n;
		if (!*at)
			break;
	}
	SSL_CTX_free(scratch);
	if (r == -ENOMEM)
		snprintf(why, why_size, "cipher: too long, or out of memory");
	return r < 0 ? r : fit_version(params, method, why, why_size);
}

int nm_ssl_read_params(const struct nm_ssl_opts *o, struct nm_ssl_params *ret, struct nm_why *why)
{
	*ret = (struct nm_ssl_params){.min = 0};
	why->option = "method";
	int r = read_method(o->method, ret, why->text, sizeof why->text);

	if (r == 0 && nm_is_given(o->cipher)) {
		why->option = "cipher";
		r = read_ciphers(o->cipher, o->method, ret, why->text, sizeof why->text);
	}
	return r;
}
