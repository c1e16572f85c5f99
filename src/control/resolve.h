/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves names of hosts, without waiting longer than the caller asks: the system's resolver heeds
 * neither interrupts nor a time limit, so it works in a process of its own. */
#ifndef NM_CONTROL_RESOLVE_H
#define NM_CONTROL_RESOLVE_H

#include <netdb.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define NM_RESOLVE_MAX 16 /* addresses of one name that are tried */

/* A list whose links and addresses are in the arrays: it must stay where it is. */
struct nm_resolved {
	struct addrinfo list
		[NM_RESOLVE_MAX]; /* begins with the first; only family, address and next are set */
	struct sockaddr_storage addresses[NM_RESOLVE_MAX];
};

/* Numeric addresses are there at once. 0, -ECANCELED when interrupt_fd (-1: none) has become
 * readable, -ETIMEDOUT at until_ns, or another error; with all but -ECANCELED a phrase in why. */
int nm_resolve(const char *name, uint16_t port, int interrupt_fd, uint64_t until_ns,
	       struct nm_resolved *ret_resolved, char *why, size_t why_size);

#endif
