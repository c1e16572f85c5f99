/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the option data_host, whose form the compiler has checked. */
#include "engine/data_host.h"

#include <netinet/in.h>

#include "base/host_port.h"
#include "engine/engine_priv.h"
#include "flowop/flowop.h"
#include "transport/address.h"

static bool read_option(const struct nm_instr *opening, struct nm_addr *ret)
{
	const struct nm_opts_open *opts = opening->opts;
	char why[NM_HOST_MAX + 96];

	return nm_has_data_host(opts) &&
	       nm_addr_option("data_host", opts->data_host, ret, why, sizeof why) == 0;
}

const struct nm_addr *nm_data_peer(const struct nm_engine *engine, const struct nm_instr *connect,
				   struct nm_addr *room)
{
	return read_option(connect, room) ? room : &engine->hosts[connect->host].peer;
}

/* All addresses of both families, or of IPv4 where there is no IPv6. */
static const struct nm_addr *everywhere(struct nm_addr *room)
{
	*room = (struct nm_addr){.sa.ss_family = AF_INET6, .len = sizeof(struct sockaddr_in6)};
	if (!nm_addr_is_here(room))
		*room = (struct nm_addr){.sa.ss_family = AF_INET,
					 .len = sizeof(struct sockaddr_in)};
	return room;
}

const struct nm_addr *nm_data_local(const struct nm_engine *engine, const struct nm_instr *accept,
				    struct nm_addr *room)
{
	if (nm_instr_is_public(accept))
		return everywhere(room);
	return read_option(accept, room) && nm_addr_is_here(room)
		       ? room
		       : &engine->hosts[accept->host].local;
}
