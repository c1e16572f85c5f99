/* SPDX-License-Identifier: Apache-2.0 */
/* When to say something to a peer that has heard nothing, and when to give up one that says
 * nothing. */
#ifndef NM_CONTROL_HEARTBEAT_H
#define NM_CONTROL_HEARTBEAT_H

#include <stdint.h>

struct nm_heartbeat {
	uint64_t every_ns;	/* something is sent at least so often */
	uint64_t timeout_ns;	/* longer silence is a loss */
	uint64_t in_ns, out_ns; /* when something last arrived and was last sent */
};

enum nm_heartbeat_due { NM_HEARTBEAT_NOTHING, NM_HEARTBEAT_SEND, NM_HEARTBEAT_LOST };

void nm_heartbeat_init(struct nm_heartbeat *beat, uint64_t timeout_ns, uint64_t now_ns);
/* The peer waits no longer than that: say something often enough for it. */
void nm_heartbeat_satisfy(struct nm_heartbeat *beat, uint64_t peer_timeout_ns);
enum nm_heartbeat_due nm_heartbeat_due(const struct nm_heartbeat *beat, uint64_t now_ns);
/* When nm_heartbeat_due is to be asked again. */
uint64_t nm_heartbeat_next_ns(const struct nm_heartbeat *beat);

#endif
