/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out for which flows a run that does not go on waits. */
#ifndef NM_CONTROL_MASTER_PLACES_H
#define NM_CONTROL_MASTER_PLACES_H

#include "control/master/master.h"

/* Asks this host's workers and the slaves where their flows are, and waits a moment for the
 * answers; those of the slaves are in their links. Takes events that come meanwhile. */
void nm_master_find_places(struct nm_master *master, struct nm_flow_places *ret_here);

/* Appends these answers as words to the text in buf. */
void nm_master_tell_places(const struct nm_master *master, const struct nm_flow_places *here,
			   char *buf, size_t size);

/* Fails the run when connections of the traffic have not been answered for so long, while the
 * control connections work; asks as nm_master_find_places does. */
void nm_master_fail_blocked(struct nm_master *master, uint64_t limit_ns);

/* In how long the kernel of a host, by these answers, is going to send again what was lost, so that
 * the run may go on; 0: none is. */
uint64_t nm_master_again_ns(const struct nm_master *master, const struct nm_flow_places *here);

/* The handler of a slave's answer. */
int nm_link_places(struct nm_master *master, struct nm_link *link, json_t *body);

#endif
