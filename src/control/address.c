/* SPDX-License-Identifier: Apache-2.0 */
/* Where the two ends of a control connection are, and whether they are on one host. */
#include "control/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/address.h"

#ifndef TCP_RTO_MAX_MS
#define TCP_RTO_MAX_MS 44 /* Linux 6.15 */
#endif
#define RTO_MAX_MS 1000 /* the least that it may be */

const char *const nm_control_words[] = {
	[NM_CONTROL_TCP] = "tcp", [NM_CONTROL_VSOCK] = "vsock", NULL};

static struct sockaddr_vm *as_vm(struct nm_addr *addr)
{
	return (struct sockaddr_vm *)(void *)&addr->sa;
}

static struct sockaddr_in *as_in(struct nm_addr *addr)
{
	return (struct sockaddr_in *)(void *)&addr->sa;
}

static struct sockaddr_in6 *as_in6(struct nm_addr *addr)
{
	return (struct sockaddr_in6 *)(void *)&addr->sa;
}

/* Data sockets are opened to the plain IPv4 address: a mapped one needs an IPv6 socket that takes
 * both. */
static void normalise(struct nm_addr *addr)
{
	if (addr->sa.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&as_in6(addr)->sin6_addr)) {
		struct sockaddr_in in = {.sin_family = AF_INET};

		memcpy(&in.sin_addr, &as_in6(addr)->sin6_addr.s6_addr[12], sizeof in.sin_addr);
		memset(&addr->sa, 0, sizeof addr->sa);
		memcpy(&addr->sa, &in, sizeof in);
		addr->len = sizeof in;
	}
	if (addr->sa.ss_family == AF_INET)
		as_in(addr)->sin_port = 0;
	else if (addr->sa.ss_family == AF_INET6)
		as_in6(addr)->sin6_port = 0;
	else if (addr->sa.ss_family == AF_VSOCK)
		as_vm(addr)->svm_port = 0;
}

int nm_address_of_ends(int fd, struct nm_addr *ret_local, struct nm_addr *ret_remote)
{
	struct nm_addr local = {.len = sizeof local.sa}, remote = {.len = sizeof remote.sa};

	if (getsockname(fd, (struct sockaddr *)&local.sa, &local.len) < 0 ||
	    getpeername(fd, (struct sockaddr *)&remote.sa, &remote.len) < 0)
		return -errno;
	normalise(&local);
	normalise(&remote);
	*ret_local = local;
	*ret_remote = remote;
	return 0;
}

int nm_address_parse(const char *text, struct nm_addr *ret)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;

	if (getaddrinfo(text, NULL, &hints, &found) != 0)
		return -EINVAL;
	*ret = (struct nm_addr){.len = found->ai_addrlen};
	memcpy(&ret->sa, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

int nm_address_source(const struct nm_addr *remote, struct nm_addr *ret)
{
	struct nm_addr to = *remote, from = {.len = sizeof from.sa};
	int fd = socket(remote->sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* Nothing is sent: the route is looked up. */
	nm_addr_set_port(&to, 9);
	int r = connect(fd, (const struct sockaddr *)&to.sa, to.len) < 0 ||
				getsockname(fd, (struct sockaddr *)&from.sa, &from.len) < 0
			? -errno
			: 0;

	(void)close(fd);
	normalise(&from);
	*ret = from;
	return r;
}

/* Whether other networks may reach the address of an interface. Link-local addresses are no use:
 * they mean a host only together with an interface. */
static bool is_outward(const struct ifaddrs *at, struct nm_addr *ret)
{
	struct nm_addr found = {.len = sizeof(struct sockaddr_in)};

	if (!at->ifa_addr || !(at->ifa_flags & IFF_UP))
		return false;
	if (at->ifa_addr->sa_family == AF_INET6)
		found.len = sizeof(struct sockaddr_in6);
	else if (at->ifa_addr->sa_family != AF_INET)
		return false;
	memcpy(&found.sa, at->ifa_addr, found.len);
	if (nm_addr_is_loopback(&found) ||
	    (found.sa.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_in6(&found)->sin6_addr)))
		return false;
	normalise(&found);
	*ret = found;
	return true;
}

int nm_address_outward(struct nm_addr *ret)
{
	/* Addresses reserved for documentation, which no host has: the route to them is the one to
	 * the internet. */
	static const char *const far[] = {"192.0.2.1", "2001:db8::1"};
	struct ifaddrs *list = NULL;
	struct nm_addr to;
	bool found = false;

	for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
		if (nm_address_parse(far[i], &to) == 0 && nm_address_source(&to, ret) == 0)
			return 0;
	}
	if (getifaddrs(&list) < 0)
		return -EADDRNOTAVAIL;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
		found = is_outward(at, ret);
	freeifaddrs(list);
	return found ? 0 : -EADDRNOTAVAIL;
}

