/* SPDX-License-Identifier: Apache-2.0 */
/* What sockets of TCP and UDP have in common in the simulated kernel: addresses, names and
 * options. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "object.h"
#include "world.h"

/* --- addresses --- */

unsigned sim_host_at(const struct object *from, uint32_t address)
{
	return address >> 24 == IN_LOOPBACKNET ? from->host : address - SIM_ADDRESS(0);
}

uint32_t sim_address_towards(const struct object *from, uint32_t address)
{
	return address >> 24 == IN_LOOPBACKNET ? address : SIM_ADDRESS(from->host);
}

void sim_put_address(struct sockaddr *to, socklen_t *size, uint32_t address, uint16_t port)
{
	const struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};

	memcpy(to, &in, *size < sizeof in ? *size : sizeof in);
	*size = sizeof in;
}

uint16_t sim_port_of(const struct sockaddr *addr)
{
	struct sockaddr_in in;

	memcpy(&in, addr, sizeof in);
	return ntohs(in.sin_port); /* at the same place in both families */
}

/* 0: any; IPv6 has no other here. */
uint32_t sim_address_of(const struct sockaddr *addr)
{
	struct sockaddr_in in;

	memcpy(&in, addr, sizeof in);
	return addr->sa_family == AF_INET ? ntohl(in.sin_addr.s_addr) : 0;
}

uint16_t sim_free_port(void)
{
	if (sim_kernel.next_port < 32768)
		sim_kernel.next_port = 32768;
	return sim_kernel.next_port++;
}

/* --- sockets --- */

int sim_socket(int family, int type, int protocol)
{
	int kind = type & 0xf;

	int fault = sim_call("socket", type);

	if (fault)
		return fault;
	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	if ((kind != SOCK_STREAM || (protocol && protocol != IPPROTO_TCP)) &&
	    (kind != SOCK_DGRAM || protocol))
		sim_unknown("socket", kind);
	return sim_give(
		sim_make(kind == SOCK_DGRAM ? DATAGRAM : STREAM, 1, !(type & SOCK_NONBLOCK)));
}

static bool is_taken(const struct object *by, uint16_t port)
{
	for (unsigned i = 1; i < sim_kernel.n_places; i++) {
		const struct object *object = sim_kernel.objects[i];

		if (object && object != by && object->kind == DATAGRAM &&
		    object->host == by->host && object->port == port &&
		    !(object->reuses && by->reuses))
			return true;
	}
	return false;
}

int sim_bind(int fd, const struct sockaddr *addr, socklen_t size)
{
	int error, fault = sim_call("bind", fd);
	struct object *object = sim_socket_of(fd, &error);
	uint16_t port = sim_port_of(addr);

	(void)size;

	if (fault)
		return fault;
	if (!object)
		return -error;
	bool is_free = (object->kind == STREAM || object->kind == DATAGRAM) &&
		       (!object->port || object->gave_port);

	if (!is_free)
		return -EINVAL;
	if (port && object->kind == DATAGRAM && is_taken(object, port))
		return -EADDRINUSE;
	object->keeps_port = port;
	object->gave_port = false;
	object->port = port ? port : sim_free_port();
	object->address = sim_address_of(addr);
	object->bound = ++sim_kernel.n_bound;
	return 0;
}

void sim_name_ends(struct object *object, const struct sockaddr *peer)
{
	if (!object->port || object->gave_port)
		object->port = sim_free_port();
	object->gave_port = false;
	object->peer_port = sim_port_of(peer);
	object->peer_address = sim_address_of(peer);
	if (!object->address)
		object->address = sim_address_towards(object, object->peer_address);
}

int sim_connect(int fd, const struct sockaddr *addr, socklen_t size)
{
	int error, fault = sim_call("connect", fd);
	struct object *object = sim_socket_of(fd, &error);

	(void)size;
	if (fault)
		return fault;
	if (!object)
		return -error;
	if (object->kind != DATAGRAM)
		return sim_stream_connect(object, sim_place_of(fd), addr);
	sim_name_ends(object, addr);
	return 0;
}

ssize_t sim_send(int fd, const void *data, size_t size, int flags, const struct sockaddr *to)
{
	int error, fault = sim_call("send", (long)size);

	if (fault)
		return fault;
	if (!sim_socket_of(fd, &error))
		return -error;
	return sim_object_of(fd, DATAGRAM) ? sim_datagram_send(fd, data, size, to)
					   : sim_stream_send(fd, data, size, flags);
}

