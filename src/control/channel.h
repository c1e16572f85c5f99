/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a control connection, in the clear or over TLS 1.3 with a key that both ends have.
 * Both kinds share one port: a slave tells them apart by the first byte that arrives. Nothing here
 * waits. */
#ifndef NM_CONTROL_CHANNEL_H
#define NM_CONTROL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "control/key.h"
#include "control/wire/message.h"

struct nm_channel_tls;

enum nm_channel_state {
	NM_CHANNEL_UNDECIDED, /* on a slave: the master has not sent anything yet */
	NM_CHANNEL_PLAIN,
	NM_CHANNEL_HANDSHAKE,
	NM_CHANNEL_PROVED, /* both ends have proved that they have the key */
	/* The slave has answered in the clear to a master that came with a key: the slave may still
	 * say why, but the master sends nothing more. */
	NM_CHANNEL_ANSWERED_PLAIN,
};

struct nm_channel {
	int fd; /* borrowed */
	enum nm_channel_state state;
	struct nm_key *key;	    /* borrowed; NULL: none */
	struct nm_channel_tls *tls; /* owned; NULL: not over TLS */
	int first;		    /* a byte that was read to look at it; -1: none */
	bool decided;		    /* it is known whether the other end speaks TLS or frames */
	bool wants_out;		    /* TLS goes on when the socket takes output */
	bool at_end;		    /* the other end has closed */
	int error;		    /* why nothing moves any more: -errno, or 0 */
};

/* Errors of a channel with a key, besides those of its socket:
 * -ENOKEY       a master came with a key to a slave that has none
 * -EKEYREJECTED the other end has another key
 * -EBADMSG      TLS has refused the bytes: another program's, replayed, or changed on the way */

/* An end that talks to `side` over a connected socket; to a slave over TLS when there is a key. */
void nm_channel_init(struct nm_channel *channel, int fd, enum nm_side side, struct nm_key *key);
/* Frees the memory of a channel, and tells the other end of TLS that nothing follows; the socket
 * stays. */
void nm_channel_fini(struct nm_channel *channel);
/* The events of poll(2) to wait for; `queued`: something is to be written. */
short nm_channel_events(const struct nm_channel *channel, bool queued);
/* Reads at least one byte, 0 at the end, -EAGAIN when there is nothing now, or -errno, also an
 * error of a channel. Goes on with the handshake. */
ssize_t nm_channel_read(struct nm_channel *channel, void *to, size_t size);
/* Whether bytes have been taken from the socket that the next read returns: poll(2) does not tell
 * of them. */
bool nm_channel_holds(const struct nm_channel *channel);
/* Returns how many bytes were taken, -EAGAIN when none can be now, or -errno. After -EAGAIN the
 * next call must begin with the same bytes. Goes on with the handshake. */
ssize_t nm_channel_write(struct nm_channel *channel, const void *data, size_t size);
/* Tells the other end that nothing follows. */
void nm_channel_finish(struct nm_channel *channel);
/* Throws away the bytes that have arrived. False when no more will come. */
bool nm_channel_discard(struct nm_channel *channel);
/* Initialises OpenSSL for channels with keys, so that processes which are forked later need not. */
void nm_channel_warm_up(void);

#endif
