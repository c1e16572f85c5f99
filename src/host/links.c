/* SPDX-License-Identifier: Apache-2.0 */
/* Interface counters over rtnetlink. */
#include <errno.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <netlink/socket.h>
#include <stdio.h>
#include <sys/socket.h>

#include "host/usage_priv.h"

static void read_link(struct rtnl_link *link, struct nm_nic *nic)
{
	const char *name = rtnl_link_get_name(link);

	*nic = (struct nm_nic){.vectors = 0};
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
