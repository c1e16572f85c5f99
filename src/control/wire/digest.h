/* SPDX-License-Identifier: Apache-2.0 */
/* Names of things: the digest of a profile, the number of a run. */
#ifndef NM_CONTROL_WIRE_DIGEST_H
#define NM_CONTROL_WIRE_DIGEST_H

#include <stddef.h>

#define NM_SHA256_HEX 65
#define NM_RUN_ID_HEX 33

/* SHA-256 in hex; 0 or -EIO. */
int nm_digest_sha256(const void *data, size_t size, char ret_hex[NM_SHA256_HEX]);
/* At most 256; 0 or -errno. */
int nm_random_bytes(unsigned char *to, size_t size);
/* 128 random bits in hex; 0 or -errno. */
int nm_run_id_make(char ret_hex[NM_RUN_ID_HEX]);

#endif
