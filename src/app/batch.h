/* SPDX-License-Identifier: Apache-2.0 */
/* Several keys of one request, each drawn by itself, so that one may be there twice. Of a get a
 * server leaves out those that it does not have, and may answer in any order. Of a set it answers
 * those alone that it refuses; what ends the answer tells that it has taken all. */
#ifndef NM_APP_BATCH_H
#define NM_APP_BATCH_H

#include "app/app.h"

/* The most keys: a power of 2, by which the numbers of keys and of requests are told apart. */
#define NM_BATCH_MAX 128u

/* What a connection notes of such a request: which keys have been answered. */
struct nm_batch {
	uint32_t count; /* keys of the request */
	uint32_t next;	/* behind the last one */
	uint64_t answered[NM_BATCH_MAX / 64];
};

/* How the keys of a request have been answered so far: parser->check. The others are missed. */
#define NM_BATCH_HIT	 1u
#define NM_BATCH_REFUSED 256u
static inline uint32_t nm_batch_hits(uint32_t check)
{
	return check % NM_BATCH_REFUSED;
}
static inline uint32_t nm_batch_refused(uint32_t check)
{
	return check / NM_BATCH_REFUSED % 256;
}

/* The number of the i-th key; request->key says where they are drawn from. */
uint64_t nm_batch_key(const struct nm_app_request *request, uint32_t i);
/* The number that is sent with the i-th key: no other key of the connection has it for long. */
static inline uint32_t nm_batch_number(const struct nm_app_request *request, uint32_t i)
{
	return request->number * NM_BATCH_MAX + i;
}

/* Writes the value of a key: its end. */
char *nm_batch_put_value(const struct nm_app_request *request, uint64_t key, char *at);

/* The value of a key has come, by its text or by the number that was sent with it: it begins there
 * in the pool. False: it was not asked for, or has come already. */
bool nm_batch_take(struct nm_app_parser *parser, const struct nm_app_request *request,
		   const char *key, size_t n, uint64_t *ret_at);
bool nm_batch_take_number(struct nm_app_parser *parser, const struct nm_app_request *request,
			  uint32_t number, uint64_t *ret_at);
/* One of them was refused, with parser->answer, which was that one before: those that were refused
 * for different reasons have no name of their own. BAD: all have been answered. */
enum nm_parsed nm_batch_refuse(struct nm_app_parser *parser, const struct nm_app_request *request,
			       uint8_t before);

#endif
