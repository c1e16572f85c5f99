/* SPDX-License-Identifier: Apache-2.0 */
/* Files, for the flowops that move them: the files of a directory, and how far a flow is with one.
 *
 * On the connection each file is its length, as eight bytes with the highest first, and then its
 * bytes. Only the bytes of files are counted. */
#ifndef NM_FLOWOP_FILES_H
#define NM_FLOWOP_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "flowop/flowop.h"

#define NM_FILES_MAX	1000000u
#define NM_FILES_HEADER 8u

/* One block of memory. */
struct nm_files {
	size_t count;
	char *paths[];
};

/* All regular files in and below the directory that may be read, by name; symbolic links are
 * followed to files only. 0 with *ret_files, which the caller frees, or -errno with a phrase in
 * why; no file at all is -ENOENT. */
int nm_files_find(const char *dir, struct nm_files **ret_files, char *why, size_t why_size);

/* How far a flow is; behind the flow and its connections in memory. flow->left tells how many bytes
 * are left, of the sender's present file with its header, or of the receiver's header or file; 0:
 * no file is on its way. */
struct nm_transfer {
	uint64_t length; /* of the present file; of the receiver: as far as its header has come */
	int fd;		 /* sender: the present file; -1: none */
	uint32_t header; /* receiver: bytes of the header that have come */
	uint64_t n_done; /* files, in this operation */
};

static inline struct nm_transfer *nm_transfer_of(const struct nm_io *io, struct nm_flow *flow)
{
	return (struct nm_transfer *)(void *)((char *)flow + io->behind.transfer_offset);
}
/* Closes the present file, if one is open. */
void nm_transfer_close(struct nm_transfer *transfer);

/* The options of sendfilev: nfiles first, and then the options that sendfile has, too. */
extern const struct nm_opt nm_files_opts[];

/* Files of one operation. */
static inline uint64_t nm_files_of(const struct nm_opts_files *opts)
{
	return opts->n_files ? opts->n_files : 1;
}

/* The step of sendfile and sendfilev. */
enum nm_step nm_sendfile_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);

/* The other end of sendfile and sendfilev. */
extern const struct nm_flowop nm_flowop_recvfile;

#endif
