/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of datagrams that are sent without a copy, until the kernel is done with them. */
#include "transport/zc_pool.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"
#include "transport/socket.h"

#define PAGE 4096u /* the fewer pages a train is in, the better: a packet has 17 at most */

struct slot {
	uint32_t first, count, left;
	bool taken, filled;
};

struct nm_zc_pool {
	char *bytes;
	struct slot *slots;
	unsigned each;		/* slots of a connection, which lie together */
	uint32_t conns, places; /* connections that there may be, and that have their slots */
};

struct nm_zc_pool *nm_zc_pool_new(unsigned conns)
{
	struct nm_zc_pool *pool = calloc(1, sizeof *pool);

	if (!pool)
		return NULL;
	pool->conns = conns;
	pool->each = conns < NM_ZC_POOL_SLOTS ? NM_ZC_POOL_SLOTS / conns : 1;
	const size_t slots = (size_t)conns * pool->each;

	/* No memory is used before something is sent from it. */
	pool->slots = calloc(slots, sizeof *pool->slots);
	pool->bytes = aligned_alloc(PAGE, slots * NM_ZC_POOL_BYTES);
	if (!pool->slots || !pool->bytes)
		return nm_zc_pool_free(pool);
	return pool;
}

struct nm_zc_pool *nm_zc_pool_free(struct nm_zc_pool *pool)
{
	if (pool) {
		free(pool->bytes);
		free(pool->slots);
	}
	free(pool);
	return NULL;
}

/* The first of the connection's slots; its number never changes while there is the pool. */
static unsigned first_of(const struct nm_zc_pool *pool, const struct nm_conn *conn)
{
	return (conn->zc_slot - 1) * pool->each;
}

int nm_zc_pool_begin(struct nm_zc_pool *pool, struct nm_conn *conn)
{
	if (conn->traits & NM_CONN_ZEROCOPY)
		return 0;
	if (!conn->zc_slot && pool->places == pool->conns)
		return -ENOMEM;
	int r = nm_socket_allow_zerocopy(conn);

	if (r < 0)
		return r;
	if (!conn->zc_slot)
		conn->zc_slot = ++pool->places;
	conn->datagram.zc_sent = 0;
	/* The kernel reports nothing more about the socket that conn had before. */
	for (unsigned i = 0, slot = first_of(pool, conn); i < pool->each; i++, slot++) {
		pool->slots[slot].left = 0;
		pool->slots[slot].taken = false;
	}
	return 0;
}

char *nm_zc_pool_take(struct nm_zc_pool *pool, const struct nm_conn *conn, unsigned *ret_slot)
{
	for (unsigned i = 0, slot = first_of(pool, conn); i < pool->each; i++, slot++) {
		char *bytes = pool->bytes + (size_t)slot * NM_ZC_POOL_BYTES;

		if (pool->slots[slot].taken)
			continue;
		if (!pool->slots[slot].filled)
			nm_rng_fill(bytes, NM_ZC_POOL_BYTES);
		pool->slots[slot] = (struct slot){.taken = true, .filled = true};
		*ret_slot = slot;
		return bytes;
	}
	return NULL;
}

void nm_zc_pool_give_back(struct nm_zc_pool *pool, unsigned slot)
{
	if (!pool->slots[slot].left)
		pool->slots[slot].taken = false;
}

void nm_zc_pool_sent(struct nm_zc_pool *pool, unsigned slot, struct nm_conn *conn)
{
	struct slot *s = &pool->slots[slot];

	if (!s->left)
		*s = (struct slot){.taken = true, .filled = true, .first = conn->datagram.zc_sent};
	s->count++;
	s->left++;
	conn->datagram.zc_sent++;
}

bool nm_zc_pool_is_pending(const struct nm_zc_pool *pool, const struct nm_conn *conn)
{
	for (unsigned i = 0, slot = first_of(pool, conn); i < pool->each; i++, slot++)
		if (pool->slots[slot].left)
			return true;
	return false;
}

void nm_zc_pool_completed(struct nm_zc_pool *pool, const struct nm_conn *conn, uint32_t first,
			  uint32_t last)
{
	for (unsigned i = 0, slot = first_of(pool, conn); i < pool->each; i++, slot++) {
		struct slot *s = &pool->slots[slot];

		/* Numbers go round. */
		for (uint32_t n = 0; n < s->count && s->left; n++)
			s->left -= s->first + n - first <= last - first;
		if (s->count && !s->left)
			s->taken = false;
	}
}
