/* SPDX-License-Identifier: Apache-2.0 */
#include "flowop/opening.h"

#include "flowop/flowop.h"

const struct nm_opt nm_opening_opts[] = {
	{.name = "remotehost",
	 .type = NM_TYPE_HOST,
	 .offset = offsetof(struct nm_opts_opening, remotehost),
	 .required = true,
	 .help = "the host at the other end: a name, an IPv4 or IPv6 address, or local"},
	{.name = "protocol",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct nm_opts_opening, protocol),
	 .def = "tcp",
	 .help = "the transport of the connection"},
	NM_OPT_END};
