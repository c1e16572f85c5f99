/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets, and the connections that wait there for their flows. */
#ifndef NM_FLOWOP_LISTENING_H
#define NM_FLOWOP_LISTENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nm_flow;
struct nm_mux;
struct nm_peers;
struct nm_udp_mux_peer;

/* A connection whose preamble says that it is for this flow, and that is not accepted yet. */
struct nm_pending_conn {
	struct nm_pending_conn *next;
	int fd;
	uint32_t opening;
	/* instead of fd, where one socket has several connections; otherwise NULL */
	struct nm_udp_mux_peer *peer;
};

/* One listening socket; a listener has several when one queue would be too short. */
struct nm_listen_fd {
	int fd;
	bool ready;	    /* an accept may find something */
	struct nm_mux *mux; /* owned, when this socket serves all its connections; otherwise NULL */
	struct nm_listener *listener;
};

struct nm_listener {
	struct nm_listen_fd *fds;
	size_t n_fds;
	const struct nm_peers *peers; /* the addresses whose connections are taken; NULL: all */
	ino_t file;		      /* which its socket has made, over unix(7); 0: none */
	struct nm_flow *first, *last; /* flows that wait to accept */
	bool single;		      /* at most one connection can be queued at a time */
};

#endif
