/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for datagrams that are sent without a copy (MSG_ZEROCOPY over UDP): a buffer must not be
 * written to before the kernel reports that it is done with it, as each datagram has a number in
 * it. Each connection of a worker has buffers of its own: the first connection to hear that shared
 * ones are free would take them again, and the others would starve. */
#ifndef NM_TRANSPORT_ZC_POOL_H
#define NM_TRANSPORT_ZC_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/conn.h"

#define NM_ZC_POOL_BYTES 65536u /* of a buffer: a train fits in */
#define NM_ZC_POOL_SLOTS 64u	/* of all connections together, unless there are more of them */

struct nm_zc_pool;

/* conns: how many connections may ever use it, at least 1. NULL: no memory. */
struct nm_zc_pool *nm_zc_pool_new(unsigned conns);
struct nm_zc_pool *nm_zc_pool_free(struct nm_zc_pool *pool); /* accepts NULL, returns NULL */

/* Lets the connection send with MSG_ZEROCOPY, the first time: 0 or -errno. */
int nm_zc_pool_begin(struct nm_zc_pool *pool, struct nm_conn *conn);
/* A free one of the connection's buffers, or NULL. It is in use until nm_zc_pool_give_back, or, if
 * it has been sent from, until the kernel has reported all those sends complete. */
char *nm_zc_pool_take(struct nm_zc_pool *pool, const struct nm_conn *conn, unsigned *ret_slot);
void nm_zc_pool_give_back(struct nm_zc_pool *pool, unsigned slot);
/* The connection's next send with MSG_ZEROCOPY has been made from the buffer. */
void nm_zc_pool_sent(struct nm_zc_pool *pool, unsigned slot, struct nm_conn *conn);
/* Whether the kernel has still to report sends of the connection. */
bool nm_zc_pool_is_pending(const struct nm_zc_pool *pool, const struct nm_conn *conn);
/* The kernel is done with the sends of these numbers, from the connection's first one on. */
void nm_zc_pool_completed(struct nm_zc_pool *pool, const struct nm_conn *conn, uint32_t first,
			  uint32_t last);

#endif
