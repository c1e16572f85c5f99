/* SPDX-License-Identifier: Apache-2.0 */
/* A leaky bucket for each of the hosts that have come last. */
#include "control/slave/visitors.h"

#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stddef.h>

#include "base/hash.h"

#define EACH_NS (UINT64_C(1000000000) / NM_VISITORS_A_SECOND)

/* Who chooses an address that collides with another's has its share of the bucket, and no more than
 * who floods it from its own: a host that is turned away comes again. */
uint64_t nm_visitors_host(const struct nm_addr *addr)
{
	const void *sa = &addr->sa;

	switch (addr->sa.ss_family) {
	case AF_INET:
		return nm_hash_nonzero(&((const struct sockaddr_in *)sa)->sin_addr,
				       sizeof(struct in_addr));
	case AF_INET6: {
		/* A host may have all addresses of its network's 64 bits, but for IPv4. */
		const struct in6_addr *in6 = &((const struct sockaddr_in6 *)sa)->sin6_addr;

		return nm_hash_nonzero(in6, IN6_IS_ADDR_V4MAPPED(in6) ? sizeof *in6 : 8);
	}
	default:
		return nm_hash_nonzero(&((const struct sockaddr_vm *)sa)->svm_cid,
				       sizeof(unsigned));
	}
}

bool nm_visitors_admit(struct nm_visitors *visitors, uint64_t host, uint64_t now_ns)
{
	size_t at = 0;

	if (!host)
		return true;
	/* The bucket of the host, or the one that has been empty for longest. */
	for (size_t i = 0; i < NM_VISITORS_HOSTS; i++) {
		if (visitors->of[i].host == host) {
			at = i;
			break;
		}
		if (visitors->of[i].until_ns < visitors->of[at].until_ns)
			at = i;
	}
	uint64_t until_ns = visitors->of[at].host == host ? visitors->of[at].until_ns : 0;

	until_ns = (until_ns > now_ns ? until_ns : now_ns) + EACH_NS;
	if (until_ns > now_ns + NM_VISITORS_AT_ONCE * EACH_NS)
		return false;
	visitors->of[at].host = host;
	visitors->of[at].until_ns = until_ns;
	return true;
}
