/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of DNS queries: names as they are on the wire, and of what type the records are
 * that are asked for. They belong to the plan. Any thread. */
#ifndef NM_APP_QUESTION_H
#define NM_APP_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/keyspace.h"

#define NM_NAME_MAX	255u /* bytes of a name on the wire */
#define NM_LABEL_MAX	63u
#define NM_QUESTION_MAX (NM_NAME_MAX + 4u) /* a name, a type and a class */

/* As it is on the wire: a name, a type and a class. */
struct nm_question {
	uint16_t length;
	const unsigned char *wire;
};

/* What a query asks for: the question of the key that is drawn for each request. The keyspace comes
 * first, so that a request's keyspace stands for it. */
struct nm_questions {
	struct nm_keyspace keys;
	bool labels; /* there is one question, and before its name the text of the key is a label */
	bool recursion, dnssec;		/* RD, and DO of EDNS */
	uint16_t edns_bytes;		/* of an answer over UDP, by EDNS; 0: no EDNS */
	const struct nm_question *list; /* keys.count, or one */
};

static inline const struct nm_questions *nm_questions_of(const struct nm_keyspace *keyspace)
{
	return (const struct nm_questions *)(const void *)keyspace;
}

/* Puts type and class behind a name of so many bytes, for which there is room: how many bytes the
 * question has. */
uint16_t nm_question_end(unsigned char *name, uint8_t length, uint16_t type);
/* Writes the name, the type and the class of what a key asks for: how many bytes. */
size_t nm_question_put(const struct nm_questions *questions, uint64_t key, unsigned char *buf);
/* How many bytes the question has with which data begins, of which n bytes are there, if it is that
 * one, letters in any case: the other end may change it. 0: it is not. */
size_t nm_question_take(const struct nm_questions *questions, uint64_t key,
			const unsigned char *data, size_t n);

/* Reads n bytes of a name as zone files have it, "www.example.com", with \. and \DDD; it is
 * absolute. wire has room for NM_NAME_MAX bytes. 0, or -EINVAL with a phrase in why. */
int nm_name_read(const char *text, size_t n, unsigned char *wire, uint8_t *ret_length, char *why,
		 size_t why_size);
/* Reads n bytes of a type: "AAAA", "TYPE28". 0, or -EINVAL with a phrase in why. */
int nm_type_read(const char *text, size_t n, uint16_t *ret_type, char *why, size_t why_size);

#endif
