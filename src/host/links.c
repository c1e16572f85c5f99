/* SPDX-License-Identifier: Apache-2.0 */
/* Interface counters over rtnetlink. */
#include <errno.h>
#include <linux/if.h>
#include <netlink/addr.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <netlink/socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "host/procfile.h"
#include "host/usage_priv.h"

static void read_identity(struct rtnl_link *link, struct nm_nic_id *ret)
{
	const struct nl_addr *address = rtnl_link_get_addr(link);
	size_t size = address ? nl_addr_get_len(address) : 0;

	ret->index = (unsigned)rtnl_link_get_ifindex(link);
	ret->is_up = rtnl_link_get_flags(link) & IFF_UP;
	if (size && size <= sizeof ret->address) {
		memcpy(ret->address, nl_addr_get_binary_addr(address), size);
		ret->address_size = size;
	}
}

bool host__is_nic_in_sysfs(const char *sys, const char *name, const struct nm_nic_id *id)
{
	char line[128], address[3 * sizeof id->address + 1] = "";
	size_t used = 0;

	nm_procfile_line(line, sizeof line, "%s/class/net/%s/ifindex", sys, name);
	if (strtoul(line, NULL, 10) != id->index)
		return false;
	for (size_t i = 0; i < id->address_size; i++)
		used += (size_t)snprintf(address + used, sizeof address - used,
					 i ? ":%02x" : "%02x", id->address[i]);
	nm_procfile_line(line, sizeof line, "%s/class/net/%s/address", sys, name);
	return strcmp(line, address) == 0;
}

static void read_link(struct rtnl_link *link, struct nm_nic *nic)
{
	const char *name = rtnl_link_get_name(link);

	*nic = (struct nm_nic){.vectors = 0};
	read_identity(link, &nic->id);
	snprintf(nic->name, sizeof nic->name, "%s", name ? name : "");
#define READ(member, word) nic->member = rtnl_link_get_stat(link, RTNL_LINK_##word);
	NM_NIC_COUNTERS(READ)
#undef READ
}

static bool is_idle(const struct nm_nic *nic)
{
#define OR(member, word) | nic->member
	return !(0 NM_NIC_COUNTERS(OR));
#undef OR
}

static int read_cache(struct nl_sock *sock, struct nm_nic *nics, size_t *ret_count)
{
	struct nl_cache *cache;
	size_t count = 0;
	int r = rtnl_link_alloc_cache(sock, AF_UNSPEC, &cache);

	if (r < 0)
		return -EIO;
	/* Of many interfaces, those that never carried anything need no place: they count from 0
	 * later. All others need one: an interface that is left out now and read next time would
	 * count from 0, too. */
	bool many = nl_cache_nitems(cache) > NM_USAGE_MAX_NICS;

	r = 0;
	for (struct nl_object *o = nl_cache_get_first(cache); o && r == 0;
	     o = nl_cache_get_next(o)) {
		struct nm_nic nic;

		read_link((struct rtnl_link *)(void *)o, &nic);
		if (many && is_idle(&nic))
			continue;
		if (count == NM_USAGE_MAX_NICS)
			r = -E2BIG;
		else
			nics[count++] = nic;
	}
	nl_cache_free(cache);
	*ret_count = r == 0 ? count : 0;
	return r;
}

int host__read_nics(struct nm_nic *nics, size_t *ret_count)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (!sock)
		return -ENOMEM;
	int r = nl_connect(sock, NETLINK_ROUTE) < 0 ? -EIO : 0;

	if (r == 0)
		r = read_cache(sock, nics, ret_count);
	nl_socket_free(sock);
	return r;
}
