/* SPDX-License-Identifier: Apache-2.0 */
/* Finds transports by name, calls their optional functions, and checks which hosts a transport can
 * reach. */
#include "transport/transport.h"

#include <errno.h>
#include <stdio.h>

#include "base/ascii.h"
#include "base/host_port.h"
#include "transport/address.h"
#include "transport/peers.h"

/* What an optional function of the transport returns, or where it is missing `otherwise`. */
#define OPTIONAL(transport, group, function, otherwise, ...)                                       \
	((transport)->group && (transport)->group->function                                        \
		 ? (transport)->group->function(__VA_ARGS__)                                       \
		 : (otherwise))

const struct nm_transport *nm_transport_find(const char *name)
{
	for (const struct nm_transport *const *t = nm_transports; *t; t++)
		if (nm_ascii_equals((*t)->name, name) ||
		    ((*t)->alias && nm_ascii_equals((*t)->alias, name)))
			return *t;
	return NULL;
}

int nm_transport_prepare(const struct nm_transport *transport, void *opts, struct nm_why *why)
{
	return OPTIONAL(transport, checks, prepare, 0, opts, why);
}

int nm_transport_set_server(const struct nm_transport *transport, void *opts, struct nm_why *why)
{
	return OPTIONAL(transport, checks, server, 0, opts, why);
}

int nm_transport_check_group(const struct nm_transport *transport, const void *opts,
			     uint32_t n_flows, uint32_t port, struct nm_why *why)
{
	return OPTIONAL(transport, checks, group, 0, opts, n_flows, port, why);
}

int nm_transport_check_host(const struct nm_transport *transport, const char *host, char *why,
			    size_t why_size)
{
	const struct nm_transport_checks *checks = transport->checks;

	char name[NM_HOST_MAX + 1];
	uint16_t port;

	if (!checks || !checks->host || nm_host_port_split(host, name, &port) < 0)
		return 0;
	return checks->host(name, why, why_size);
}

int nm_transport_check_available(const struct nm_transport *transport, const char *host, char *why,
				 size_t why_size)
{
	return OPTIONAL(transport, checks, available, 0, host, why, why_size);
}

uint32_t nm_transport_ports(const struct nm_transport *transport, const void *opts)
{
	return OPTIONAL(transport, socket, ports, 1, opts);
}

const struct nm_opt *nm_transport_message_opts(const struct nm_transport *transport)
{
	return transport->message ? transport->message->opts : NULL;
}

bool nm_transport_makes_sockets(const struct nm_transport *transport)
{
	return transport->socket && transport->socket->make;
}

uint64_t nm_transport_busy_poll_ns(const struct nm_transport *transport, const void *opts)
{
	return OPTIONAL(transport, socket, busy_poll_ns, 0, opts);
}

uint64_t nm_transport_mss_bytes(const struct nm_transport *transport, const void *opts)
{
	return OPTIONAL(transport, socket, mss_bytes, 0, opts);
}

uint64_t nm_transport_tx_delay_ns(const struct nm_transport *transport, const void *opts)
{
	return OPTIONAL(transport, socket, tx_delay_ns, 0, opts);
}

const struct nm_transport *nm_transport_accepting(const struct nm_transport *transport,
						  const void *opts)
{
	const struct nm_transport_datagram *datagram = transport->datagram;
	const struct nm_transport *other =
		datagram && datagram->multiplexed && opts ? datagram->multiplexed(opts) : NULL;

	return other ? other : transport;
}

/* A master of another host must not choose the address of a transport that stays on this host: the
 * permissions of names do not apply to it. */
static bool is_elsewhere(const struct nm_transport *transport, const struct nm_peers *host)
{
	return (transport->caps & NM_TRANSPORT_ONE_HOST) && host->control.len && !host->same_host;
}

int nm_transport_check_reach(const struct nm_transport *transport, const struct nm_peers *host,
			     char *why, size_t why_size)
{
	char address[NM_ADDRESS_TEXT];
	const unsigned at_home = NM_TRANSPORT_NO_PEER | NM_TRANSPORT_ONE_HOST | NM_TRANSPORT_VSOCK;

	if (is_elsewhere(transport, host)) {
		snprintf(why, why_size,
			 "%s connections stay on one host, and %s, the other end of the control "
			 "connection, is another",
			 transport->name, nm_addr_text(&host->control, address, sizeof address));
		return -EACCES;
	}
	/* Transports that stay on this host, and vsock, need no internet address. A host that is
	 * known by its CID has none that this one could know. */
	if ((transport->caps & at_home) || host->control.sa.ss_family != AF_VSOCK)
		return 0;
	snprintf(why, why_size,
		 "%s needs an internet address, and the control connection is over vsock (-S): use "
		 "protocol=vsock",
		 transport->name);
	return -EADDRNOTAVAIL;
}
