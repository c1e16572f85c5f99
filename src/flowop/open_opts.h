/* SPDX-License-Identifier: Apache-2.0 */
/* The options of connect and accept. */
#ifndef NM_FLOWOP_OPEN_OPTS_H
#define NM_FLOWOP_OPEN_OPTS_H

#include "base/host_port.h"
#include "base/opt.h"
#include "flowop/flow.h"

extern const struct nm_opt nm_open_opts[];

/* Begins to open a connection: the transport's own answer. */
int nm_opening_begin(struct nm_conn *conn, const struct nm_transport *transport, const void *opts,
		     const struct nm_addr *to);
/* Goes on with a connection that is not ready yet: 0 when it is, -EINPROGRESS to wait for output,
 * -EAGAIN for input. */
int nm_open_continue(struct nm_conn *conn);

/* One of the servers that the option server= names. */
struct nm_server {
	char path[108];		    /* of unix(7); "": it has a host */
	char host[NM_HOST_MAX + 1]; /* a name or an address */
	uint16_t port;		    /* 0: none is named */
};

#define NM_SERVERS_MAX 1024u /* of one connect */

/* Reads the first server of the text, and moves *at behind it and its comma. is_unix: of a
 * connection over protocol=unix. 0, or -EINVAL with a phrase in why. Any thread. */
int nm_server_read(const char **at, bool is_unix, struct nm_server *ret, char *why,
		   size_t why_size);

/* Where servers of the protocol listen when nothing is said; 0: the transport has no ports. */
uint16_t nm_server_port(const struct nm_app *app, const struct nm_transport *transport);

/* How many servers the text names, at least 1. */
uint32_t nm_servers_count(const char *text);

/* Where a connect goes to: to the listener of the other end, or to one of several servers. */
static inline const struct nm_addr *
nm_flow_endpoint(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *connect)
{
	const struct nm_servers *servers = &io->apps.servers[connect->opening];

	return servers->count ? &servers->addrs[flow->index % servers->count]
			      : &io->endpoints[connect->opening];
}

#endif
