/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether messages that may be lost have come at all: a run of which none has come has
 * measured nothing. Pure. */
#ifndef NM_CONTROL_MASTER_LOSSES_H
#define NM_CONTROL_MASTER_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

struct nm_counts;

/* What a host has counted of them. */
struct nm_losses_count {
	uint64_t sent, received, timeouts;
	uint64_t late;	  /* of those that were received: no answer to what was asked */
	uint64_t refused; /* of those that were sent: nobody can be reached, as the network says */
};

/* One host of a group; all borrowed. */
struct nm_losses_host {
	const char *name;	      /* of the slave; NULL: the master */
	const struct nm_group *group; /* in the plan of the host */
	struct nm_losses_count count;
};

/* Adds what a host has counted in that phase of the group, of its own plan or of another's; but
 * nothing where a flowop that moves such messages may fail: that none has come may be what the
 * profile expects. */
void nm_losses_add(struct nm_losses_count *into, const struct nm_group *group, uint32_t phase,
		   const struct nm_counts *counts);
/* Says of which hosts' messages none has come, or to which of them. hosts[0] is the master. False:
 * some have, as far as the counts tell, or none was sent. */
bool nm_losses_text(const struct nm_losses_host *hosts, size_t n_hosts, char *buf, size_t size);

#endif
