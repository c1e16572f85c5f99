/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/uncopied.h"

#include <stdlib.h>

#include "base/draw.h"
#include "transport/zerocopy.h"

#define PAGE 4096u /* the fewer pages a train is in, the better: a packet has 17 at most */

struct slot {
	const struct nm_conn *conn; /* whose sends use it; NULL: free */
	uint32_t first, count, left;
};

struct nm_uncopied {
	char *bytes;
	unsigned next; /* where a free one is looked for first */
	struct slot slots[NM_UNCOPIED_SLOTS];
};

struct nm_uncopied *nm_uncopied_new(void)
{
	struct nm_uncopied *pool = calloc(1, sizeof *pool);
	const size_t bytes = (size_t)NM_UNCOPIED_SLOTS * NM_UNCOPIED_BYTES;

	if (!pool)
		return NULL;
	pool->bytes = aligned_alloc(PAGE, bytes);
	if (!pool->bytes)
		return nm_uncopied_free(pool);
	nm_draw_fill(pool->bytes, bytes);
	return pool;
}

struct nm_uncopied *nm_uncopied_free(struct nm_uncopied *pool)
{
	if (pool)
		free(pool->bytes);
	free(pool);
	return NULL;
}

int nm_uncopied_begin(struct nm_uncopied *pool, struct nm_conn *conn)
{
	if (conn->flags & NM_CONN_ZEROCOPY)
		return 0;
	int r = nm_zerocopy_allow(conn);

	if (r < 0)
		return r;
	conn->uncopied = 0;
	/* Of the socket that it had before nothing more will be told. */
	for (unsigned i = 0; i < NM_UNCOPIED_SLOTS; i++)
		if (pool->slots[i].conn == conn)
			pool->slots[i].conn = NULL;
	return 0;
}

char *nm_uncopied_take(struct nm_uncopied *pool, const struct nm_conn *conn, unsigned *ret_slot)
{
	for (unsigned i = 0; i < NM_UNCOPIED_SLOTS; i++) {
		unsigned slot = (pool->next + i) % NM_UNCOPIED_SLOTS;
		const struct nm_conn *user = pool->slots[slot].conn;

		/* A connection that is closed is told nothing any more. */
		if (user && (user->flags & NM_CONN_ZEROCOPY))
			continue;
		pool->slots[slot] = (struct slot){.conn = conn};
		pool->next = (slot + 1) % NM_UNCOPIED_SLOTS;
		*ret_slot = slot;
		return pool->bytes + (size_t)slot * NM_UNCOPIED_BYTES;
	}
	return NULL;
}

void nm_uncopied_give_back(struct nm_uncopied *pool, unsigned slot)
{
	if (!pool->slots[slot].left)
		pool->slots[slot].conn = NULL;
}

void nm_uncopied_sent(struct nm_uncopied *pool, unsigned slot, struct nm_conn *conn)
{
	struct slot *s = &pool->slots[slot];

	if (!s->left)
		*s = (struct slot){.conn = conn, .first = conn->uncopied};
	s->count++;
	s->left++;
	conn->uncopied++;
}

bool nm_uncopied_is_pending(const struct nm_uncopied *pool, const struct nm_conn *conn)
{
	for (unsigned i = 0; i < NM_UNCOPIED_SLOTS; i++)
		if (pool->slots[i].conn == conn && pool->slots[i].left)
			return true;
	return false;
}

void nm_uncopied_told(struct nm_uncopied *pool, const struct nm_conn *conn, uint32_t first,
		      uint32_t last)
{
	for (unsigned i = 0; i < NM_UNCOPIED_SLOTS; i++) {
		struct slot *s = &pool->slots[i];

		if (s->conn != conn)
			continue;
		/* Numbers go round. */
		for (uint32_t n = 0; n < s->count && s->left; n++)
			s->left -= s->first + n - first <= last - first;
		if (s->count && !s->left)
			s->conn = NULL;
	}
}
