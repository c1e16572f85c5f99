/* SPDX-License-Identifier: Apache-2.0 */
/* What the transports over stream sockets share. */
#ifndef NM_TRANSPORT_SOCKET_H
#define NM_TRANSPORT_SOCKET_H

#include <stdbool.h>

#include "transport/conn.h"

void nm_socket_close(struct nm_conn *conn, bool reset);
void nm_socket_finish(struct nm_conn *conn);
/* The result of a connect that was in progress: 0 or -errno. */
int nm_socket_established(struct nm_conn *conn);
/* Whether there can be such sockets: 0 or -errno. */
int nm_socket_probe(int family, int type, int protocol);
/* setsockopt of an int: 0 or -errno. */
int nm_socket_set(int fd, int level, int option, int value);
/* Whether two addresses name the same host; ports are ignored, IPv4-mapped addresses are IPv4. Those of vsock name it
 * by its CID. */
bool nm_addr_same_host(const struct nm_addr *a, const struct nm_addr *b);

#endif
