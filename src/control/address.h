/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of control connections. */
#ifndef NM_CONTROL_ADDRESS_H
#define NM_CONTROL_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/conn.h"

/* What control connections go over. */
enum nm_control_over { NM_CONTROL_TCP, NM_CONTROL_VSOCK };

extern const char *const nm_control_words[]; /* by that; ends with NULL */

/* Both ends of a connection, without ports; IPv4 in IPv6 becomes IPv4. 0 or -errno. */
int nm_address_of_ends(int fd, struct nm_addr *ret_local, struct nm_addr *ret_remote);
/* The other way round, for addresses of the internet. 0 or -EINVAL. */
int nm_address_parse(const char *text, struct nm_addr *ret);
/* From which address this host connects to another when nothing is said, which need not be the one
 * at which it is reached; without port. 0 or -errno. */
int nm_address_source(const struct nm_addr *remote, struct nm_addr *ret);
uint16_t nm_address_port(const struct nm_addr *addr);
/* 127.0.0.0/8, ::1 or CID 1. */
bool nm_address_is_loopback(const struct nm_addr *addr);
/* Whether the other end of a connection is this host: the way to it begins where it ends. */
bool nm_address_is_own(const struct nm_addr *remote, const struct nm_addr *local);
/* Non-blocking, and each message sent at once. 0 or -errno. */
int nm_address_prepare_socket(int fd);

#endif
