/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded, makes the keys that the kernel gives for PSP connections worth keeping: those of
 * netdevsim count upwards, and its devices look at the first byte alone. All others become random,
 * and are written to the file PSP_KEYS, each a line; as is, once, what stays in memory, so that who
 * looks for keys there can be seen to find something. */
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CMD_RX_ASSOC = 8, ASSOC_RX_KEY = 3, KEY_KEY = 1 };

static unsigned char kept[16];

static void tell(const char *what, const unsigned char *bytes, size_t size)
{
	char line[128];
	size_t used = (size_t)snprintf(line, sizeof line, "%s ", what);
	int fd = open(getenv("PSP_KEYS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	for (size_t i = 0; i < size; i++)
		used += (size_t)snprintf(line + used, sizeof line - used, "%02x", bytes[i]);
	line[used++] = '\n';
	if (fd < 0 || write(fd, line, used) != (ssize_t)used)
		abort();
	close(fd);
	explicit_bzero(line, sizeof line);
}

static unsigned char *find(unsigned char *at, const unsigned char *end, unsigned type, size_t *ret)
{
	while (end - at >= NLA_HDRLEN) {
		struct nlattr attr;

		memcpy(&attr, at, sizeof attr);
		if (attr.nla_len < NLA_HDRLEN)
			break;
		if ((attr.nla_type & NLA_TYPE_MASK) == type) {
			*ret = attr.nla_len - (size_t)NLA_HDRLEN;
			return at + NLA_HDRLEN;
		}
		at += NLA_ALIGN(attr.nla_len);
	}
	return NULL;
}

static void change(unsigned char *message, size_t size)
{
	struct nlmsghdr header;
	struct genlmsghdr command;
	size_t length;

	if (size < NLMSG_HDRLEN + GENL_HDRLEN)
		return;
	memcpy(&header, message, sizeof header);
	memcpy(&command, message + NLMSG_HDRLEN, sizeof command);
	if (header.nlmsg_type < NLMSG_MIN_TYPE || command.cmd != CMD_RX_ASSOC)
		return;
	unsigned char *nest =
		find(message + NLMSG_HDRLEN + GENL_HDRLEN, message + size, ASSOC_RX_KEY, &length);
	unsigned char *key = nest ? find(nest, nest + length, KEY_KEY, &length) : NULL;

	if (!key)
		return;
	if (getrandom(key + 1, length - 1, 0) != (ssize_t)length - 1)
		abort();
	tell("key", key + 1, length - 1);
	if (kept[0] == 0) {
		if (getrandom(kept, sizeof kept, 0) != sizeof kept)
			abort();
		kept[0] |= 1;
		tell("kept", kept, sizeof kept);
	}
}

ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	int domain = 0;
	socklen_t length = sizeof domain;
	ssize_t n = syscall(SYS_recvfrom, fd, buf, size, flags, NULL, NULL);

	if (n > 0 && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
	    domain == AF_NETLINK)
		change(buf, (size_t)n);
	return n;
}
