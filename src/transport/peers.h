/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts that may be at the other end of data connections: the one at the other end of the
 * control connection, and others that an option allows. A profile allows none. */
#ifndef NM_TRANSPORT_PEERS_H
#define NM_TRANSPORT_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/conn.h"

struct nm_strangers;

/* All addresses that begin with these bits; addresses of IPv4 are written as IPv6
 * (::ffff:a.b.c.d). */
struct nm_net {
	uint8_t bytes[16];
	uint8_t bits;
};

/* All addresses, of IPv4 and of IPv6. */
#define NM_NETS_ALL 2
extern const struct nm_net nm_nets_all[NM_NETS_ALL];

/* "10.0.0.0/8", "fd00::/8", or one address. 0, or -EINVAL with a phrase in why. */
int nm_net_parse(const char *text, struct nm_net *ret, char *why, size_t why_size);
/* Whether the address, of IPv4 or IPv6, is in the net. */
bool nm_net_covers(const struct nm_net *net, const struct nm_addr *addr);

/* All zero: nobody is known yet. */
struct nm_peers {
	struct nm_addr control; /* the other end of the control connection; len 0: anybody may */
	const struct nm_net
		*allowed; /* further addresses, which have to prove themselves; borrowed */
	size_t n_allowed;
	bool any;			/* any host that proves itself is taken */
	struct nm_strangers *strangers; /* counts hosts turned away; borrowed, or NULL */
	bool same_host;			/* the control connection does not leave this host */
	/* with same_host this host's own addresses; owned */
	struct nm_net *own;
	size_t n_own;
};

/* control, local: the ends of the control connection. The rest is zero afterwards. 0, or -errno:
 * then this host's own addresses are not known, and only loopback's are taken for them. */
int nm_peers_init(struct nm_peers *peers, const struct nm_addr *control,
		  const struct nm_addr *local);
void nm_peers_fini(struct nm_peers *peers); /* it may be zero */

enum nm_peer {
	NM_PEER_STRANGER,  /* may not be at the other end */
	NM_PEER_IF_PROVED, /* may be, if it knows the token of the run (preamble.h) */
	NM_PEER_KNOWN,	   /* the host of the control connection */
};

/* Judges an address from which data come, or to which they are to go; its port does not matter. For
 * a transport without addresses (unix): any address. */
enum nm_peer nm_peers_judge(const struct nm_peers *peers, const struct nm_addr *addr);

/* Whether a connection from that address is taken if it proves itself. peers NULL: always. */
static inline bool nm_peers_may_prove(const struct nm_peers *peers, const struct nm_addr *addr)
{
	return !peers || nm_peers_judge(peers, addr) != NM_PEER_STRANGER;
}

/* Whether a connection from that address is taken without a proof: if not, it is counted as a
 * stranger's. peers NULL: always. */
bool nm_peers_admit(const struct nm_peers *peers, const struct nm_addr *addr);

#endif
