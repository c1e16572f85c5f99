/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of a profile, and random numbers that nobody can guess. */
#include "control/wire/digest.h"

#include <errno.h>
#include <sys/random.h>

#include <openssl/evp.h>

static void to_hex(const unsigned char *bytes, size_t size, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		*hex++ = digits[bytes[i] >> 4];
		*hex++ = digits[bytes[i] & 15];
	}
	*hex = '\0';
}

int nm_digest_sha256(const void *data, size_t size, char ret_hex[NM_SHA256_HEX])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int length = 0;

	if (!EVP_Digest(data, size, digest, &length, EVP_sha256(), NULL) ||
	    length * 2 + 1 != NM_SHA256_HEX)
		return -EIO;
	to_hex(digest, length, ret_hex);
	return 0;
}

int nm_random_bytes(unsigned char *to, size_t size)
{
	ssize_t n;

	do {
		n = getrandom(to, size, 0);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0; /* so few bytes are never cut short */
}

int nm_run_id_make(char ret_hex[NM_RUN_ID_HEX])
{
	unsigned char id[(NM_RUN_ID_HEX - 1) / 2];
	int r = nm_random_bytes(id, sizeof id);

	if (r == 0)
		to_hex(id, sizeof id, ret_hex);
	return r;
}
