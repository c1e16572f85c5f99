/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the answer that came fastest: its offset is the least uncertain. */
#include "control/clock_sync.h"

void nm_clock_sync_add(struct nm_clock_sync *sync, uint64_t sent_ns, uint64_t peer_ns,
		       uint64_t received_ns)
{
	uint64_t rtt_ns = received_ns - sent_ns;

	/* The fastest answer has waited in the fewest queues, so it bounds the offset best. */
	if (sync->rounds == 0 || rtt_ns < sync->best_rtt_ns) {
		sync->best_rtt_ns = rtt_ns;
		sync->offset_ns = (int64_t)(peer_ns - (sent_ns + rtt_ns / 2));
	}
	sync->rounds++;
}
