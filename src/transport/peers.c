/* SPDX-License-Identifier: Apache-2.0 */
/* Judges by its address whether a host may be at the other end of data connections. */
#include "transport/peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/address.h"
#include "transport/strangers.h"

#define BITS_V4 96u /* bits in front of an address of IPv4 that is written as IPv6 */

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

/* Copies an address of so many bytes, without brackets around it; "" when it is too long. */
static void copy_address(const char *text, size_t length, char address[INET6_ADDRSTRLEN])
{
	if (length > 2 && *text == '[' && text[length - 1] == ']' && memchr(text, ':', length)) {
		text++;
		length -= 2;
	}
	snprintf(address, INET6_ADDRSTRLEN, "%.*s", (int)(length < INET6_ADDRSTRLEN ? length : 0),
		 text);
}

int nm_net_parse(const char *text, struct nm_net *ret, char *why, size_t why_size)
{
	char address[INET6_ADDRSTRLEN];
	size_t length = strcspn(text, "/");
	struct nm_net net = {.bits = 128};
	char *end = NULL;

	copy_address(text, length, address);
	bool v4 = inet_pton(AF_INET, address, net.bytes + 12) == 1;

	if (v4) {
		memcpy(net.bytes, mapped, sizeof mapped);
	} else if (inet_pton(AF_INET6, address, net.bytes) != 1) {
		snprintf(why, why_size,
			 "\"%s\" is no address of IPv4 or IPv6, nor one with the number of its "
			 "first bits behind a slash: 10.0.0.0/8, fd00::/8",
			 text);
		return -EINVAL;
	}
	unsigned most = v4 ? 32 : 128;

	if (text[length]) {
		const char *number = text + length + 1;
		unsigned long bits = strtoul(number, &end, 10);

		if (*number < '0' || *number > '9' || *end || bits > most) {
			snprintf(why, why_size, "\"%s\": behind the slash must be 0 to %u", text,
				 most);
			return -EINVAL;
		}
		net.bits = (uint8_t)(bits + (v4 ? BITS_V4 : 0));
	}
	*ret = net;
	return 0;
}

static bool covers(const struct nm_net *net, const uint8_t bytes[16])
{
	unsigned whole = net->bits / 8, rest = net->bits % 8;

	/* A user who allows ::/0 does not mean IPv4. */
	if (net->bits < BITS_V4 && memcmp(bytes, mapped, sizeof mapped) == 0)
		return false;
	if (memcmp(net->bytes, bytes, whole) != 0)
		return false;
	return !rest || (net->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

bool nm_net_covers(const struct nm_net *net, const struct nm_addr *addr)
{
	uint8_t bytes[16];

	return nm_addr_bytes((const struct sockaddr *)&addr->sa, bytes) && covers(net, bytes);
}

const struct nm_net nm_nets_all[NM_NETS_ALL] = {
	{.bytes = {[10] = 0xff, [11] = 0xff}, .bits = BITS_V4},
	{.bits = 0},
};

/* --- this host's own addresses --- */

static const struct nm_net loopbacks[] = {
	{.bytes = {[10] = 0xff, [11] = 0xff, [12] = 127}, .bits = BITS_V4 + 8},
	{.bytes = {[15] = 1}, .bits = 128},
};

#define N_LOOPBACKS (sizeof loopbacks / sizeof loopbacks[0])

static int find_own(struct nm_peers *peers)
{
	struct ifaddrs *all = NULL;
	size_t count = 0;

	if (getifaddrs(&all) < 0)
		return -errno;
	for (const struct ifaddrs *at = all; at; at = at->ifa_next)
		count++;
	peers->own = calloc(count + 1, sizeof *peers->own);
	for (const struct ifaddrs *at = all; peers->own && at; at = at->ifa_next) {
		struct nm_net *net = &peers->own[peers->n_own];

		net->bits = 128;
		peers->n_own += at->ifa_addr && nm_addr_bytes(at->ifa_addr, net->bytes);
	}
	freeifaddrs(all);
	return peers->own ? 0 : -ENOMEM;
}

int nm_peers_init(struct nm_peers *peers, const struct nm_addr *control,
		  const struct nm_addr *local)
{
	*peers = (struct nm_peers){.control = *control,
				   .same_host = nm_addr_is_loopback(control) ||
						nm_addr_same_host(control, local)};
	return peers->same_host ? find_own(peers) : 0;
}

void nm_peers_fini(struct nm_peers *peers)
{
	free(peers->own);
	*peers = (struct nm_peers){.own = NULL};
}

/* --- judging --- */

static bool any_covers(const struct nm_net *nets, size_t count, const uint8_t bytes[16])
{
	for (size_t i = 0; i < count; i++)
		if (covers(&nets[i], bytes))
			return true;
	return false;
}

/* Where the control connection is not over vsock, no CID is known but 1, by which this host reaches
 * itself. */
static bool is_known_cid(const struct nm_peers *peers, const struct nm_addr *addr)
{
	if (peers->control.sa.ss_family == AF_VSOCK && nm_addr_same_host(addr, &peers->control))
		return true;
	return peers->same_host && nm_addr_cid(addr) == VMADDR_CID_LOCAL;
}

enum nm_peer nm_peers_judge(const struct nm_peers *peers, const struct nm_addr *addr)
{
	const enum nm_peer otherwise = peers->any ? NM_PEER_IF_PROVED : NM_PEER_STRANGER;
	uint8_t bytes[16];

	if (!peers->control.len || nm_addr_same_host(addr, &peers->control))
		return NM_PEER_KNOWN;
	if (addr->sa.ss_family == AF_VSOCK)
		return is_known_cid(peers, addr) ? NM_PEER_KNOWN : otherwise;
	if (!nm_addr_bytes((const struct sockaddr *)&addr->sa, bytes))
		return peers->same_host ? NM_PEER_KNOWN : NM_PEER_STRANGER;
	if (peers->same_host && (any_covers(loopbacks, N_LOOPBACKS, bytes) ||
				 any_covers(peers->own, peers->n_own, bytes)))
		return NM_PEER_KNOWN;
	return any_covers(peers->allowed, peers->n_allowed, bytes) ? NM_PEER_IF_PROVED : otherwise;
}

bool nm_peers_admit(const struct nm_peers *peers, const struct nm_addr *addr)
{
	if (!peers || nm_peers_judge(peers, addr) == NM_PEER_KNOWN)
		return true;
	nm_strangers_note(peers->strangers, addr);
	return false;
}
