/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: the wall clock goes wrong by as many seconds as the file that NETMODEL_CLOCK
 * names has in its first eight bytes, at any moment and in all processes alike. The monotonic
 * clock does not: so it is when somebody sets the time of a host. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *wrong_by;
static int (*real)(clockid_t clock, struct timespec *ret);

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("NETMODEL_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *page =
		fd >= 0 ? mmap(NULL, sizeof *wrong_by, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	wrong_by = page == MAP_FAILED ? NULL : page;
	if (fd >= 0)
		(void)close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = real ? real(clock, ret) : (int)syscall(SYS_clock_gettime, clock, ret);

	if (r == 0 && wrong_by && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		ret->tv_sec += *wrong_by;
	return r;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec now;
	int r = clock_gettime(CLOCK_REALTIME, &now);

	(void)zone;
	if (r == 0)
		*ret = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return r;
}

time_t time(time_t *ret)
{
	struct timespec now;
	time_t seconds = clock_gettime(CLOCK_REALTIME, &now) == 0 ? now.tv_sec : -1;

	if (ret)
		*ret = seconds;
	return seconds;
}
