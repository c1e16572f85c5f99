/* SPDX-License-Identifier: Apache-2.0 */
/* Wakes whoever waits for a pipe or an eventfd(2). */
#ifndef NM_HOST_WAKE_H
#define NM_HOST_WAKE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define NM_WAKE_TRIES 8

/* A wake-up that is lost leaves a thread asleep for ever: a call that fails is made again. EAGAIN:
 * there is no room, and so the other end is awake anyway. A handler of signals that calls it keeps
 * errno. */
static inline void nm_wake_with(int fd, const void *data, size_t size)
{
	for (unsigned i = 0; i < NM_WAKE_TRIES; i++)
		if (write(fd, data, size) >= 0 || errno == EAGAIN)
			return;
}

static inline void nm_wake(int event_fd)
{
	const uint64_t one = 1;

	nm_wake_with(event_fd, &one, sizeof one);
}

#endif
