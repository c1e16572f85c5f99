/* SPDX-License-Identifier: Apache-2.0 */
/* sendfilev: sendfile for several files in one operation. */
#include "flowop/files.h"

const struct nm_flowop nm_flowop_sendfilev = {
	.name = "sendfilev",
	.mirror_op = &nm_flowop_recvfile,
	.help = "sends `nfiles` files of a directory, each chosen at random, one after the other",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES | NM_FLOWOP_FILES,
	.opts = nm_files_opts,
	.opts_size = sizeof(struct nm_opts_files),
	.step = nm_sendfile_step,
};
