/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reaching a slave. */
#ifndef NM_CONTROL_MASTER_CONNECT_H
#define NM_CONTROL_MASTER_CONNECT_H

#include <netdb.h>

#include "control/master/master.h"

/* Connects to the slave of that name, which must be resolved by until_ns, and tries again for a
 * while where nobody listens yet; meanwhile the slaves that are there are kept in touch with. 0
 * with an owned *ret_fd, -ECANCELED after an interrupt or a failure, or another error with a phrase
 * in why. */
int nm_master_connect(struct nm_master *master, const char *name, uint64_t until_ns, int *ret_fd,
		      char *why, size_t why_size);

/* Tries the addresses in turn until one of them answers: 0 with an owned *ret_fd, -ECANCELED after
 * an interrupt, or the error that says most. */
int nm_master_try_all(struct nm_master *master, const struct addrinfo *found, uint64_t until_ns,
		      int *ret_fd);

/* Waits for an event of a socket; one that is connected has POLLOUT. 1: it is there, also where
 * time was over before, or the socket has failed; 0: time is over; -ECANCELED: interrupted, which
 * nm_master_take_interrupt then takes. */
int nm_master_wait_for(const struct nm_master *master, int fd, short events, uint64_t until_ns);

#endif
