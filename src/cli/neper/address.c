/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses by the names and families that neper takes. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/neper/neper.h"
#include "control/address.h"

static int family_of(unsigned families)
{
	switch (families) {
	case NM_NEPER_IPV4:
		return AF_INET;
	case NM_NEPER_IPV6:
		return AF_INET6;
	default:
		return AF_UNSPEC;
	}
}

unsigned nm_neper_family(const char *address)
{
	struct in6_addr any;

	return inet_pton(AF_INET, address, &any) == 1	 ? NM_NEPER_IPV4
	       : inet_pton(AF_INET6, address, &any) == 1 ? NM_NEPER_IPV6
							 : 0;
}

int nm_neper_address(const char *host, unsigned families, char *to, size_t size, const char **why)
{
	const struct addrinfo hints = {.ai_family = family_of(families),
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	int error = getaddrinfo(host, NULL, &hints, &found);

	if (error == 0)
		error = getnameinfo(found->ai_addr, found->ai_addrlen, to, (socklen_t)size, NULL, 0,
				    NI_NUMERICHOST);
	*why = error ? nm_address_why_unknown(host, error, errno) : "";
	if (found)
		freeaddrinfo(found);
	return error ? -EINVAL : 0;
}

int nm_neper_addresses(const char *list, unsigned families, char *to, size_t size, char *why,
		       size_t why_size)
{
	size_t used = 0, whole = strlen(list);

	if (!whole || list[0] == ',' || list[whole - 1] == ',' || strstr(list, ",,")) {
		snprintf(why, why_size, "not a list of addresses: one is missing beside a comma");
		return -EINVAL;
	}
	for (;;) {
		size_t length = strcspn(list, ",");
		const char *cause = "";
		char name[256], address[64];

		snprintf(name, sizeof name, "%.*s", (int)length, list);
		if (length >= sizeof name ||
		    nm_neper_address(name, families, address, sizeof address, &cause) != 0) {
			snprintf(why, why_size, "\"%s\" has no address%s: %s", name,
				 families == NM_NEPER_IPV4   ? " of IPv4"
				 : families == NM_NEPER_IPV6 ? " of IPv6"
							     : "",
				 *cause ? cause : "too long");
			return -EINVAL;
		}
		used += (size_t)snprintf(to + used, size - used, "%s%s", used ? "," : "", address);
		if (used >= size) {
			snprintf(why, why_size, "too long");
			return -EINVAL;
		}
		if (!list[length])
			return 0;
		list += length + 1;
	}
}
