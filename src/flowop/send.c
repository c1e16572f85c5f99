/* SPDX-License-Identifier: Apache-2.0 */
/* send: write by the name that profiles for uperf use. */
#include "flowop/datagram.h"
#include "flowop/flowop.h"
#include "flowop/message.h"

/* Everything is sent by send(2) and received by recv(2): this is write by another name, as profiles
 * for uperf have it. */
const struct nm_flowop nm_flowop_send = {
	.name = "send",
	.mirror_op = &nm_flowop_recv,
	.help = "sends one message of `size` bytes, as write does",
	.flags = NM_FLOWOP_USES | NM_FLOWOP_MOVES | NM_FLOWOP_INITIATES,
	.opts = nm_message_opts,
	.opts_size = sizeof(struct nm_opts_message),
	.step = nm_write_step,
	.lossy_step = nm_datagram_write,
};
