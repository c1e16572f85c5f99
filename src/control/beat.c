/* SPDX-License-Identifier: Apache-2.0 */
#include "control/beat.h"

#define SECOND_NS 1000000000u

void nm_beat_init(struct nm_beat *beat, uint64_t timeout_ns, uint64_t now_ns)
{
	*beat = (struct nm_beat){
		.every_ns = SECOND_NS, .timeout_ns = timeout_ns, .in_ns = now_ns, .out_ns = now_ns};
	nm_beat_satisfy(beat, timeout_ns);
}

void nm_beat_satisfy(struct nm_beat *beat, uint64_t peer_timeout_ns)
{
	/* A quarter: two may be late before the peer gives up. */
	if (peer_timeout_ns / 4 < beat->every_ns)
		beat->every_ns = peer_timeout_ns / 4;
}

enum nm_beat_due nm_beat_due(const struct nm_beat *beat, uint64_t now_ns)
{
	if (now_ns >= beat->in_ns + beat->timeout_ns)
		return NM_BEAT_LOST;
	return now_ns >= beat->out_ns + beat->every_ns ? NM_BEAT_SEND : NM_BEAT_NOTHING;
}

uint64_t nm_beat_next_ns(const struct nm_beat *beat)
{
	uint64_t send_ns = beat->out_ns + beat->every_ns;
	uint64_t lost_ns = beat->in_ns + beat->timeout_ns;

	return send_ns < lost_ns ? send_ns : lost_ns;
}
