/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/moving.h"

#include "flowop/flowop.h"

const struct nm_opt nm_moving_opts[] = {
	{.name = "size",
	 .type = NM_TYPE_SIZES,
	 .offset = offsetof(struct nm_opts_moving, size),
	 .min = 1,
	 .max = UINT64_C(1) << 50,
	 .required = true,
	 .help = "bytes of the message; rand(A,B) draws them anew each time, alike at both ends"},
	{.name = "rsize",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct nm_opts_moving, rsize_bytes),
	 .max = UINT64_C(1) << 50,
	 .help = "on what the master sends: the most that one receive of the slave takes, when "
		 "more than `size`, so that it takes several messages at once; at most 1m"},
	NM_OPT_END};
