/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out for which flows a run that does not go on waits. */
#ifndef NM_CONTROL_MASTER_PLACES_H
#define NM_CONTROL_MASTER_PLACES_H

#include "control/master/master.h"

/* Asks this host's workers and the slaves where their flows are, waits a moment for the answers,
 * and appends them as words to the text in buf. Takes events that come meanwhile. */
void nm_master_tell_places(struct nm_master *master, char *buf, size_t size);

/* Fails the run when connections of the traffic have not been answered for so long, while the
 * control connections work; asks as nm_master_tell_places does. */
void nm_master_fail_blocked(struct nm_master *master, uint64_t limit_ns);

/* In how long the kernel of a host is going to send again what was lost, so that the run may go on;
 * 0: none is. Asks as nm_master_tell_places does. */
uint64_t nm_master_again_ns(struct nm_master *master);

/* The handler of a slave's answer. */
int nm_link_places(struct nm_master *master, struct nm_link *link, json_t *body);

#endif
