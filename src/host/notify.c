/* SPDX-License-Identifier: Apache-2.0 */
/* A datagram to the socket that the service manager has named in the environment. */
#include "host/notify.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void nm_notify(const char *path, const char *state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t size = path ? strlen(path) : 0;

	if (size < 2 || size >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, size);
	if (path[0] == '@')
		to.sun_path[0] = '\0'; /* an abstract name */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	(void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&to,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
	(void)close(fd);
}
