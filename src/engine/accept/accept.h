/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker keeps to be connected to, and to connect. */
#ifndef NM_ENGINE_ACCEPT_ACCEPT_H
#define NM_ENGINE_ACCEPT_ACCEPT_H

#include "flowop/flow.h"
#include "transport/transport.h"

struct nm_accept {
	struct nm_listener *listeners;	 /* by opening; = io.listeners */
	struct nm_addr *endpoints;	 /* by opening; = io.endpoints */
	char (*texts)[NM_ENDPOINT_TEXT]; /* by opening: what its listener is called; "": none */
	/* the worker's end and that of the rendezvous listeners; -1: none */
	int handoff[2];
};

#endif
