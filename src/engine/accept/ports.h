/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the sockets of a listener: several that share a port, or one for each of several ports.
 * The control thread. */
#ifndef NM_ENGINE_ACCEPT_PORTS_H
#define NM_ENGINE_ACCEPT_PORTS_H

#include <stdint.h>

struct nm_addr;
struct nm_instr;

/* How many ports the listener of an accept has. */
uint32_t nm_ports_count(const struct nm_instr *accept);
/* Opens so many sockets of one port, or one for each port: how many, which the caller owns in fds,
 * or -errno and none is open. fds has room for the larger of both numbers. text: what the first is
 * called, as of the transport's `listen`. */
int nm_ports_open(const struct nm_instr *accept, const struct nm_addr *local, uint32_t sockets,
		  char *text, int *fds);

#endif
