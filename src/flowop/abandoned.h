/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on streams that a flow has given up half-way (canfail with timeout). The rest of such a
 * message is still sent, or received, before the next message in that direction: so both ends stay
 * in step. The rest moves whatever the flow waits for, since the other end may wait for just
 * that. */
#ifndef NM_FLOWOP_ABANDONED_H
#define NM_FLOWOP_ABANDONED_H

#include "flowop/flow.h"

static inline bool nm_conn_has_abandoned(const struct nm_conn *conn)
{
	return conn->abandoned_in || conn->abandoned_out;
}

/* Whether a part of the message of a read has come, in the pass that waits for it. */
bool nm_abandoned_has_begun(const struct nm_io *io, const struct nm_flow *flow,
			    const struct nm_instr *instr);

/* The flow gives up the message that the instruction moves: notes how much of it is left. Files are
 * not noted. */
void nm_abandoned_add(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

/* Moves the rest of abandoned messages on the connection. NEXT: as far as possible without waiting;
 * YIELD: more can move at once; or FAIL with flow->error. */
enum nm_step nm_abandoned_move(struct nm_io *io, struct nm_conn *conn);

/* Stands in for the steps of flowops that move messages on streams, in groups that may give some
 * up: calls instr->carried_step once no abandoned bytes are left in its direction. */
enum nm_step nm_abandoning_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr);

#endif
