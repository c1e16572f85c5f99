/* SPDX-License-Identifier: Apache-2.0 */
/* A host as users write it, with or without a port behind it. */
#ifndef NM_BASE_HOST_PORT_H
#define NM_BASE_HOST_PORT_H

#include <stddef.h>
#include <stdint.h>

#define NM_HOST_MAX 255 /* bytes of a host, without the final zero */

/* Parts "host", "host:port", "address", "[address]" and "[address]:port"; colons that are no port's
 * belong to an address of IPv6. Whether the host is one is not checked. ret_host has room for
 * NM_HOST_MAX + 1 bytes; *ret_port is 0 when none is named. 0, or -EINVAL, with nothing written,
 * when the text has none of these forms. Any thread. */
int nm_host_port_split(const char *text, char *ret_host, uint16_t *ret_port);

#endif
