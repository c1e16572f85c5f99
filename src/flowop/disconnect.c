/* SPDX-License-Identifier: Apache-2.0 */
/* disconnect: one end closes first, in order, by a reset or one direction at a time, and the other
 * follows. */
#include "flowop/disconnect.h"
#include "flowop/flowop.h"
#include "flowop/copy_modes.h"
#include "flowop/multipath.h"
#include "host/clock.h"
#include "transport/conn_cache.h"
#include "transport/transport.h"

enum close_how { CLOSE_FIN, CLOSE_RST, CLOSE_HALF };
enum close_by { BY_CLIENT, BY_SERVER };

static const char *const how_words[] = {"fin", "rst", "half", NULL};
static const char *const by_words[] = {"client", "server", NULL};

struct disconnect_opts {
	int how, by;
	uint64_t linger_ns;
};

static const struct nm_opt disconnect_opts[] = {
	{.name = "close",
	 .alias = "how",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct disconnect_opts, how),
	 .choices = how_words,
	 .def = "fin",
	 .help = "how the end that closes first does it: in order (fin), with a reset that leaves "
		 "no TIME_WAIT (rst) once all that it has sent is acknowledged, or by ending what "
		 "it sends, and closing when the other end "
		 "has closed (half)"},
	{.name = "by",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct disconnect_opts, by),
	 .choices = by_words,
	 .def = "client",
	 .help = "which end closes first: the one that has connected (client), or the one that has "
		 "accepted (server); the other waits for it"},
	{.name = "linger",
	 .type = NM_TYPE_DURATION,
	 .offset = offsetof(struct disconnect_opts, linger_ns),
	 .max = UINT64_C(1000000000000),
	 .help = "with fin and half: the first to close stays in it, and with it the whole worker, "
		 "until all "
		 "that it has sent is acknowledged, but at most so long, in whole seconds "
		 "(SO_LINGER); 0: not at all"},
	NM_OPT_END};

/* Counts a connection whose first packet had data; the kernel tells only while it is open. */
static void count_fastopen(const struct nm_io *io, const struct nm_conn *conn,
			   const struct nm_transport *transport)
{
	struct nm_conn_info info;

	if (transport->info(conn, &info) == 0 && info.syn_data)
		nm_counter_add(&io->count->fastopens, 1);
}

/* Does what a connection needs only sometimes before it is closed. */
static void end_special(struct nm_io *io, struct nm_conn *conn,
			const struct nm_transport *transport, bool first)
{
	if (conn->traits & NM_CONN_FASTOPEN)
		count_fastopen(io, conn, transport);
	nm_multipath_look(io, conn);
	if (conn->traits & NM_CONN_ZEROCOPY)
		(void)nm_copy_modes_drain(io, conn);
	/* It has been asked for its end: nm_conn_ask_end. */
	if ((conn->traits & NM_CONN_FINISHED) && !first)
		nm_counter_add(&io->count->unseen_ends, 1);
}

/* Whether this end closes first. */
static bool is_first(bool accepted, const struct disconnect_opts *o)
{
	return !accepted == (o->by == BY_CLIENT);
}

/* How often an end that resets looks whether all its bytes are acknowledged: no event tells. */
#define LOOK_NS 100000u

/* Whether a reset would drop bytes of this end; bytes that the other end's kernel has acknowledged
 * stay. */
static bool is_too_early(const struct nm_flow *flow, const struct nm_instr *instr)
{
	return instr->pass.sent_last && !(flow->conn->flags & NM_CONN_HUP) &&
	       !nm_conn_is_acknowledged(flow->conn);
}

/* Takes the end of TLS that a server has sent behind its last answer: it may leave TCP open until
 * this end has closed, and events tell the end of TCP alone. */
static void look_for_end(const struct nm_io *io, struct nm_conn *conn)
{
	ssize_t n = 1;

	while (n > 0)
		n = conn->transport->recv(conn, io->rx, io->chunk);
	if (nm_io_received_nothing(conn, n) == NM_IO_ERROR)
		conn->flags |= NM_CONN_HUP;
}

static enum nm_step disconnect_step(struct nm_io *io, struct nm_flow *flow,
				    const struct nm_instr *instr)
{
	const uint32_t special =
		NM_CONN_FASTOPEN | NM_CONN_MULTIPATH | NM_CONN_ZEROCOPY | NM_CONN_FINISHED;
	const struct disconnect_opts *o = instr->opts;
	struct nm_conn *conn = flow->conn;
	bool reliable = instr->transport->caps & NM_TRANSPORT_RELIABLE;
	bool first = is_first(conn->traits & NM_CONN_ACCEPTED, o);
	bool half = o->how == CLOSE_HALF && instr->transport->finish;

	if (!first && (conn->flags & (NM_CONN_IN | NM_CONN_HUP)) == NM_CONN_IN &&
	    (instr->transport->caps & NM_TRANSPORT_TLS) && io->apps.servers[instr->opening].count)
		look_for_end(io, conn);
	if (reliable && (!first || half) && !(conn->flags & NM_CONN_HUP)) {
		if (first && !(conn->traits & NM_CONN_FINISHED))
			instr->transport->finish(conn);
		return NM_STEP_WAIT_IN;
	}
	flow->timer.at_ns = 0;
	if (reliable && first && o->how == CLOSE_RST && is_too_early(flow, instr)) {
		flow->timer.at_ns = nm_clock_ns() + LOOK_NS;
		return NM_STEP_SLEEP;
	}
	if (conn->traits & special)
		end_special(io, conn, instr->transport, first);
	if (first && o->linger_ns)
		nm_conn_linger(conn, o->linger_ns);
	if (!io->cache || first || o->how != CLOSE_RST || !nm_conn_cache_put(io->cache, conn))
		instr->transport->close(conn, first && o->how == CLOSE_RST);
	return NM_STEP_NEXT;
}

const struct nm_flowop nm_flowop_disconnect = {
	.name = "disconnect",
	.mirror_op = &nm_flowop_disconnect,
	.help = "closes the connection: one end first, then the other",
	.flags = NM_FLOWOP_CLOSES | NM_FLOWOP_USES,
	.opts = disconnect_opts,
	.opts_size = sizeof(struct disconnect_opts),
	.step = disconnect_step,
};

bool nm_disconnect_resets(const struct nm_instr *instr)
{
	const struct disconnect_opts *o = instr->opts;

	return instr->op == &nm_flowop_disconnect && o->how == CLOSE_RST && o->by == BY_CLIENT;
}

bool nm_disconnect_keeps_port(const struct nm_instr *instr)
{
	const struct disconnect_opts *o = instr->opts;

	return instr->op == &nm_flowop_disconnect && o->how != CLOSE_RST && o->by == BY_CLIENT;
}

bool nm_disconnect_awaits_reset(const struct nm_instr *instr, bool accepted)
{
	const struct disconnect_opts *o = instr->opts;

	return instr->op == &nm_flowop_disconnect && o->how == CLOSE_RST &&
	       !is_first(accepted, o) && instr->transport->tcp_fields;
}
