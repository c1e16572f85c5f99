/* SPDX-License-Identifier: Apache-2.0 */
/* Streams between a virtual machine and its host, or within either; vsock(7). A host is named by
 * its CID; its own processes reach it by CID 1. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/vm_sockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/address.h"
#include "transport/socket.h"
#include "transport/transport.h"

struct vsock_opts {
	uint64_t wndsz_bytes;
};

static const struct nm_opt vsock_opts[] = {
	NM_OPT(SIZE, struct vsock_opts, wndsz_bytes, "wndsz", .max = INT32_MAX,
	       .help = "bytes that may be on the way to a socket (SO_VM_SOCKETS_BUFFER_SIZE), at "
		       "both ends; unset or 0 leaves it to the kernel"),
	NM_OPT_END,
};

static struct sockaddr_vm *as_vm(struct nm_addr *addr)
{
	return (struct sockaddr_vm *)(void *)&addr->sa;
}

/* The vsock address of a host: the control connection has reached it over vsock, or it is this
 * one. */
static struct nm_addr address_of(const struct nm_addr *host)
{
	struct nm_addr at = {.len = sizeof(struct sockaddr_vm)};

	as_vm(&at)->svm_family = AF_VSOCK;
	as_vm(&at)->svm_cid = host->sa.ss_family == AF_VSOCK ? nm_addr_cid(host) : VMADDR_CID_LOCAL;
	return at;
}

/* Only where CID 1 is this host can a socket be bound to it. */
static int try_own_cid(void)
{
	const struct sockaddr_vm own = {
		.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_LOCAL, .svm_port = VMADDR_PORT_ANY};
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r = fd < 0 || bind(fd, (const struct sockaddr *)&own, sizeof own) < 0 ? -errno : 0;

	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* An address of the internet has no CID, and a kernel that has vsock within a host may be reached
 * by CID 1 only. */
static int vsock_check_host(const char *host, char *why, size_t why_size)
{
	struct in_addr in;
	struct in6_addr in6;

	if (inet_pton(AF_INET, host, &in) != 1 && inet_pton(AF_INET6, host, &in6) != 1)
		return 0;
	snprintf(why, why_size,
		 "an address of the internet has no place in vsock: must be local, or with -S "
		 "vsock at both ends a CID, which is a number");
	return -EINVAL;
}

static int vsock_available(const char *host, char *why, size_t why_size)
{
	int r = nm_socket_probe(AF_VSOCK, SOCK_STREAM, 0);

	if (r == -EAFNOSUPPORT) {
		snprintf(why, why_size, "the kernel has no vsock (CONFIG_VSOCKETS, module vsock)");
	} else if (r < 0) {
		snprintf(why, why_size, "no socket: %s", strerror(-r));
	} else if (strcmp(host, "local") == 0 || strcmp(host, "1") == 0) {
		r = try_own_cid();
		if (r < 0)
			snprintf(why, why_size,
				 "the kernel has no vsock within a host (CONFIG_VSOCKETS_LOOPBACK, "
				 "module vsock_loopback)");
	}
	return r;
}

static int vsock_start(const void *opts, const struct nm_start *how, void **ret_started, char *why,
		       size_t why_size)
{
	(void)opts, (void)ret_started;
	if (how->peer->sa.ss_family == AF_VSOCK || nm_addr_is_loopback(how->peer) ||
	    nm_addr_same_host(how->peer, how->local))
		return 0;
	snprintf(why, why_size,
		 "vsock: %s is reached over the internet, which does not tell its CID: give that "
		 "as remotehost, and -S vsock to both ends",
		 *how->peer_name ? how->peer_name : "the other end");
	return -EADDRNOTAVAIL;
}

static int set_buffer(int fd, const struct vsock_opts *o)
{
	uint64_t size = o->wndsz_bytes;

	if (size == 0)
		return 0;
	/* The maximum comes first: it cuts the size. */
	if (setsockopt(fd, AF_VSOCK, SO_VM_SOCKETS_BUFFER_MAX_SIZE, &size, sizeof size) < 0 ||
	    setsockopt(fd, AF_VSOCK, SO_VM_SOCKETS_BUFFER_SIZE, &size, sizeof size) < 0)
		return -errno;
	return 0;
}

static int open_socket(const struct vsock_opts *o)
{
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : nm_socket_close_on_error(fd, set_buffer(fd, o));
}

/* Ports have 32 bits. */
static int parse_port(const char *text, unsigned *ret_port)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	unsigned long long port = strtoull(text, &end, 10);
	if (*end || errno || port == 0 || port >= VMADDR_PORT_ANY)
		return -EINVAL;
	*ret_port = (unsigned)port;
	return 0;
}

