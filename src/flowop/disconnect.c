/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/flowop.h"
#include "transport/transport.h"

enum close_how { CLOSE_FIN, CLOSE_RST };

static const char *const close_words[] = {"fin", "rst", NULL};

struct disconnect_opts {
	int how;
};

static const struct nm_opt disconnect_opts[] = {
	{.name = "close",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct disconnect_opts, how),
	 .choices = close_words,
	 .def = "fin",
	 .help = "how the connecting end closes: in order (fin), or with a reset that leaves no "
		 "TIME_WAIT (rst); the "
		 "accepting end waits for it"},
	NM_OPT_END};

/* The kernel tells of the first packet as long as the connection is open. */
static void count_fastopen(const struct nm_io *io, const struct nm_conn *conn,
			   const struct nm_transport *transport)
{
	struct nm_conn_info info;

	if (transport->info(conn, &info) == 0 && info.syn_data)
		nm_counter_add(&io->count->fastopens, 1);
}

static enum nm_step disconnect_step(struct nm_io *io, struct nm_flow *flow,
				    const struct nm_instr *instr)
{
	const struct disconnect_opts *o = instr->opts;
	struct nm_conn *conn = flow->conn;

	if ((conn->flags & NM_CONN_ACCEPTED) && !(conn->flags & NM_CONN_HUP) &&
	    (instr->transport->caps & NM_TRANSPORT_RELIABLE))
		return NM_STEP_WAIT_IN;
	if (conn->flags & NM_CONN_FASTOPEN)
		count_fastopen(io, conn, instr->transport);
	instr->transport->close(conn, o->how == CLOSE_RST && !(conn->flags & NM_CONN_ACCEPTED));
	return NM_STEP_NEXT;
}

const struct nm_flowop nm_flowop_disconnect = {
	.name = "disconnect",
	.mirror = "disconnect",
	.help = "closes the connection: the connecting end first, then the accepting end",
	.flags = NM_FLOWOP_CLOSES | NM_FLOWOP_USES,
	.opts = disconnect_opts,
	.opts_size = sizeof(struct disconnect_opts),
	.step = disconnect_step,
};
