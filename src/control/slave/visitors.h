/* SPDX-License-Identifier: Apache-2.0 */
/* How fast other hosts may connect to a slave: each connection costs the slave a process. Pure:
 * time comes in. */
#ifndef NM_CONTROL_SLAVE_VISITORS_H
#define NM_CONTROL_SLAVE_VISITORS_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/address.h"

#define NM_VISITORS_AT_ONCE  64 /* connections of one host, and then: */
#define NM_VISITORS_A_SECOND 32
#define NM_VISITORS_HOSTS    64

/* All zero: nobody has come. */
struct nm_visitors {
	struct {
		uint64_t host;
		uint64_t until_ns; /* each connection adds its time to that */
	} of[NM_VISITORS_HOSTS];
};

/* A number for the address of a host, not 0; its port does not count. */
uint64_t nm_visitors_host(const struct nm_addr *addr);
/* Whether one more connection of the host is taken now. This host, 0, is not limited. */
bool nm_visitors_admit(struct nm_visitors *visitors, uint64_t host, uint64_t now_ns);

#endif
