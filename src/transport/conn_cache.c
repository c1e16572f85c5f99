/* SPDX-License-Identifier: Apache-2.0 */
/* Makes sockets before they are needed, and closes others later than they could be. */
#include "transport/conn_cache.h"

#include <unistd.h>

#include "transport/optional.h"
#include "transport/transport.h"

void nm_conn_cache_init(struct nm_conn_cache *cache)
{
	*cache = (struct nm_conn_cache){.made_fd = -1, .closing = {.fd = -1}};
}

static void close_put(struct nm_conn_cache *cache)
{
	if (cache->closing.fd >= 0)
		cache->closing.transport->close(&cache->closing, false);
}

void nm_conn_cache_fini(struct nm_conn_cache *cache)
{
	close_put(cache);
	if (cache->made_fd >= 0)
		(void)close(cache->made_fd);
	cache->made_fd = -1;
}

void nm_conn_cache_idle(struct nm_conn_cache *cache, struct nm_conn *conn)
{
	close_put(cache);
	if (!cache->transport || cache->made_fd >= 0)
		return;
	if (cache->resets)
		nm_conn_resets(conn);
	/* If there can be no socket, connect says why. */
	cache->made_fd = cache->transport->socket->make(cache->opts, cache->endpoint);
}

int nm_conn_cache_take(struct nm_conn_cache *cache)
{
	int fd = cache->made_fd;

	cache->made_fd = -1;
	return fd;
}

bool nm_conn_cache_put(struct nm_conn_cache *cache, struct nm_conn *conn)
{
	if (cache->closing.fd >= 0)
		return false;
	nm_conn_move(conn, &cache->closing);
	return true;
}
