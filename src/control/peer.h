/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a control connection: messages in and out over a non-blocking socket, and the
 * heartbeat. */
#ifndef NM_CONTROL_PEER_H
#define NM_CONTROL_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/channel.h"
#include "control/heartbeat.h"
#include "control/wire/frame.h"
#include "control/wire/limits.h"
#include "control/wire/message.h"

/* The largest segment of a control connection over TCP, both ways: it passes wherever IPv6 does,
 * whose packets have 1280 bytes at least, also where the path drops larger ones without a word. So
 * where the control connection works, nothing smaller is dropped for its size. */
#define NM_CONTROL_SEGMENT_BYTES 1220

struct nm_peer {
	int fd;		   /* owned; -1: closed */
	enum nm_side side; /* the side of the other end */
	enum nm_session_state state;
	/* 0, or why nothing more arrives: -ESHUTDOWN the other end has closed, or -errno */
	int ended;
	struct nm_channel channel;     /* how bytes come and go */
	struct nm_message_scale scale; /* of the run, as far as it is known; set by the owner */
	uint64_t since_ns, n_messages; /* messages since since_ns */
	struct nm_frame_reader in;
	struct nm_frame_queue out;
	struct nm_heartbeat beat;
	/* signs of life besides messages, see nm_peer_listen */
	uint64_t data;
	uint32_t segments;
	bool listens;
};

/* Takes a connected socket. `key`: proves the ends to each other (channel.h); borrowed until
 * nm_peer_fini; NULL: nothing. The peer stays where it is. 0 or -errno (and the socket is
 * closed). */
int nm_peer_init(struct nm_peer *peer, int fd, enum nm_side side, struct nm_key *key,
		 uint64_t timeout_ns, uint64_t now_ns);
/* Closes the socket and frees the queue. May be called again. */
void nm_peer_fini(struct nm_peer *peer);
/* Whether both ends have proved that they have the key. */
bool nm_peer_is_proved(const struct nm_peer *peer);
/* The events of poll(2) to wait for. */
short nm_peer_events(const struct nm_peer *peer);
/* Reads the bytes that have arrived, about one full buffer; the end is noted in peer->ended. */
void nm_peer_receive(struct nm_peer *peer, uint64_t now_ns);
/* 1 with the next message (to be finished by the caller), 0 when there is none yet, -EPROTO with a
 * phrase in why. */
int nm_peer_next(struct nm_peer *peer, struct nm_message *ret_message, char *why, size_t why_size);
/* Takes the body; queues and sends as much as fits. 0 or -errno. A broken connection is noticed
 * when reading. */
int nm_peer_send(struct nm_peer *peer, enum nm_message_type type, json_t *body, uint64_t now_ns);
/* Sends as much of the queue as the socket takes. */
void nm_peer_flush(struct nm_peer *peer);
/* Sends the queue, tells that nothing follows, and waits for the other end to close, no longer than
 * until_ns. */
void nm_peer_drain(struct nm_peer *peer, uint64_t until_ns);
/* Where data fills the link that both share, messages may not get through though the other end is
 * there. It is when data of it comes (a number that grows while it does), or when its kernel still
 * sends on this connection: what has come already, as it does not get to know that. Before
 * nm_heartbeat_due. */
void nm_peer_listen(struct nm_peer *peer, uint64_t data, uint64_t now_ns);
/* A phrase for peer->ended. */
const char *nm_peer_ended_text(const struct nm_peer *peer);

#endif
