/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker keeps to be connected to, and to connect. */
#ifndef NM_ENGINE_ACCEPT_ACCEPT_H
#define NM_ENGINE_ACCEPT_ACCEPT_H

#include "flowop/flow.h"
#include "transport/transport.h"

struct nm_worker;

struct nm_accept {
	struct nm_listener *listeners;	 /* by opening; = io.listeners */
	struct nm_addr *endpoints;	 /* by opening; = io.endpoints */
	char (*texts)[NM_ENDPOINT_TEXT]; /* by opening: what its listener is called; "": none */
	/* the worker's end and that of the rendezvous listeners; -1: none */
	int handoff[2];
};

/* worker->accept for the group of the worker, whose epoll is there; handoff is -1. 0 or -errno, and
 * then the caller calls nm_accept_fini. The control thread, as below. */
int nm_accept_init(struct nm_worker *worker);
/* Closes all listeners, and what is pending at the worker's flows. */
void nm_accept_fini(struct nm_worker *worker);

#endif