ssize_t sim_recv(int fd, void *data, size_t size, int flags, struct sockaddr *from,
		 socklen_t *from_size)
{
	int error, fault = sim_call("recv", (long)size);

	if (fault)
		return fault;
	if (!sim_socket_of(fd, &error))
		return -error;
	if (sim_object_of(fd, DATAGRAM))
		return sim_datagram_recv(fd, data, size, flags, from, from_size);
	ssize_t n = sim_stream_recv(fd, data, size, flags);

	if (from && n >= 0)
		*from_size = 0; /* a connection has no names of senders */
	return n;
}

int sim_name(int fd, struct sockaddr *addr, socklen_t *size, bool of_peer)
{
	int error, fault = of_peer ? 0 : sim_call("getsockname", fd);
	const struct object *object = sim_socket_of(fd, &error);

	if (fault)
		return fault;
	if (!object)
		return -error;
	if (of_peer &&
	    (!object->peer_port ||
	     (object->kind == STREAM && (object->state == CONNECTING || sim_is_gone(object)))))
		return -ENOTCONN;
	sim_put_address(addr, size, of_peer ? object->peer_address : object->address,
			of_peer ? object->peer_port : object->port);
	return 0;
}

int sim_set_option(int fd, int level, int name, const void *value, socklen_t size)
{
	int error, fault = sim_call("setsockopt", name);
	struct object *object = sim_socket_of(fd, &error);

	if (fault)
		return fault;
	if (!object)
		return -error;
	if (level == SOL_SOCKET && name == SO_LINGER) {
		const struct linger *linger = value;

		object->aborts = linger->l_onoff && !linger->l_linger;
	} else if (level == SOL_SOCKET && name == SO_RCVTIMEO) {
		const struct timeval *limit = value;

		object->sleep_ns =
			(uint64_t)limit->tv_sec * 1000000000 + (uint64_t)limit->tv_usec * 1000;
	} else if (level == SOL_SOCKET && name == SO_REUSEADDR) {
		object->reuses = true;
	} else if (level == IPPROTO_UDP) { /* no segmentation by the kernel */
		return -ENOPROTOOPT;
	} else if (level == SOL_SOCKET && name == SO_RCVLOWAT && size == sizeof(int)) {
		object->low_water = (uint64_t) * (const int *)value;
		sim_tell_bytes(object);
	}
	return 0; /* all others change nothing here */
}

/* What is known of a connection, as far as it is asked for. */
static void tell_tcp(const struct object *object, void *ret, size_t size)
{
	const uint64_t heard_ms = (sim_now() - object->heard_ns) / 1000000;
	const struct tcp_info info = {
		.tcpi_state = object->state == ESTABLISHED ? TCP_ESTABLISHED : TCP_CLOSE,
		.tcpi_unacked = object->held != 0,
		.tcpi_rto = 200000,
		.tcpi_last_data_recv = (uint32_t)heard_ms,
		.tcpi_last_ack_recv = (uint32_t)heard_ms,
	};

	memcpy(ret, &info, size < sizeof info ? size : sizeof info);
}

int sim_get_option(int fd, int level, int name, void *value, socklen_t *size)
{
	int error, fault = sim_call("getsockopt", name);
	struct object *object = sim_socket_of(fd, &error);

	if (fault)
		return fault;
	if (!object)
		return -error;
	memset(value, 0, *size);
	if (level == SOL_SOCKET && name == SO_ERROR) {
		error = sim_take_error(object);
		memcpy(value, &error, sizeof error);
	} else if (level == SOL_SOCKET && name == SO_INCOMING_CPU) {
		int cpu = (int)sim_random(2);

		memcpy(value, &cpu, sizeof cpu);
	} else if (level == SOL_SOCKET && name == SO_DOMAIN) {
		const int domain = AF_INET;

		memcpy(value, &domain, sizeof domain);
	} else if (level == IPPROTO_TCP && name == TCP_INFO) {
		tell_tcp(object, value, *size);
	}
	return 0;
}

int sim_fcntl(int fd, int command, int value)
{
	struct object *object = sim_object_of(fd, FREE);

	sim_call("fcntl", command); /* whose value is no argument of F_GETFL */
	if (!object)
		return -EBADF;
	if (command == F_GETFL)
		return object->blocks ? 0 : O_NONBLOCK;
	if (command != F_SETFL)
		sim_unknown("fcntl", command);
	object->blocks = !(value & O_NONBLOCK);
	return 0;
}

/* The loopback interface is up; nothing else is known. */
int sim_ioctl(int fd, unsigned long request, void *value)
{
	const struct object *object = sim_object_of(fd, STREAM);

	if (request == SIOCGIFFLAGS) {
		((struct ifreq *)value)->ifr_flags = IFF_UP;
		return 0;
	}
	if (request != SIOCOUTQ)
		return -EOPNOTSUPP;
	*(int *)value = object && object->held < INT_MAX ? (int)object->held : 0;
	return 0;
}
