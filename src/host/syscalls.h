/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls of the hot path, called directly. The C library's wrappers are cancellation
 * points: in a process with threads each costs some forty instructions around the call, of a
 * hundred and fifty that a whole request and response take here. Nothing in netmodel cancels
 * threads. All return -errno instead of setting errno. */
#ifndef NM_HOST_SYSCALLS_H
#define NM_HOST_SYSCALLS_H

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Sanitizers must see the calls that write into memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NM_SYSCALLS_BY_LIBC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
	__has_feature(thread_sanitizer)
#define NM_SYSCALLS_BY_LIBC 1
#endif
#endif

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(NM_SYSCALLS_BY_LIBC)
#define NM_SYSCALLS_DIRECT 1
static inline long nm_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(NM_SYSCALLS_BY_LIBC)
#define NM_SYSCALLS_DIRECT 1
static inline long nm_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8)
			 : "memory");
	return x0;
}
#endif

/* The system call of that number, or `call`, the C library's. */
#ifdef NM_SYSCALLS_DIRECT
#define NM_SYS(call, number, ...) nm_syscall6(number, __VA_ARGS__)
#else
#define NM_SYS(call, number, ...) nm_sys_result(call)
static inline long nm_sys_result(long n)
{
	return n < 0 ? -errno : n;
}
#endif

static inline ssize_t nm_sys_send(int fd, const void *data, size_t size, int flags)
{
	return NM_SYS(send(fd, data, size, flags), SYS_sendto, fd, (long)data, (long)size, flags, 0,
		      0);
}

static inline ssize_t nm_sys_recv(int fd, void *data, size_t size, int flags)
{
	return NM_SYS(recv(fd, data, size, flags), SYS_recvfrom, fd, (long)data, (long)size, flags,
		      0, 0);
}

/* timeout_ns < 0: without limit. */
static inline int nm_sys_poll(struct pollfd *fds, unsigned n_fds, int64_t timeout_ns)
{
	struct timespec limit = {.tv_sec = timeout_ns / 1000000000,
				 .tv_nsec = timeout_ns % 1000000000};
	struct timespec *at_most = timeout_ns < 0 ? NULL : &limit;

	return (int)NM_SYS(ppoll(fds, n_fds, at_most, NULL), SYS_ppoll, (long)fds, n_fds,
			   (long)at_most, 0, 0, 0);
}

/* timeout_ms < 0: without limit. */
static inline int nm_sys_epoll_wait(int epoll_fd, struct epoll_event *events, int n_events,
				    int timeout_ms)
{
	return (int)NM_SYS(epoll_wait(epoll_fd, events, n_events, timeout_ms), SYS_epoll_pwait,
			   epoll_fd, (long)events, n_events, timeout_ms, 0, 0);
}

#endif
