/* SPDX-License-Identifier: Apache-2.0 */
/* neper's choice between the addresses of a host. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/neper.h"

int nm_neper_address(const char *host, enum nm_neper_family family, char *to, size_t size,
		     const char **why)
{
	const struct addrinfo hints = {.ai_family = family == NM_NEPER_IPV4 ? AF_INET : AF_INET6,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	int error = getaddrinfo(host, NULL, &hints, &found);

	if (error == 0)
		error = getnameinfo(found->ai_addr, found->ai_addrlen, to, (socklen_t)size, NULL, 0,
				    NI_NUMERICHOST);
	*why = error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error);
	if (found)
		freeaddrinfo(found);
	return error ? -EINVAL : 0;
}
