/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over transports that may lose, repeat or reorder them. A message with room for it begins
 * with two numbers in network order: its own, counted by the sender from 1, and the highest that
 * the sender has seen of the other end. Where there is room behind them, the time at which it was
 * sent follows, ns of the sender's clock in network order; 0 where messages are answered, as the
 * time of that says more. */
#ifndef NM_FLOWOP_DATAGRAM_H
#define NM_FLOWOP_DATAGRAM_H

#include <sys/types.h>

#include "flowop/flow.h"

#define NM_DATAGRAM_STAMP NM_NUMBERED_BYTES /* the numbers */
#define NM_DATAGRAM_DATED 16u		    /* bytes: and the time */

/* The steps of read and write. */
enum nm_step nm_datagram_read(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
enum nm_step nm_datagram_write(struct nm_io *io, struct nm_flow *flow,
			       const struct nm_instr *instr);
/* Takes what nobody reads any more, one message or several: bytes, or -errno. *ret_new: those that
 * have not come before. */
ssize_t nm_datagram_discard(struct nm_io *io, struct nm_conn *conn, uint64_t *ret_new);
/* An answer to what was written last is not waited for any longer: if it comes after the next
 * write, it is late. */
void nm_datagram_give_up(struct nm_conn *conn);

#endif
