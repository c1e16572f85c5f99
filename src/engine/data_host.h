/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of the traffic with a host: those of the control connection, unless the profile has
 * another one of the end that listens (data_host). */
#ifndef NM_ENGINE_DATA_HOST_H
#define NM_ENGINE_DATA_HOST_H

#include "flowop/flow.h"

struct nm_engine;

/* Where the connect goes to; in *room, if that is not the engine's own. */
const struct nm_addr *nm_data_peer(const struct nm_engine *engine, const struct nm_instr *connect,
				   struct nm_addr *room);
/* Where the accept listens. A host that has not the address is reached at it by a translation on
 * the way, and listens where the control connection has arrived. */
const struct nm_addr *nm_data_local(const struct nm_engine *engine, const struct nm_instr *accept,
				    struct nm_addr *room);

#endif
