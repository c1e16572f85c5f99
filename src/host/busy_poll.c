/* SPDX-License-Identifier: Apache-2.0 */
/* Lets epoll of this process poll the network card for a while. */
#include "host/busy_poll.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

/* linux/eventpoll.h of Linux 6.9; C libraries have it in sys/epoll.h since glibc 2.40. */
#ifndef EPIOCSPARAMS
struct epoll_params {
	uint32_t busy_poll_usecs;
	uint16_t busy_poll_budget; /* packets at a time; 0: as many as the kernel likes */
	uint8_t prefer_busy_poll;
	uint8_t reserved; /* 0 */
};
#define EPIOCSPARAMS _IOW(0x8A, 0x01, struct epoll_params)
#endif

int nm_epoll_busy_poll(int epoll_fd, uint64_t poll_ns)
{
	struct epoll_params params = {.busy_poll_usecs = (uint32_t)((poll_ns + 999) / 1000)};

	return ioctl(epoll_fd, EPIOCSPARAMS, &params) < 0 ? -errno : 0;
}
