/* SPDX-License-Identifier: Apache-2.0 */
/* Two timers, one for each direction. Pure: time comes in. */
#include "control/heartbeat.h"

#define SECOND_NS 1000000000u

void nm_heartbeat_init(struct nm_heartbeat *beat, uint64_t timeout_ns, uint64_t now_ns)
{
	*beat = (struct nm_heartbeat){
		.every_ns = SECOND_NS, .timeout_ns = timeout_ns, .in_ns = now_ns, .out_ns = now_ns};
	nm_heartbeat_satisfy(beat, timeout_ns);
}

void nm_heartbeat_satisfy(struct nm_heartbeat *beat, uint64_t peer_timeout_ns)
{
	/* A quarter: two may be late before the peer gives up. */
	uint64_t every_ns = peer_timeout_ns / 4;

	if (every_ns < NM_HEARTBEAT_LEAST_NS)
		every_ns = NM_HEARTBEAT_LEAST_NS;
	if (every_ns < beat->every_ns)
		beat->every_ns = every_ns;
}

enum nm_heartbeat_due nm_heartbeat_due(const struct nm_heartbeat *beat, uint64_t now_ns)
{
	if (now_ns >= beat->in_ns + beat->timeout_ns)
		return NM_HEARTBEAT_LOST;
	return now_ns >= beat->out_ns + beat->every_ns ? NM_HEARTBEAT_SEND : NM_HEARTBEAT_NOTHING;
}

uint64_t nm_heartbeat_next_ns(const struct nm_heartbeat *beat)
{
	uint64_t send_ns = beat->out_ns + beat->every_ns;
	uint64_t lost_ns = beat->in_ns + beat->timeout_ns;

	return send_ns < lost_ns ? send_ns : lost_ns;
}
