/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners of the rendezvous, and the epoll that reports what comes there: which accept a preamble
 * means, and the worker that gets the connection. The control thread opens and closes them; in
 * between they belong to the rendezvous's thread. */
#ifndef NM_ENGINE_ACCEPT_RENDEZVOUS_LISTENERS_H
#define NM_ENGINE_ACCEPT_RENDEZVOUS_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine_priv.h"
#include "plan/plan.h"
#include "transport/preamble.h"
#include "transport/transport.h"

/* A socket that the epoll reports, whose data point to it: of a listener, or of a stream that has
 * come there. */
struct nm_rendezvous_socket {
	const struct nm_rendezvous_listener *listener;
	int fd;
	bool listens;
};

struct nm_rendezvous_listener {
	const struct nm_transport *transport;
	struct nm_addr local;
	uint16_t port; /* as the profile names it; 0: none */
	uint32_t ports;
	char text[NM_ENDPOINT_TEXT];
	struct nm_rendezvous_socket *sockets; /* owned, as their descriptors are */
	uint32_t n_sockets;
};

struct nm_rendezvous_listeners {
	struct nm_engine *engine; /* borrowed */
	struct nm_prover *prover; /* of the run */
	struct nm_rendezvous_listener *each;
	size_t count;
	int epoll_fd;
};

/* Opens the listeners that the engine's plan needs, and gives their texts to the workers; a count
 * of 0: it needs none. 0, or -errno with a phrase in why; nm_rendezvous_listeners_close is to be
 * called in any case. */
int nm_rendezvous_listeners_open(struct nm_rendezvous_listeners *listeners,
				 struct nm_engine *engine, char *why, size_t why_size);
void nm_rendezvous_listeners_close(struct nm_rendezvous_listeners *listeners);
/* Whether connections of the group come here over transports without connections (datagrams), or
 * as streams. */
bool nm_rendezvous_listeners_serve(const struct nm_group *group, bool datagrams);

/* Has the epoll report the socket. 0 or -errno. */
int nm_rendezvous_socket_watch(const struct nm_rendezvous_listeners *listeners,
			       struct nm_rendezvous_socket *socket);
/* Sets whether the epoll reports connections at the listeners of streams; at first it does. */
void nm_rendezvous_listen_to_streams(const struct nm_rendezvous_listeners *listeners, bool listens);

/* The accept that a preamble, as it came over the wire, means, if its sender belongs to the run,
 * may come from that address, and has come to the right listener; otherwise NULL. */
const struct nm_instr *nm_rendezvous_find_accept(const struct nm_rendezvous_listeners *listeners,
						 const struct nm_rendezvous_listener *listener,
						 const struct nm_addr *from, const char *wire,
						 const struct nm_preamble *preamble);
/* Where the flow and opening of a preamble are in a table of its group. */
static inline size_t nm_rendezvous_index(const struct nm_rendezvous_listeners *listeners,
					 const struct nm_preamble *preamble)
{
	const struct nm_group *group = &listeners->engine->plan->groups[preamble->group];

	return (size_t)preamble->flow * group->n_openings + preamble->opening;
}
/* Hands the connection to the worker of its flow; fd is not the caller's any more. If that fails
 * the run is over. */
void nm_rendezvous_hand_over(const struct nm_rendezvous_listeners *listeners,
			     const struct nm_preamble *preamble, int fd);

#endif
