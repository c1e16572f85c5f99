/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that waits to be sent: text of its own with bytes of others in between, which are not
 * copied before they are sent. */
#ifndef NM_APP_ROPE_H
#define NM_APP_ROPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_ROPE_BODIES 4u

/* Bytes of others: `bytes` of them from data + at on, which go round after `wrap` bytes. */
struct nm_rope_body {
	const char *data;
	uint64_t at, wrap, bytes;
	uint64_t place; /* in the store; 0: of no store */
	size_t before;	/* so much text comes before it */
};

struct nm_rope {
	char *text;	      /* the caller's */
	size_t n_text, room;  /* of which so much is used, and so much there is */
	uint64_t total, sent; /* bytes */
	uint32_t n_bodies;
	struct nm_rope_body bodies[NM_ROPE_BODIES];
};

/* Whether there is room for so much text, and for one more body. */
static inline bool nm_rope_has_room(const struct nm_rope *rope, size_t text)
{
	return text <= rope->room - rope->n_text && rope->n_bodies < NM_ROPE_BODIES;
}

/* Adds text, for which there is room. */
void nm_rope_add(struct nm_rope *rope, const char *text, size_t n);
/* Adds a body, for which there is room; rope and text stay as they are. */
void nm_rope_add_body(struct nm_rope *rope, const struct nm_rope_body *body);
/* What has to be sent next: how much. It is in the text where nothing else is in between, and else
 * copied into buf, which has `room` bytes. */
size_t nm_rope_next(const struct nm_rope *rope, char *buf, size_t room, char **ret);
/* So much of it is sent. A rope of which all is sent is empty. */
void nm_rope_advance(struct nm_rope *rope, size_t n);

/* Drops the text behind the first n bytes of it, which no body is behind. */
void nm_rope_cut(struct nm_rope *rope, size_t n);
/* Drops all of it. */
void nm_rope_clear(struct nm_rope *rope);

static inline bool nm_rope_is_empty(const struct nm_rope *rope)
{
	return rope->total == 0;
}

#endif
