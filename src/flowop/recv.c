/* SPDX-License-Identifier: Apache-2.0 */
/* recv: read by the name that profiles for uperf use. */
#include "flowop/datagram.h"
#include "flowop/flowop.h"
#include "flowop/message.h"

const struct nm_flowop nm_flowop_recv = {
	.name = "recv",
	.mirror_op = &nm_flowop_send,
	.help = "receives one message of exactly `size` bytes, as read does",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_FOLLOWS,
	.opts = nm_message_opts,
	.opts_size = sizeof(struct nm_opts_message),
	.step = nm_read_step,
	.lossy_step = nm_datagram_read,
};
