/* SPDX-License-Identifier: Apache-2.0 */
/* Connections over Multipath TCP that are plain TCP. */
#ifndef NM_FLOWOP_MULTIPATH_H
#define NM_FLOWOP_MULTIPATH_H

#include "flowop/flow.h"
#include "transport/conn.h"

/* Counts an open connection if it is plain TCP, and does not look at it again then. */
void nm_multipath_count(const struct nm_io *io, struct nm_conn *conn);

/* The same where it may be so. */
static inline void nm_multipath_look(const struct nm_io *io, struct nm_conn *conn)
{
	if (conn->traits & NM_CONN_MULTIPATH)
		nm_multipath_count(io, conn);
}

#endif
