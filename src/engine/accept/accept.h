/* SPDX-License-Identifier: Apache-2.0 */
/* The listeners of a worker, and the addresses that it connects to. */
#ifndef NM_ENGINE_ACCEPT_ACCEPT_H
#define NM_ENGINE_ACCEPT_ACCEPT_H

#include "flowop/flow.h"
#include "transport/transport.h"

struct nm_worker;

struct nm_accept {
	struct nm_listener *listeners;	 /* by opening; = io.listeners */
	struct nm_addr *endpoints;	 /* by opening; = io.endpoints */
	char (*texts)[NM_ENDPOINT_TEXT]; /* by opening: the text of its listener; "": none */
	/* of the pair of sockets: the worker's end, and the end of the rendezvous listeners; -1:
	 * none */
	int handoff[2];
};

/* Fills worker->accept, whose handoff is -1, by the worker's group; the worker has its epoll
 * already. 0 or -errno, and then the caller calls nm_accept_fini. The control thread calls both
 * functions. */
int nm_accept_init(struct nm_worker *worker);
/* Closes all listeners, and the connections that are pending at the worker's flows. */
void nm_accept_fini(struct nm_worker *worker);

#endif
