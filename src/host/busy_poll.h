/* SPDX-License-Identifier: Apache-2.0 */
/* Busy polling of an epoll instance: while it waits, it looks by itself whether the network card
 * has something. */
#ifndef NM_HOST_BUSY_POLL_H
#define NM_HOST_BUSY_POLL_H

#include <stdint.h>

/* Has each wait of the instance poll so long before it sleeps, in whole microseconds, rounded up,
 * no matter what net.core.busy_poll says. 0 or -errno: -ENOTTY before Linux 6.9, -EOPNOTSUPP of a
 * kernel without busy polling. */
int nm_epoll_busy_poll(int epoll_fd, uint64_t poll_ns);

#endif
