/* SPDX-License-Identifier: Apache-2.0 */
/* Protocols that this kernel may lack, made of TCP over the loopback: what transports call to make,
 * bind, connect, accept and set sockets is wrapped at link time (--wrap), and everything but SCTP
 * and vsock goes on as it is. Bytes move by the real calls. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sctp.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define FDS 1024

enum kind { REAL, SCTP, VSOCK };

static unsigned char kinds[FDS];

int __real_socket(int family, int type, int protocol);
int __real_bind(int fd, const struct sockaddr *at, socklen_t len);
int __real_connect(int fd, const struct sockaddr *to, socklen_t len);
int __real_accept4(int fd, struct sockaddr *peer, socklen_t *len, int flags);
int __real_getsockname(int fd, struct sockaddr *at, socklen_t *len);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __wrap_socket(int family, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *at, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len);
int __wrap_accept4(int fd, struct sockaddr *peer, socklen_t *len, int flags);
int __wrap_getsockname(int fd, struct sockaddr *at, socklen_t *len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

static int note(int fd, enum kind kind)
{
	if (fd >= 0 && fd < FDS)
		kinds[fd] = (unsigned char)kind;
	return fd;
}

static enum kind kind_of(int fd)
{
	return fd >= 0 && fd < FDS ? kinds[fd] : REAL;
}

/* CID 1 is this host, port p is its port p. */
static struct sockaddr_in as_inet(const struct sockaddr *at)
{
	const struct sockaddr_vm *vm = (const struct sockaddr_vm *)(const void *)at;

	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = vm->svm_port == VMADDR_PORT_ANY ? 0 : htons((uint16_t)vm->svm_port)};
}

static void as_vsock(const struct sockaddr_in *in, struct sockaddr *at, socklen_t *len)
{
	const struct sockaddr_vm vm = {.svm_family = AF_VSOCK,
				       .svm_cid = VMADDR_CID_LOCAL,
				       .svm_port = ntohs(in->sin_port)};

	memcpy(at, &vm, *len < sizeof vm ? *len : sizeof vm);
	*len = sizeof vm;
}

int __wrap_socket(int family, int type, int protocol)
{
	if (protocol == IPPROTO_SCTP)
		return note(__real_socket(family, type, 0), SCTP);
	if (family == AF_VSOCK)
		return note(__real_socket(AF_INET, type, 0), VSOCK);
	return note(__real_socket(family, type, protocol), REAL);
}

int __wrap_bind(int fd, const struct sockaddr *at, socklen_t len)
{
	if (kind_of(fd) != VSOCK)
		return __real_bind(fd, at, len);
	const struct sockaddr_in in = as_inet(at);

	return __real_bind(fd, (const struct sockaddr *)&in, sizeof in);
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	if (kind_of(fd) != VSOCK)
		return __real_connect(fd, to, len);
	const struct sockaddr_in in = as_inet(to);

	return __real_connect(fd, (const struct sockaddr *)&in, sizeof in);
}

int __wrap_accept4(int fd, struct sockaddr *peer, socklen_t *len, int flags)
{
	struct sockaddr_in in;
	socklen_t in_len = sizeof in;

	if (kind_of(fd) != VSOCK || !peer)
		return note(__real_accept4(fd, peer, len, flags), kind_of(fd));
	int taken = __real_accept4(fd, (struct sockaddr *)&in, &in_len, flags);

	if (taken >= 0)
		as_vsock(&in, peer, len);
	return note(taken, VSOCK);
}

int __wrap_getsockname(int fd, struct sockaddr *at, socklen_t *len)
{
	struct sockaddr_in in;
	socklen_t in_len = sizeof in;

	if (kind_of(fd) != VSOCK)
		return __real_getsockname(fd, at, len);
	if (__real_getsockname(fd, (struct sockaddr *)&in, &in_len) < 0)
		return -1;
	as_vsock(&in, at, len);
	return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	if ((kind_of(fd) == SCTP && level == IPPROTO_SCTP) ||
	    (kind_of(fd) == VSOCK && level == AF_VSOCK))
		return 0;
	return __real_setsockopt(fd, level, name, value, len);
}

/* An association is there when the connection is. */
static int sctp_option(int fd, int name, void *value, socklen_t *len)
{
	struct tcp_info info;
	socklen_t info_len = sizeof info;

	memset(value, 0, *len);
	if (name != SCTP_STATUS)
		return 0;
	if (__real_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &info_len) < 0)
		return -1;
	((struct sctp_status *)value)->sstat_state =
		info.tcpi_state == TCP_SYN_SENT	    ? SCTP_COOKIE_WAIT
		: info.tcpi_state == TCP_CLOSE_WAIT ? SCTP_SHUTDOWN_RECEIVED
						    : SCTP_ESTABLISHED;
	((struct sctp_status *)value)->sstat_fragmentation_point = 1400;
	return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	if (kind_of(fd) == SCTP && level == IPPROTO_SCTP)
		return sctp_option(fd, name, value, len);
	return __real_getsockopt(fd, level, name, value, len);
}
