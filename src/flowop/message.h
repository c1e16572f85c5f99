/* SPDX-License-Identifier: Apache-2.0 */
/* What flowops that move a message share. */
#ifndef NM_FLOWOP_MESSAGE_H
#define NM_FLOWOP_MESSAGE_H

#include <errno.h>

#include "base/rng.h"
#include "base/opt.h"
#include "flowop/flow.h"

struct nm_flowop;

extern const struct nm_opt nm_message_opts[];

/* Of what is random in the present pass of a step: the same at both ends, and of no other step,
 * pass or flow. */
static inline uint64_t nm_step_key(const struct nm_io *io, const struct nm_flow *flow,
				   const struct nm_instr *instr)
{
	/* Both ends count their passes down from the same number. */
	return nm_rng(nm_rng(nm_rng(io->seed, flow->index), instr->site), flow->iterations_left);
}

/* Bytes of the message that the step moves now; it may be asked again while the step goes on. */
static inline uint64_t nm_message_bytes(const struct nm_io *io, const struct nm_flow *flow,
					const struct nm_instr *instr)
{
	if (!instr->message.law)
		return instr->size;
	return nm_distribution_draw(instr->message.law, nm_step_key(io, flow, instr),
				    flow->repeated);
}

/* Bytes that a step on a stream has still to move, when it is called. */
static inline uint64_t nm_message_left(const struct nm_io *io, const struct nm_flow *flow,
				       const struct nm_instr *instr)
{
	return flow->left ? flow->left : nm_message_bytes(io, flow, instr);
}

/* One call for a message of which `left` bytes are still to move, as nm_conn_recv and
 * nm_conn_send. */
typedef enum nm_io_status (*nm_move_fn)(struct nm_io *io, struct nm_conn *conn,
					const struct nm_instr *instr, uint64_t left,
					ssize_t *ret_n);
/* Moves the rest of a message on a stream, as many calls as it takes: what a step answers, with the
 * rest in flow->left. Receiving begins with what the connection has received ahead. */
enum nm_step nm_message_receive(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr, uint64_t left, nm_move_fn receive);
enum nm_step nm_message_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			     uint64_t left, nm_move_fn send);

/* The flow fails with what a call has met: n is -errno; 0: the end of the stream. */
static inline enum nm_step nm_flow_failed(struct nm_flow *flow, ssize_t n)
{
	flow->error = n ? (int)-n : ECONNRESET;
	return NM_STEP_FAIL;
}

/* Takes so many bytes off what is left of a message; what is too much belongs to the next. */
static inline uint64_t nm_message_take(struct nm_conn *conn, uint64_t left, uint64_t n)
{
	conn->ahead = n > left ? (uint32_t)(n - left) : 0;
	return n > left ? 0 : left - n;
}

/* The most of so many bytes that one call moves. */
static inline size_t nm_message_chunk(const struct nm_io *io, uint64_t left)
{
	return left < io->chunk ? (size_t)left : io->chunk;
}

/* The other end of exchange. */
extern const struct nm_flowop nm_flowop_exchanged;

/* read and recv, write and send. */
enum nm_step nm_read_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
enum nm_step nm_write_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

#endif
