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
	{.name = "more",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_moving, more),
	 .help = "over tcp, where another message is sent next: the kernel may keep the end of "
		 "this one "
		 "until there is enough for a whole segment (MSG_MORE)"},
	{.name = "zerocopy",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_moving, zerocopy),
	 .help = "over tcp and udp: the end that sends does it without copying, if the kernel and "
		 "the "
		 "network card "
		 "can (MSG_ZEROCOPY); the result tells how often"},
	{.name = "discard",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_moving, discard),
	 .help = "over tcp: the end that receives lets the kernel drop the bytes instead of "
		 "copying them "
		 "(MSG_TRUNC)"},
	{.name = "rx_zerocopy",
	 .type = NM_TYPE_FLAG,
	 .offset = offsetof(struct nm_opts_moving, rx_zerocopy),
	 .help = "over tcp: the end that receives maps whole pages instead of copying them "
		 "(TCP_ZEROCOPY_RECEIVE), where they come so; the result tells how many bytes"},
	{.name = "rcvlowat",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct nm_opts_moving, rcvlowat_bytes),
	 .max = UINT64_C(1) << 30,
	 .help = "over tcp, of a flowop that is alone in a transaction with a duration and no "
		 "rate: the end that receives is woken when so many bytes have come (SO_RCVLOWAT), "
		 "and at the transaction's end"},
	NM_OPT_END};
