/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the internet and of vsock(7), and their ports. */
#ifndef NM_TRANSPORT_ADDRESS_H
#define NM_TRANSPORT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/conn.h"

#define NM_ADDRESS_TEXT 64

/* "10.0.0.7", "fe80::1%eth0", "vsock:3"; "?" when it has no such text. Returns buf. */
char *nm_addr_text(const struct nm_addr *addr, char *buf, size_t size);
uint16_t nm_addr_port(const struct nm_addr *addr); /* 0: none */
void nm_addr_set_port(struct nm_addr *addr, uint16_t port);
/* The CID of an address of vsock(7). */
uint32_t nm_addr_cid(const struct nm_addr *addr);
/* A CID in digits: 0, or -EINVAL. The port is 0. */
int nm_addr_parse_cid(const char *text, struct nm_addr *ret);
/* Whether the address never leaves this host: 127.0.0.0/8, ::1, CID 1. */
bool nm_addr_is_loopback(const struct nm_addr *addr);
/* 1 to 65535, in digits: 0, or -EINVAL. */
int nm_addr_parse_port(const char *text, uint16_t *ret_port);
/* The `endpoint` of transports whose listeners are called by their port. */
int nm_addr_endpoint(const struct nm_addr *host, const char *text, struct nm_addr *ret_to);
/* Reads the address that an option names, as localhost=. No name is looked up: both ends compile
 * the profile, and a check sends nothing. 0, or -EINVAL with a phrase in why. */
int nm_addr_option(const char *option, const char *value, struct nm_addr *ret, char *why,
		   size_t why_size);
/* Whether this host has the address: a socket can be bound there. */
bool nm_addr_is_here(const struct nm_addr *addr);
/* The address as one of IPv6, mapped when it is of IPv4. False: it is of neither. */
bool nm_addr_bytes(const struct sockaddr *addr, uint8_t ret[16]);
/* Whether two addresses name the same host; ports are ignored, IPv4-mapped addresses are IPv4.
 * Addresses of vsock name a host by its CID. */
bool nm_addr_same_host(const struct nm_addr *a, const struct nm_addr *b);

#endif
