/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/moving.h"

#include "flowop/flowop.h"

const struct nm_opt nm_moving_opts[] = {{.name = "size",
					 .type = NM_TYPE_SIZE,
					 .offset = offsetof(struct nm_opts_moving, size_bytes),
					 .min = 1,
					 .max = UINT64_C(1) << 50,
					 .required = true,
					 .help = "bytes of the message"},
					NM_OPT_END};
