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
	const struct nm_transport_checks *checks = transport->checks;

	return checks && checks->prepare ? checks->prepare(opts, why) : 0;
}

int nm_transport_set_server(const struct nm_transport *transport, void *opts, struct nm_why *why)
{
	const struct nm_transport_checks *checks = transport->checks;

	return checks && checks->server ? checks->server(opts, why) : 0;
}

int nm_transport_check_group(const struct nm_transport *transport, const void *opts,
			     uint32_t n_flows, uint32_t port, struct nm_why *why)
{
	const struct nm_transport_checks *checks = transport->checks;

	return checks && checks->group ? checks->group(opts, n_flows, port, why) : 0;
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
	const struct nm_transport_checks *checks = transport->checks;

	return checks && checks->available ? checks->available(host, why, why_size) : 0;
}

uint32_t nm_transport_ports(const struct nm_transport *transport, const void *opts)
{
	const struct nm_transport_socket *socket = transport->socket;

	return socket && socket->ports ? socket->ports(opts) : 1;
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
	const struct nm_transport_socket *socket = transport->socket;

	return socket && socket->busy_poll_ns ? socket->busy_poll_ns(opts) : 0;
}

uint64_t nm_transport_mss_bytes(const struct nm_transport *transport, const void *opts)
{
	const struct nm_transport_socket *socket = transport->socket;

	return socket && socket->mss_bytes ? socket->mss_bytes(opts) : 0;
}

uint64_t nm_transport_tx_delay_ns(const struct nm_transport *transport, const void *opts)
{
	const struct nm_transport_socket *socket = transport->socket;

	return socket && socket->tx_delay_ns ? socket->tx_delay_ns(opts) : 0;
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
