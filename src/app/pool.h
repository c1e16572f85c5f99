/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of values: bytes that look random and are always the same. The value of a key is a slice
 * that begins at a place which is a function of the key's number, so that a value that comes back
 * can be checked without memory of what was stored. Slices go round: behind the last byte of the
 * pool comes its first. */
#ifndef NM_APP_POOL_H
#define NM_APP_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_POOL_BYTES 65536u
#define NM_POOL_CHUNK 10240u /* 2800 in hexadecimal */

/* Immutable once it is made: any thread may read it. */
struct nm_pool {
	char bytes[NM_POOL_BYTES];
	char text[NM_POOL_BYTES]; /* letters and digits alone */
	/* the first of its bytes as a chunk of HTTP (RFC 9112, 7.1) */
	char chunk[sizeof "2800\r\n" - 1 + NM_POOL_CHUNK + sizeof "\r\n" - 1];
};

struct nm_pool *nm_pool_new(void);		    /* NULL when out of memory */
struct nm_pool *nm_pool_free(struct nm_pool *pool); /* accepts NULL, returns NULL */

/* Where the value of a number begins. */
uint64_t nm_pool_at(uint64_t number);
/* Copies n bytes of a pool that begin at a place. */
void nm_pool_copy(const char *pool, uint64_t at, char *buf, size_t n);
/* Whether the n bytes of data are those of the pool. */
bool nm_pool_equals(const char *pool, uint64_t at, const char *data, size_t n);

#endif
