/* SPDX-License-Identifier: Apache-2.0 */
/* How far a peer's clock is from ours, from questions and answers that carry times. */
#ifndef NM_CONTROL_CLOCK_SYNC_H
#define NM_CONTROL_CLOCK_SYNC_H

#include <stdint.h>

#define NM_CLOCK_SYNC_ROUNDS 8

struct nm_clock_sync {
	unsigned rounds;      /* answers so far */
	uint64_t best_rtt_ns; /* of the fastest answer; the offset is within half of it */
	int64_t offset_ns;    /* the peer's clock minus ours */
};

/* Takes one answer: asked at sent_ns, answered at peer_ns (the peer's clock), heard at
 * received_ns. */
void nm_clock_sync_add(struct nm_clock_sync *sync, uint64_t sent_ns, uint64_t peer_ns,
		       uint64_t received_ns);

#endif