int nm_address_own_cid(unsigned *ret)
{
	unsigned cid = VMADDR_CID_ANY;
	int fd = open("/dev/vsock", O_RDONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, IOCTL_VM_SOCKETS_GET_LOCAL_CID, &cid) < 0)
		error = -errno;
	else if (cid == VMADDR_CID_ANY)
		error = -EADDRNOTAVAIL;
	else
		*ret = cid;
	(void)close(fd);
	return error;
}

uint16_t nm_address_port(const struct nm_addr *addr)
{
	struct nm_addr copy = *addr;

	if (copy.sa.ss_family == AF_INET)
		return ntohs(as_in(&copy)->sin_port);
	if (copy.sa.ss_family == AF_VSOCK)
		return (uint16_t)as_vm(&copy)->svm_port; /* no slave listens on a greater one */
	return copy.sa.ss_family == AF_INET6 ? ntohs(as_in6(&copy)->sin6_port) : 0;
}

bool nm_address_is_own(const struct nm_addr *remote, const struct nm_addr *local)
{
	return nm_addr_is_loopback(remote) || nm_addr_same_host(remote, local);
}

static bool is_loopback_down(void)
{
	struct ifreq lo = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool known = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &lo) == 0;

	if (fd >= 0)
		(void)close(fd);
	return known && !(lo.ifr_flags & IFF_UP);
}

const char *nm_address_flaw(const struct nm_addr *addr, bool own)
{
	struct nm_addr copy = *addr;

	if (copy.sa.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_in6(&copy)->sin6_addr) &&
	    !as_in6(&copy)->sin6_scope_id)
		return "it is an address of each link, so the interface of this host must stand "
		       "behind it, as in fe80::1%eth0";
	if (copy.sa.ss_family != AF_VSOCK && own && is_loopback_down())
		return "the loopback interface of this host is down (ip link set lo up)";
	return NULL;
}

/* What is wrong with the interface behind an address, as in fe80::1%eth0; NULL: nothing, or there
 * is none. */
static const char *interface_flaw(const char *name)
{
	const char *interface = strchr(name, '%');
	char own[INET6_ADDRSTRLEN];
	struct in6_addr addr;

	if (!interface || (size_t)(interface - name) >= sizeof own)
		return NULL;
	(void)snprintf(own, sizeof own, "%.*s", (int)(interface - name), name);
	if (inet_pton(AF_INET6, own, &addr) != 1 || !IN6_IS_ADDR_LINKLOCAL(&addr))
		return "an interface stands only behind an address of each link, as in "
		       "fe80::1%eth0";
	interface++;
	/* By its number it is not looked for. */
	if (if_nametoindex(interface) || !interface[strspn(interface, "0123456789")])
		return NULL;
	return "this host has no interface of that name";
}

const char *nm_address_why_unknown(const char *name, int failure, int error)
{
	const char *flaw = interface_flaw(name);

	return flaw ? flaw : failure == EAI_SYSTEM ? strerror(error) : gai_strerror(failure);
}

int nm_address_prepare_socket(int fd)
{
	const int one = 1, rto_max_ms = RTO_MAX_MS;
	int family = 0;
	socklen_t length = sizeof family;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) < 0)
		return -errno;
	if (family == AF_VSOCK) /* sends at once anyway */
		return 0;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
		return -errno;
	/* Where data fills the link that both share, what is lost is sent again soon, and again: by
	 * itself TCP would wait twice as long each time. Not all kernels know both. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &one, sizeof one);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_RTO_MAX_MS, &rto_max_ms, sizeof rto_max_ms);
	return 0;
}
