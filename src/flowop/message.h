/* SPDX-License-Identifier: Apache-2.0 */
/* Options, sizes and loops of the flowops that move a message. */
#ifndef NM_FLOWOP_MESSAGE_H
#define NM_FLOWOP_MESSAGE_H

#include <errno.h>

#include "base/law.h"
#include "base/rng.h"
#include "base/opt.h"
#include "flowop/flow.h"

struct nm_flowop;

extern const struct nm_opt nm_message_opts[];

/* The key of random numbers in the present pass of a step: no other step, pass or flow of the group
 * has it. Both ends have it, unless the pass draws from its arrival, of which one end alone
 * knows. */
static inline uint64_t nm_step_key(const struct nm_io *io, const struct nm_flow *flow,
				   const struct nm_instr *instr)
{
	uint32_t arrival = flow->request.arrival;

	if (arrival)
		return nm_rng(nm_rng(io->apps.draws, instr->pass.site), arrival);
	/* Both ends count their passes down from the same number. */
	return nm_rng(nm_rng(nm_rng(io->seed, flow->index), instr->site), flow->iterations_left);
}

/* Bytes of the message that the step moves now; it may be asked again while the step goes on. */
static inline uint64_t nm_message_bytes(const struct nm_io *io, const struct nm_flow *flow,
					const struct nm_instr *instr)
{
	if (!instr->message.law)
		return instr->size;
	if (instr->message.in_order)
		return nm_law_in_order(instr->message.law,
				       instr->message.in_order - flow->iterations_left,
				       instr->message.in_order);
	return nm_law_draw(instr->message.law, nm_step_key(io, flow, instr), flow->repeated);
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
/* Moves the rest of a message on a stream, with as many calls as needed: the answer of the step,
 * with the rest in flow->left. Receiving begins with the bytes that the connection has received
 * ahead. */
enum nm_step nm_message_receive(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr, uint64_t left, nm_move_fn receive);
enum nm_step nm_message_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			     uint64_t left, nm_move_fn send);

/* Fails the flow: n is the -errno of a call; 0: the stream has ended. */
static inline enum nm_step nm_flow_failed(struct nm_flow *flow, ssize_t n)
{
	flow->error = n ? (int)-n : ECONNRESET;
	return NM_STEP_FAIL;
}

/* Takes n bytes off the `left` bytes of a message: how many are left; bytes beyond it belong to the
 * next message (conn->ahead). */
static inline uint64_t nm_message_take(struct nm_conn *conn, uint64_t left, uint64_t n)
{
	conn->ahead = n > left ? (uint32_t)(n - left) : 0;
	return n > left ? 0 : left - n;
}

/* How many of `left` bytes one call moves at most. */
static inline size_t nm_message_chunk(const struct nm_io *io, uint64_t left)
{
	return left < io->chunk ? (size_t)left : io->chunk;
}

/* The other end of exchange. */
extern const struct nm_flowop nm_flowop_exchanged;

/* The steps of read and recv, and of write and send. */
enum nm_step nm_read_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
enum nm_step nm_write_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

#endif
