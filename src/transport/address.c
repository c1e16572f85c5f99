/* SPDX-License-Identifier: Apache-2.0 */
/* Socket addresses of any family: compared, parsed and printed. */
#include "transport/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host_port.h"

char *nm_addr_text(const struct nm_addr *addr, char *buf, size_t size)
{
	if (addr->sa.ss_family == AF_VSOCK && nm_addr_cid(addr) == VMADDR_CID_ANY)
		(void)snprintf(buf, size, "vsock:any");
	else if (addr->sa.ss_family == AF_VSOCK)
		(void)snprintf(buf, size, "vsock:%u", nm_addr_cid(addr));
	else if (getnameinfo((const struct sockaddr *)&addr->sa, addr->len, buf, (socklen_t)size,
			     NULL, 0, NI_NUMERICHOST) != 0)
		(void)snprintf(buf, size, "?");
	return buf;
}

void nm_addr_set_port(struct nm_addr *addr, uint16_t port)
{
	if (addr->sa.ss_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)&addr->sa)->sin6_port = htons(port);
	else if (addr->sa.ss_family == AF_INET)
		((struct sockaddr_in *)(void *)&addr->sa)->sin_port = htons(port);
}

uint16_t nm_addr_port(const struct nm_addr *addr)
{
	if (addr->sa.ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)(const void *)&addr->sa)->sin6_port);
	if (addr->sa.ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)(const void *)&addr->sa)->sin_port);
	return 0;
}

int nm_addr_parse_port(const char *text, uint16_t *ret_port)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	unsigned long port = strtoul(text, &end, 10);
	if (*end || port == 0 || port > 65535)
		return -EINVAL;
	*ret_port = (uint16_t)port;
	return 0;
}

uint32_t nm_addr_cid(const struct nm_addr *addr)
{
	return ((const struct sockaddr_vm *)(const void *)&addr->sa)->svm_cid;
}

int nm_addr_parse_cid(const char *text, struct nm_addr *ret)
{
	struct sockaddr_vm vm = {.svm_family = AF_VSOCK};
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	unsigned long long cid = strtoull(text, &end, 10);
	if (*end || errno || cid >= VMADDR_CID_ANY)
		return -EINVAL;
	vm.svm_cid = (unsigned)cid;
	memset(ret, 0, sizeof *ret);
	memcpy(&ret->sa, &vm, sizeof vm);
	ret->len = sizeof vm;
	return 0;
}

bool nm_addr_is_loopback(const struct nm_addr *addr)
{
	if (addr->sa.ss_family == AF_VSOCK)
		return nm_addr_cid(addr) == VMADDR_CID_LOCAL;
	if (addr->sa.ss_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)&addr->sa)
				     ->sin_addr.s_addr) >>
			       24 ==
		       IN_LOOPBACKNET;
	return addr->sa.ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(
		       &((const struct sockaddr_in6 *)(const void *)&addr->sa)->sin6_addr);
}

int nm_addr_endpoint(const struct nm_addr *host, const char *text, struct nm_addr *ret_to)
{
	uint16_t port;

	if (nm_addr_parse_port(text, &port) < 0)
		return -EINVAL;
	*ret_to = *host;
	nm_addr_set_port(ret_to, port);
	return 0;
}

/* Reads a numeric address. Its scope is an interface of the end that has the address: at the other
 * end, which never uses it, there may be none of that name, and the scope is left out. */
static int read_address(char *text, struct addrinfo **ret_found)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	char *scope = strchr(text, '%');
	int error = getaddrinfo(text, NULL, &hints, ret_found);

	if (!error || !scope)
		return error;
	*scope = '\0';
	return getaddrinfo(text, NULL, &hints, ret_found);
}

int nm_addr_option(const char *option, const char *value, struct nm_addr *ret, char *why,
		   size_t why_size)
{
	struct addrinfo *found = NULL;
	char address[NM_HOST_MAX + 1];
	uint16_t port;

	if (nm_host_port_split(value, address, &port) < 0 || port ||
	    read_address(address, &found) != 0) {
		snprintf(why, why_size, "%s=\"%s\": must be an IPv4 or IPv6 address", option,
			 value);
		return -EINVAL;
	}
	memcpy(&ret->sa, found->ai_addr, found->ai_addrlen);
	ret->len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

bool nm_addr_is_here(const struct nm_addr *addr)
{
	struct nm_addr at = *addr;
	int fd = socket(addr->sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	nm_addr_set_port(&at, 0);
	bool here = fd >= 0 && bind(fd, (const struct sockaddr *)&at.sa, at.len) == 0;

	if (fd >= 0)
		(void)close(fd);
	return here;
}

bool nm_addr_bytes(const struct sockaddr *addr, uint8_t ret[16])
{
	if (addr->sa_family == AF_INET6) {
		memcpy(ret, &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr, 16);
		return true;
	}
	if (addr->sa_family != AF_INET)
		return false;
	memset(ret, 0, 10);
	memset(ret + 10, 0xff, 2);
	memcpy(ret + 12, &((const struct sockaddr_in *)(const void *)addr)->sin_addr, 4);
	return true;
}

bool nm_addr_same_host(const struct nm_addr *a, const struct nm_addr *b)
{
	uint8_t bytes_a[16], bytes_b[16];

	if (a->sa.ss_family == AF_VSOCK && b->sa.ss_family == AF_VSOCK)
		return nm_addr_cid(a) == nm_addr_cid(b);
	return nm_addr_bytes((const struct sockaddr *)&a->sa, bytes_a) &&
	       nm_addr_bytes((const struct sockaddr *)&b->sa, bytes_b) &&
	       memcmp(bytes_a, bytes_b, sizeof bytes_a) == 0;
}