static int vsock_listen(const void *opts, const struct nm_addr *local, enum nm_listen how,
			int backlog, char text[NM_ENDPOINT_TEXT], int *ret_fd)
{
	struct nm_addr at = address_of(local);

	if (how == NM_LISTEN_SHARED) /* a port cannot be shared: one queue must do */
		return -EOPNOTSUPP;
	as_vm(&at)->svm_cid = VMADDR_CID_ANY;
	as_vm(&at)->svm_port = VMADDR_PORT_ANY;
	if (how == NM_LISTEN_FIXED && parse_port(text, &as_vm(&at)->svm_port) < 0)
		return -EINVAL;
	int fd = open_socket(opts);
	if (fd < 0)
		return fd;
	if (bind(fd, (const struct sockaddr *)&at.sa, at.len) < 0 || listen(fd, backlog) < 0 ||
	    getsockname(fd, (struct sockaddr *)&at.sa, &at.len) < 0)
		return nm_socket_close_on_error(fd, -errno);
	snprintf(text, NM_ENDPOINT_TEXT, "%u", as_vm(&at)->svm_port);
	*ret_fd = fd;
	return 0;
}

static int vsock_endpoint(const struct nm_addr *host, const char *text, struct nm_addr *ret_to)
{
	unsigned port;

	if (parse_port(text, &port) < 0)
		return -EINVAL;
	*ret_to = address_of(host);
	as_vm(ret_to)->svm_port = port;
	return 0;
}

static int vsock_connect(struct nm_conn *conn, const void *opts, const struct nm_addr *to)
{
	int fd = open_socket(opts);
	int r = fd < 0 ? fd : nm_socket_connect(fd, to);

	if (r == 0 || r == -EINPROGRESS)
		nm_socket_begin(conn, fd, false);
	return r;
}

static int vsock_accept(struct nm_conn *conn, int listen_fd, const void *opts,
			const struct nm_peers *peers)
{
	int fd = nm_socket_accept(listen_fd, peers);

	(void)opts; /* inherited from the listening socket */
	if (fd < 0)
		return fd;
	nm_socket_begin(conn, fd, true);
	return 0;
}

static int vsock_attach(struct nm_conn *conn, int fd, const void *opts)
{
	int r = set_buffer(fd, opts);

	if (r == 0)
		nm_socket_begin(conn, fd, true);
	return r;
}

const struct nm_transport nm_transport_vsock = {
	.name = "vsock",
	.help = "streams between a virtual machine and its host, or within one host; remotehost is "
		"a CID with -S vsock, or local",
	.caps = NM_TRANSPORT_RELIABLE | NM_TRANSPORT_VSOCK | NM_TRANSPORT_WAITS,
	.opts = vsock_opts,
	.opts_size = sizeof(struct vsock_opts),
	.listen = vsock_listen,
	.endpoint = vsock_endpoint,
	.connect = vsock_connect,
	.established = nm_socket_established,
	.accept = vsock_accept,
	.close = nm_socket_close,
	.checks = &(const struct nm_transport_checks){.host = vsock_check_host,
						      .available = vsock_available},
	.shared = &(const struct nm_transport_shared){.start = vsock_start},
	.preamble = &(const struct nm_transport_preamble){.attach = vsock_attach},
};
