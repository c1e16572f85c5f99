/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of control connections. */
#ifndef NM_CONTROL_ADDRESS_H
#define NM_CONTROL_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/conn.h"

/* The kinds of sockets that control connections use. */
enum nm_control_over { NM_CONTROL_TCP, NM_CONTROL_VSOCK };

extern const char *const nm_control_words[]; /* by enum nm_control_over; ends with NULL */

/* Both ends of a connected socket, without ports; IPv4 in IPv6 becomes IPv4. 0 or -errno. */
int nm_address_of_ends(int fd, struct nm_addr *ret_local, struct nm_addr *ret_remote);
/* Reads an address of the internet as nm_addr_text prints it. 0 or -EINVAL. */
int nm_address_parse(const char *text, struct nm_addr *ret);
/* The address, without port, from which this host connects to another unless a profile chooses one;
 * the other host may reach it at a different address. 0 or -errno. */
int nm_address_source(const struct nm_addr *remote, struct nm_addr *ret);
/* The address, without port, at which other hosts are most likely to reach this one: the source of
 * the route to the internet, else the address of the first interface. 0, or -EADDRNOTAVAIL where
 * there is loopback alone. */
int nm_address_outward(struct nm_addr *ret);
/* The CID of this machine, by which others reach it over vsock. 0, or -errno where it has none. */
int nm_address_own_cid(unsigned *ret);
/* The port, in host byte order; 0: the address has none. */
uint16_t nm_address_port(const struct nm_addr *addr);
/* Whether the other end of a connection is this host: both ends then have one address. */
bool nm_address_is_own(const struct nm_addr *remote, const struct nm_addr *local);
/* What keeps this host from reaching the address, or from listening there, by that address and the
 * interfaces alone; NULL: nothing. `own`: it is this host's. */
const char *nm_address_flaw(const struct nm_addr *addr, bool own);
/* Why getaddrinfo(3) has failed so for what the user named; `error`: the errno of EAI_SYSTEM. */
const char *nm_address_why_unknown(const char *name, int failure, int error);
/* Makes a socket non-blocking, and each message be sent at once (TCP_NODELAY). 0 or -errno. */
int nm_address_prepare_socket(int fd);

#endif
