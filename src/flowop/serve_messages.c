/* SPDX-License-Identifier: Apache-2.0 */
/* serve over UDP: whoever sends a message is answered, and there is no connection. */
#include "flowop/ask.h"
#include "flowop/message.h"
#include "transport/udp_sender.h"

/* What comes is no request, which concerns nobody else. */
static void count_malformed(const struct nm_io *io, const struct nm_instr *instr)
{
	nm_counter_add(&nm_serve_outcomes(io, instr, NM_VERB_NONE)->malformed, 1);
}

/* Sends the answer that is there, which is text alone: one piece of the rope. Where it cannot be
 * sent it is lost, as on the way: who waits for it asks again. */
static void answer(struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr,
		   struct nm_udp_sender *sender)
{
	struct nm_app_served *served = nm_serve_served(io, flow);
	char *data;
	size_t size = nm_rope_next(&served->out, io->tx, io->chunk, &data);

	if (nm_udp_sender_answer(flow->conn->fd, data, size, sender) == (ssize_t)size) {
		nm_io_count_messages_sent(io, size, 1);
		nm_serve_count(io, flow, instr);
	} else {
		nm_counter_add(&nm_serve_outcomes(io, instr, (enum nm_verb)served->verb)->lost, 1);
	}
	nm_rope_clear(&served->out);
}

enum nm_step nm_serve_messages_step(struct nm_io *io, struct nm_flow *flow,
				    const struct nm_instr *instr)
{
	const struct nm_app_datagram *datagram = instr->ask.app->datagram;
	struct nm_conn *conn = flow->conn;
	struct nm_udp_sender sender;

	for (unsigned calls = 0; calls < NM_STEP_CALLS; calls++) {
		if (!(conn->flags & NM_CONN_IN))
			return NM_STEP_WAIT_IN;
		ssize_t n =
			nm_udp_sender_receive(conn->fd, io->rx, io->chunk, io->recv_flags, &sender);

		if (n < 0 && nm_io_received_nothing(conn, n) != NM_IO_AGAIN)
			return nm_flow_failed(flow, n);
		if (n >= 0) {
			nm_io_count_message_received(io, (size_t)n);
			if (datagram->serve(nm_serve_served(io, flow), io->rx, (size_t)n))
				answer(io, flow, instr, &sender);
			else
				count_malformed(io, instr);
		}
		if (!io->recv_flags)
			return NM_STEP_WAIT_IN;
	}
	return NM_STEP_YIELD;
}
