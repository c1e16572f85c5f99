/* SPDX-License-Identifier: Apache-2.0 */
/* Codes over bytes that only an owner of the key can make (HMAC-SHA256, cut to 128 bits): by them
 * the hosts of a run know each other's data connections. */
#ifndef NM_TRANSPORT_PROVER_H
#define NM_TRANSPORT_PROVER_H

#include <stdbool.h>
#include <stddef.h>

#include "transport/optional.h"

#define NM_PROOF_BYTES 16

/* One thread's own, with its key in it. */
struct nm_prover;

/* A prover whose key is the data token of the run, which is derived from its secret. NULL: no
 * memory. */
struct nm_prover *nm_prover_new(const unsigned char secret[NM_SECRET_BYTES]);
/* A prover with a random key that nobody else has. NULL: no memory, or no random bytes. */
struct nm_prover *nm_prover_new_random(void);
struct nm_prover *nm_prover_free(struct nm_prover *prover); /* accepts NULL, returns NULL */

/* The code over the bytes of a and those of b behind them. False: no memory, and ret is zero. */
bool nm_prover_code(struct nm_prover *prover, const void *a, size_t a_size, const void *b,
		    size_t b_size, unsigned char ret[NM_PROOF_BYTES]);

#endif
