/* SPDX-License-Identifier: Apache-2.0 */
/* Ports that connections to servers leave behind. */
#ifndef NM_CONTROL_MASTER_SPENT_H
#define NM_CONTROL_MASTER_SPENT_H

#include <stdint.h>

struct nm_addr;
struct nm_group;
struct nm_instr;
struct nm_result;

/* Warns, once, when a phase of the group is to close more connections of this connect in order than
 * it has ports for, all of which stay in TIME_WAIT; servers: where the connect goes to, n > 0. */
void nm_warn_of_spent_ports(struct nm_result *result, const struct nm_group *group,
			    const struct nm_instr *connect, const struct nm_addr *servers,
			    uint32_t n);

#endif
