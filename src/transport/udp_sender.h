/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over a socket of UDP that is connected to nobody: each is answered to its sender, from
 * the address that it was sent to, or a host with several might answer from another. */
#ifndef NM_TRANSPORT_UDP_SENDER_H
#define NM_TRANSPORT_UDP_SENDER_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "transport/conn.h"

struct nm_udp_sender {
	struct nm_addr from;
	/* the address of this end, as the kernel tells it and is told it */
	_Alignas(struct cmsghdr) char to[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	size_t to_bytes;
};

/* Has the kernel tell that address: 0 or -errno. */
int nm_udp_sender_ask(int fd, int family);
/* Bytes, or -errno. */
ssize_t nm_udp_sender_receive(int fd, void *data, size_t size, int flags,
			      struct nm_udp_sender *ret);
ssize_t nm_udp_sender_answer(int fd, void *data, size_t size, struct nm_udp_sender *sender);

#endif
