/* SPDX-License-Identifier: Apache-2.0 */
/* sendfile: sends files by sendfile(2), or through a buffer where the transport must see the
 * bytes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flowop/files.h"
#include "flowop/flowop.h"
#include "flowop/message.h"
#include "transport/io.h"

/* The most bytes that one sendfile(2) moves. */
#define CALL_MAX 0x7ffff000u

/* Chooses the next file and begins it. A file that has changed since the directory was read is sent
 * as it is now. */
static int begin_file(const struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
		      struct nm_transfer *transfer)
{
	const struct nm_opts_files *o = instr->opts;
	uint64_t number = flow->repeated * nm_files_of(o) + transfer->n_done;
	uint64_t file =
		nm_rng_below(nm_step_key(io, flow, instr), number, instr->message.files->count);
	struct stat st;

	nm_transfer_close(transfer);
	/* O_NONBLOCK: the file may have become a pipe, whose opening would wait. */
	transfer->fd = open(instr->message.files->paths[file],
			    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (transfer->fd < 0 || fstat(transfer->fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	transfer->length = (uint64_t)st.st_size;
	flow->left = NM_FILES_HEADER + transfer->length;
	return 0;
}

/* How much of the header is left. */
static size_t header_left(const struct nm_flow *flow, const struct nm_transfer *transfer)
{
	return flow->left > transfer->length ? (size_t)(flow->left - transfer->length) : 0;
}

static void write_header(const struct nm_transfer *transfer, char header[NM_FILES_HEADER])
{
	for (unsigned i = 0; i < NM_FILES_HEADER; i++)
		header[i] = (char)(transfer->length >> (8 * (NM_FILES_HEADER - 1 - i)));
}

/* Sends into a socket: the kernel takes the file's own pages. */
static ssize_t send_by_kernel(struct nm_io *io, const struct nm_flow *flow,
			      const struct nm_transfer *transfer, uint64_t most)
{
	size_t rest = header_left(flow, transfer);
	off_t offset = (off_t)(transfer->length - flow->left);
	size_t want = flow->left < most ? (size_t)flow->left : (size_t)most;
	ssize_t n;

	if (rest) {
		write_header(transfer, io->rx);
		return nm_sys_send(flow->conn->fd, io->rx + NM_FILES_HEADER - rest, rest,
				   MSG_NOSIGNAL | MSG_DONTWAIT | (transfer->length ? MSG_MORE : 0));
	}
	do {
		n = sendfile(flow->conn->fd, transfer->fd, &offset, want);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? n : -ESTALE;
}

/* Sends by a transport that must see the bytes. */
static ssize_t send_by_hand(struct nm_io *io, const struct nm_flow *flow,
			    const struct nm_instr *instr, const struct nm_transfer *transfer,
			    uint64_t most)
{
	size_t rest = header_left(flow, transfer);
	uint64_t left = flow->left - rest;
	size_t room = io->chunk - rest;
	ssize_t n = 0;

	room = room < most ? room : (size_t)most;
	write_header(transfer, io->rx);
	memmove(io->rx, io->rx + NM_FILES_HEADER - rest, rest);
	if (left) {
		do {
			n = pread(transfer->fd, io->rx + rest, left < room ? (size_t)left : room,
				  (off_t)(transfer->length - left));
		} while (n < 0 && errno == EINTR);
		if (n <= 0)
			return n ? -errno : -ESTALE;
	}
	return nm_conn_call_send(flow->conn, instr->message.opts, io->rx, rest + (size_t)n);
}

/* Sends with one call: bytes, or -errno; -ESTALE: the file has become shorter. */
static ssize_t send_some(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr,
			 const struct nm_transfer *transfer)
{
	const struct nm_opts_files *o = instr->opts;
	uint64_t most = o->chunk_bytes && o->chunk_bytes < CALL_MAX ? o->chunk_bytes : CALL_MAX;
	size_t rest = header_left(flow, transfer);
	ssize_t n = instr->transport->send ? send_by_hand(io, flow, instr, transfer, most)
					   : send_by_kernel(io, flow, transfer, most);

	if (n <= 0)
		return n;
	flow->left -= (uint64_t)n;
	if ((size_t)n > rest)
		nm_io_count_sent(io, (uint64_t)n - rest);
	return n;
}

enum nm_step nm_sendfile_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr)
{
	struct nm_transfer *transfer = nm_transfer_of(io, flow);
	const struct nm_opts_files *o = instr->opts;
	ssize_t r = 0;

	if (!(flow->conn->flags & NM_CONN_OUT))
		return NM_STEP_WAIT_OUT;
	if (!flow->left) {
		transfer->n_done = 0;
		r = begin_file(io, flow, instr, transfer);
	}
	for (unsigned calls = 0; r >= 0; calls++) {
		if (calls == NM_STEP_CALLS)
			return NM_STEP_YIELD;
		r = send_some(io, flow, instr, transfer);
		if (r >= 0 && !flow->left) {
			if (++transfer->n_done == nm_files_of(o)) {
				nm_transfer_close(transfer);
				return NM_STEP_NEXT;
			}
			r = begin_file(io, flow, instr, transfer);
		}
	}
	if (nm_io_sent_nothing(flow->conn, r) == NM_IO_AGAIN)
		return NM_STEP_WAIT_OUT;
	nm_transfer_close(transfer);
	return nm_flow_failed(flow, r);
}

const struct nm_flowop nm_flowop_sendfile = {
	.name = "sendfile",
	.mirror_op = &nm_flowop_recvfile,
	.help = "sends one of the files of a directory, chosen at random; the other end is told "
		"its length",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES | NM_FLOWOP_FILES,
	.opts = nm_files_opts + 1,
	.opts_size = sizeof(struct nm_opts_files),
	.step = nm_sendfile_step,
};
