/* SPDX-License-Identifier: Apache-2.0 */
/* Parts a host from the port behind it. */
#include "base/host_port.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"

/* 1 to 65535. */
static int parse_port(const char *text, uint16_t *ret_port)
{
	uint64_t port = 0;

	if (nm_parse_integer(text, &port) < 0 || port == 0 || port > UINT16_MAX)
		return -EINVAL;
	*ret_port = (uint16_t)port;
	return 0;
}

int nm_host_port_split(const char *text, char *ret_host, uint16_t *ret_port)
{
	const char *host = text, *colon = strchr(text, ':');
	size_t length = strlen(text);
	uint16_t port = 0;

	if (*text == '[') {
		const char *close = strchr(text, ']');

		if (!close || !colon || colon > close || (close[1] && close[1] != ':'))
			return -EINVAL;
		host = text + 1;
		length = (size_t)(close - host);
		colon = close[1] ? close + 1 : NULL;
	} else if (colon && strchr(colon + 1, ':')) {
		colon = NULL;
	} else if (colon) {
		length = (size_t)(colon - text);
	}
	if (!length || length > NM_HOST_MAX || (colon && parse_port(colon + 1, &port) < 0))
		return -EINVAL;
	memcpy(ret_host, host, length);
	ret_host[length] = '\0';
	*ret_port = port;
	return 0;
}
