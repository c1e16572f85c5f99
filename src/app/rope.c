/* SPDX-License-Identifier: Apache-2.0 */
/* Adds to answers that wait, and copies what is sent next. */
#include "app/rope.h"

#include <string.h>

void nm_rope_add(struct nm_rope *rope, const char *text, size_t n)
{
	memcpy(rope->text + rope->n_text, text, n);
	rope->n_text += n;
	rope->total += n;
}

void nm_rope_add_body(struct nm_rope *rope, const struct nm_rope_body *body)
{
	rope->bodies[rope->n_bodies] = *body;
	rope->bodies[rope->n_bodies++].before = rope->n_text;
	rope->total += body->bytes;
}

/* A copy that leaves out what is sent already. */
struct copying {
	uint64_t skip;
	char *buf;
	size_t used, room;
};

/* Takes n bytes of a piece: the first of them that count, or none. */
static size_t piece(struct copying *copying, uint64_t n, uint64_t *ret_from)
{
	uint64_t from = copying->skip < n ? copying->skip : n;
	size_t room = copying->room - copying->used;

	copying->skip -= from;
	*ret_from = from;
	return n - from < room ? (size_t)(n - from) : room;
}

static void copy_text(struct copying *copying, const char *text, size_t n)
{
	uint64_t from;
	size_t some = piece(copying, n, &from);

	memcpy(copying->buf + copying->used, text + from, some);
	copying->used += some;
}

static void copy_body(struct copying *copying, const struct nm_rope_body *body)
{
	uint64_t from;
	size_t n = piece(copying, body->bytes, &from);

	for (size_t done = 0; done < n;) {
		uint64_t at = (body->at + from + done) % body->wrap, left = body->wrap - at;
		size_t some = left < n - done ? (size_t)left : n - done;

		memcpy(copying->buf + copying->used, body->data + at, some);
		copying->used += some;
		done += some;
	}
}

size_t nm_rope_next(const struct nm_rope *rope, char *buf, size_t room, char **ret)
{
	if (!rope->n_bodies) {
		*ret = rope->text + rope->sent;
		return (size_t)(rope->total - rope->sent);
	}
	*ret = buf;

	const uint64_t left = rope->total - rope->sent;
	struct copying copying = {
		.skip = rope->sent, .buf = buf, .room = left < room ? (size_t)left : room};
	size_t text = 0;

	for (uint32_t i = 0; i < rope->n_bodies; i++) {
		copy_text(&copying, rope->text + text, rope->bodies[i].before - text);
		copy_body(&copying, &rope->bodies[i]);
		text = rope->bodies[i].before;
	}
	copy_text(&copying, rope->text + text, rope->n_text - text);
	return copying.used;
}

void nm_rope_advance(struct nm_rope *rope, size_t n)
{
	rope->sent += n;
	if (rope->sent >= rope->total)
		nm_rope_clear(rope);
}

void nm_rope_cut(struct nm_rope *rope, size_t n)
{
	rope->total -= rope->n_text - n;
	rope->n_text = n;
}

void nm_rope_clear(struct nm_rope *rope)
{
	rope->n_text = rope->n_bodies = 0;
	rope->total = rope->sent = 0;
}
