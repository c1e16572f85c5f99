/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over transports that may lose, repeat or reorder them: the steps of read and write,
 * several messages with one call where possible. stamp.h has the head of a message. */
#ifndef NM_FLOWOP_DATAGRAM_H
#define NM_FLOWOP_DATAGRAM_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "flowop/flow.h"

/* The steps of read and write. */
enum nm_step nm_datagram_read(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
enum nm_step nm_datagram_write(struct nm_io *io, struct nm_flow *flow,
			       const struct nm_instr *instr);
/* Takes one or more messages that no flow will read: bytes, or -errno. *ret_new: the bytes of
 * messages that have not come before. */
ssize_t nm_datagram_discard(struct nm_io *io, struct nm_conn *conn, uint64_t *ret_new);
/* The flow waits no longer for an answer to its last write; an answer that comes after the next
 * write is late. */
void nm_datagram_give_up(struct nm_conn *conn);
/* Whether a message of NM_PREAMBLE_BYTES is a preamble: the other end repeats it when the answer is
 * lost, and gets one more. */
bool nm_datagram_is_preamble(const struct nm_io *io, struct nm_conn *conn,
			     const struct nm_instr *instr, const char *data);

/* Whether a call has failed because the peer cannot be reached now: an earlier message was refused,
 * or a link or a route is gone for a while. What is sent then is lost, as on the way. */
static inline bool nm_datagram_is_unreachable(ssize_t n)
{
	return n == -ECONNREFUSED || n == -ENETUNREACH || n == -EHOSTUNREACH || n == -ENETDOWN ||
	       n == -EHOSTDOWN;
}

#endif
