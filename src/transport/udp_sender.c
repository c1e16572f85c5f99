/* SPDX-License-Identifier: Apache-2.0 */
/* recvmsg(2) and sendmsg(2) with the address of this end: ip(7), ipv6(7). */
#include "transport/udp_sender.h"

#include <errno.h>

#include "transport/socket.h"

int nm_udp_sender_ask(int fd, int family)
{
	return family == AF_INET6 ? nm_socket_set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
				  : nm_socket_set(fd, IPPROTO_IP, IP_PKTINFO, 1);
}

ssize_t nm_udp_sender_receive(int fd, void *data, size_t size, int flags, struct nm_udp_sender *ret)
{
	struct iovec part = {data, size};
	struct msghdr message = {.msg_name = &ret->from.sa,
				 .msg_namelen = sizeof ret->from.sa,
				 .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = ret->to,
				 .msg_controllen = sizeof ret->to};
	ssize_t n = recvmsg(fd, &message, flags);

	ret->from.len = message.msg_namelen;
	ret->to_bytes = message.msg_controllen;
	return n < 0 ? -errno : n;
}

ssize_t nm_udp_sender_answer(int fd, void *data, size_t size, struct nm_udp_sender *sender)
{
	struct iovec part = {data, size};
	struct msghdr message = {.msg_name = &sender->from.sa,
				 .msg_namelen = sender->from.len,
				 .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = sender->to_bytes ? sender->to : NULL,
				 .msg_controllen = sender->to_bytes};
	ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

	return n < 0 ? -errno : n;
}
