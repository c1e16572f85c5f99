/* SPDX-License-Identifier: Apache-2.0 */
/* recvfile: receives the files of sendfile and sendfilev, the length of each first. */
#include <errno.h>

#include "flowop/files.h"
#include "flowop/message.h"
#include "transport/io.h"

/* No file is that long: a header with such a length is none. */
#define LENGTH_MAX (UINT64_C(1) << 62)

static const struct nm_opt recvfile_opts[] = {{.name = "nfiles",
					       .type = NM_TYPE_COUNT,
					       .offset = offsetof(struct nm_opts_files, n_files),
					       .min = 1,
					       .max = UINT32_MAX,
					       .def = "1",
					       .help = "files, one after the other"},
					      NM_OPT_END};

static void begin_file(struct nm_flow *flow, struct nm_transfer *transfer)
{
	transfer->header = 0;
	transfer->length = 0;
	flow->left = NM_FILES_HEADER;
}

/* Takes `n` bytes of the header from the buffer. */
static int take_header(const struct nm_io *io, struct nm_flow *flow, struct nm_transfer *transfer,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		transfer->length = transfer->length << 8 | (unsigned char)io->rx[i];
	transfer->header += (uint32_t)n;
	flow->left = NM_FILES_HEADER - transfer->header;
	if (flow->left)
		return 0;
	flow->left = transfer->length;
	return transfer->length < LENGTH_MAX ? 0 : -EPROTO;
}

/* Receives a part of the header with one call, and no byte beyond it. Headers are not counted. */
static int receive_header(struct nm_io *io, struct nm_flow *flow, struct nm_transfer *transfer)
{
	ssize_t n = nm_conn_call_recv(io, flow->conn, (size_t)flow->left);

	if (n > 0)
		return take_header(io, flow, transfer, (size_t)n);
	switch (nm_io_received_nothing(flow->conn, n)) {
	case NM_IO_AGAIN:
		return 0;
	case NM_IO_EOF:
		return -ECONNRESET;
	default:
		return (int)n;
	}
}

static int receive_bytes(struct nm_io *io, struct nm_flow *flow)
{
	ssize_t n;

	if (nm_conn_recv(io, flow->conn, nm_message_chunk(io, flow->left), &n) >= NM_IO_EOF)
		return n ? (int)n : -ECONNRESET;
	flow->left -= (uint64_t)n;
	return 0;
}

static enum nm_step recvfile_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr)
{
	struct nm_transfer *transfer = nm_transfer_of(io, flow);

	if (!flow->left) {
		transfer->n_done = 0;
		begin_file(flow, transfer);
	}
	for (unsigned calls = 0;; calls++) {
		if (!(flow->conn->flags & (NM_CONN_IN | NM_CONN_HUP)))
			return NM_STEP_WAIT_IN;
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		int r = transfer->header < NM_FILES_HEADER ? receive_header(io, flow, transfer)
							   : receive_bytes(io, flow);

		if (r < 0)
			return nm_flow_failed(flow, r);
		if (flow->left)
			continue;
		if (++transfer->n_done == nm_files_of(instr->opts))
			return NM_STEP_NEXT;
		begin_file(flow, transfer);
	}
}

const struct nm_flowop nm_flowop_recvfile = {
	.name = "recvfile",
	.mirror_op = &nm_flowop_sendfile,
	.help = "receives what sendfile and sendfilev send",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS | NM_FLOWOP_FILES |
		 NM_FLOWOP_INTERNAL,
	.opts = recvfile_opts,
	.opts_size = sizeof(struct nm_opts_files),
	.step = recvfile_step,
};
