/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the sockets of a listener: several that share a port, or one for each of several ports.
 * The control thread calls these. */
#ifndef NM_ENGINE_ACCEPT_PORTS_H
#define NM_ENGINE_ACCEPT_PORTS_H

#include <stdbool.h>
#include <stdint.h>

struct nm_addr;
struct nm_instr;

/* How many ports the listener of an accept has. */
uint32_t nm_ports_count(const struct nm_instr *accept);
/* The file of the socket at which the accept listens, NULL: it has none. */
const char *nm_ports_path(const struct nm_instr *accept);
/* Whether the profile names its port or its file. */
bool nm_ports_is_fixed(const struct nm_instr *accept);
/* Opens `sockets` sockets of one port, or fewer where the transport cannot share it, or one for
 * each port, into fds, which has room for the larger of both numbers. How many are open, which the
 * caller owns; or -errno, and none is. text: of the first socket, as the transport's `listen`
 * writes it, or of the one that has failed. with_others: further listeners share the ports that the
 * profile names. */
int nm_ports_open(const struct nm_instr *accept, const struct nm_addr *local, uint32_t sockets,
		  bool with_others, char *text, int *fds);

#endif
