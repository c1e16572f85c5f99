/* SPDX-License-Identifier: Apache-2.0 */
/* Looks whether connections over Multipath TCP have fallen back: when they are opened, as the other
 * end or something on the way does not take it, and before they are closed, as that may come
 * later. */
#include "flowop/multipath.h"

#include "transport/transport.h"

void nm_multipath_count(const struct nm_io *io, struct nm_conn *conn)
{
	if (!conn->transport->socket->is_plain(conn))
		return;
	nm_counter_add(&io->count->fallbacks, 1);
	conn->traits &= ~(uint32_t)NM_CONN_MULTIPATH;
}
