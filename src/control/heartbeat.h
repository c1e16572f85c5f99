/* SPDX-License-Identifier: Apache-2.0 */
/* Keep-alive of a control connection: when a heartbeat is due, whatever else is sent, and when a
 * peer that sends nothing is lost. Pure: time comes in. All times by the monotonic clock. */
#ifndef NM_CONTROL_HEARTBEAT_H
#define NM_CONTROL_HEARTBEAT_H

#include <stdint.h>

/* Heartbeats follow each other no faster, whatever the peer asks for. */
#define NM_HEARTBEAT_LEAST_NS 100000000u

struct nm_heartbeat {
	uint64_t every_ns;	/* between two heartbeats to the peer */
	uint64_t timeout_ns;	/* a peer that is silent for longer is lost */
	uint64_t in_ns, out_ns; /* when something last arrived, and a heartbeat was last sent */
};

enum nm_heartbeat_due { NM_HEARTBEAT_NOTHING, NM_HEARTBEAT_SEND, NM_HEARTBEAT_LOST };

/* The peer is lost after timeout_ns of silence; both directions begin now. */
void nm_heartbeat_init(struct nm_heartbeat *beat, uint64_t timeout_ns, uint64_t now_ns);
/* Sends often enough for a peer that gives this side up after peer_timeout_ns. */
void nm_heartbeat_satisfy(struct nm_heartbeat *beat, uint64_t peer_timeout_ns);
/* The action that is due now: a heartbeat, the end of the connection, or nothing. */
enum nm_heartbeat_due nm_heartbeat_due(const struct nm_heartbeat *beat, uint64_t now_ns);
/* When nm_heartbeat_due is to be called again. */
uint64_t nm_heartbeat_next_ns(const struct nm_heartbeat *beat);

#endif
