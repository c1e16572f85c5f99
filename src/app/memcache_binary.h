/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of memcached's binary protocol, as both ends of app=memcache_binary see them: a header,
 * extras, a key and a value. */
#ifndef NM_APP_MEMCACHE_BINARY_H
#define NM_APP_MEMCACHE_BINARY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stats/answers.h"

#define NM_BINARY_REQUEST 0x80u /* the first byte */
#define NM_BINARY_ANSWER  0x81u

#define NM_BINARY_HEADER       24u
#define NM_BINARY_SET_EXTRAS   8u	  /* flags, and seconds to live */
#define NM_BINARY_GET_EXTRAS   4u	  /* of its answer: flags */
#define NM_BINARY_COUNT_EXTRAS 20u	  /* by how much, the first number, and seconds to live */
#define NM_BINARY_COUNT_BYTES  8u	  /* of its answer: the number */
#define NM_BINARY_NEVER	       UINT32_MAX /* for seconds to live: there is no first number */
#define NM_BINARY_TOUCH_EXTRAS 4u /* seconds to live; of its answer, at some servers: flags */

enum nm_binary_opcode {
	NM_BINARY_GET = 0x00,
	NM_BINARY_SET = 0x01,
	NM_BINARY_ADD = 0x02,
	NM_BINARY_REPLACE = 0x03,
	NM_BINARY_DELETE = 0x04,
	NM_BINARY_INCR = 0x05,
	NM_BINARY_DECR = 0x06,
	NM_BINARY_QUIT = 0x07,
	NM_BINARY_FLUSH = 0x08,
	NM_BINARY_GETQ = 0x09,
	NM_BINARY_NOOP = 0x0a,
	NM_BINARY_VERSION = 0x0b,
	NM_BINARY_GETK = 0x0c,
	NM_BINARY_GETKQ = 0x0d,
	NM_BINARY_APPEND = 0x0e,
	NM_BINARY_PREPEND = 0x0f,
	NM_BINARY_STAT = 0x10,
	NM_BINARY_SETQ = 0x11,
	NM_BINARY_ADDQ = 0x12,
	NM_BINARY_REPLACEQ = 0x13,
	NM_BINARY_DELETEQ = 0x14,
	NM_BINARY_INCRQ = 0x15,
	NM_BINARY_DECRQ = 0x16,
	NM_BINARY_QUITQ = 0x17,
	NM_BINARY_FLUSHQ = 0x18,
	NM_BINARY_APPENDQ = 0x19,
	NM_BINARY_PREPENDQ = 0x1a,
	NM_BINARY_TOUCH = 0x1c,
	NM_BINARY_GAT = 0x1d,
	NM_BINARY_GATQ = 0x1e,
	NM_BINARY_SASL_AUTH = 0x21,
	NM_BINARY_GATK = 0x23,
	NM_BINARY_GATKQ = 0x24,
};

#define NM_BINARY_STATUS_(name, number) NM_BINARY_##name = (number),
enum nm_binary_status { NM_BINARY_OK = 0, NM_MEMCACHE_STATUSES(NM_BINARY_STATUS_) };
#undef NM_BINARY_STATUS_

/* A header, but for what names none: bytes of a name, of extras and of all behind the header. */
struct nm_binary_header {
	uint8_t magic, opcode, extras, type;
	uint16_t key, status; /* of a request the status is 0 */
	uint32_t body, opaque;
	uint64_t cas; /* as it is sent */
};

static inline uint32_t nm_binary_get(const char *at)
{
	const unsigned char *byte = (const unsigned char *)at;

	return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

static inline char *nm_binary_put(char *at, uint32_t value)
{
	const unsigned char bytes[] = {(unsigned char)(value >> 24), (unsigned char)(value >> 16),
				       (unsigned char)(value >> 8), (unsigned char)value};

	memcpy(at, bytes, sizeof bytes);
	return at + sizeof bytes;
}

static inline struct nm_binary_header nm_binary_read(const char *at)
{
	const uint32_t first = nm_binary_get(at), second = nm_binary_get(at + 4);
	struct nm_binary_header header = {.magic = (uint8_t)(first >> 24),
					  .opcode = (uint8_t)(first >> 16),
					  .key = (uint16_t)first,
					  .extras = (uint8_t)(second >> 24),
					  .type = (uint8_t)(second >> 16),
					  .status = (uint16_t)second,
					  .body = nm_binary_get(at + 8),
					  .opaque = nm_binary_get(at + 12)};

	memcpy(&header.cas, at + 16, sizeof header.cas);
	return header;
}

static inline char *nm_binary_put_wide(char *at, uint64_t value)
{
	return nm_binary_put(nm_binary_put(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static inline uint64_t nm_binary_get_wide(const char *at)
{
	return (uint64_t)nm_binary_get(at) << 32 | nm_binary_get(at + 4);
}

/* Its end: NM_BINARY_HEADER bytes behind. */
static inline __attribute__((always_inline)) char *
nm_binary_write(char *at, const struct nm_binary_header *header)
{
	at = nm_binary_put(at, (uint32_t)header->magic << 24 | (uint32_t)header->opcode << 16 |
				       header->key);
	at = nm_binary_put(at, (uint32_t)header->extras << 24 | (uint32_t)header->type << 16 |
				       header->status);
	at = nm_binary_put(nm_binary_put(at, header->body), header->opaque);
	memcpy(at, &header->cas, sizeof header->cas);
	return at + sizeof header->cas;
}

#endif
