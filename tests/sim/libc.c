/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the C library that the product makes, defined in the program itself: within a world
 * they are the simulated kernel's, of its descriptors; otherwise the machine's. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../unit/sanitized.h"
#include "kernel.h"
#include "process.h"
#include "world.h"

#define CLOCK_READ_NS 20

int __poll_chk(struct pollfd *fds, nfds_t n_fds, int timeout_ms, size_t room);
ssize_t __read_chk(int fd, void *data, size_t size, size_t room);
ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags);

static long machine(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
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
	result = x0;
#else
#error "which instruction makes a system call here?"
#endif
	return result;
}

static long answer(long result)
{
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

#define MACHINE(name, ...) machine_(SYS_##name, __VA_ARGS__, 0L, 0L, 0L, 0L, 0L)
#define machine_(number, a, b, c, d, e, f, ...)                                                    \
	machine(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* --- sockets --- */

int socket(int family, int type, int protocol)
{
	return (int)answer(sim_runs() ? sim_socket(family, type, protocol)
				      : MACHINE(socket, family, type, protocol));
}

int bind(int fd, const struct sockaddr *addr, socklen_t size)
{
	return (int)answer(sim_has(fd) ? sim_bind(fd, addr, size) : MACHINE(bind, fd, addr, size));
}

int listen(int fd, int backlog)
{
	return (int)answer(sim_has(fd) ? sim_listen(fd, backlog) : MACHINE(listen, fd, backlog));
}

int connect(int fd, const struct sockaddr *addr, socklen_t size)
{
	return (int)answer(sim_has(fd) ? sim_connect(fd, addr, size)
				       : MACHINE(connect, fd, addr, size));
}

int accept4(int fd, struct sockaddr *addr, socklen_t *size, int flags)
{
	return (int)answer(sim_has(fd) ? sim_accept(fd, addr, size, flags)
				       : MACHINE(accept4, fd, addr, size, flags));
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	return answer(sim_has(fd) ? sim_send(fd, data, size, flags, NULL)
				  : MACHINE(sendto, fd, data, size, flags));
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
	       socklen_t to_size)
{
	return answer(sim_has(fd) ? sim_send(fd, data, size, flags, to)
				  : MACHINE(sendto, fd, data, size, flags, to, to_size));
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	return answer(sim_has(fd) ? sim_recv(fd, data, size, flags, NULL, NULL)
				  : MACHINE(recvfrom, fd, data, size, flags));
}

ssize_t recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from,
		 socklen_t *from_size)
{
	return answer(sim_has(fd) ? sim_recv(fd, data, size, flags, from, from_size)
				  : MACHINE(recvfrom, fd, data, size, flags, from, from_size));
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	return (int)answer(sim_has(fd) ? sim_sendmmsg(fd, messages, count)
				       : MACHINE(sendmmsg, fd, messages, count, flags));
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *limit)
{
	return (int)answer(sim_has(fd) ? sim_recvmmsg(fd, messages, count, flags)
				       : MACHINE(recvmmsg, fd, messages, count, flags, limit));
}

int socketpair(int family, int type, int protocol, int fds[2])
{
	return (int)answer(sim_runs() ? sim_socketpair(family, type, fds)
				      : MACHINE(socketpair, family, type, protocol, fds));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return answer(sim_has(fd) ? sim_sendmsg(fd, message)
				  : MACHINE(sendmsg, fd, message, flags));
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return answer(sim_has(fd) ? sim_recvmsg(fd, message)
				  : MACHINE(recvmsg, fd, message, flags));
}

int shutdown(int fd, int how)
{
	return (int)answer(sim_has(fd) ? sim_shutdown(fd, how) : MACHINE(shutdown, fd, how));
}

int close(int fd)
{
	return (int)answer(sim_has(fd) ? sim_close(fd) : MACHINE(close, fd));
}

int getsockname(int fd, struct sockaddr *addr, socklen_t *size)
{
	return (int)answer(sim_has(fd) ? sim_name(fd, addr, size, false)
				       : MACHINE(getsockname, fd, addr, size));
}

int getpeername(int fd, struct sockaddr *addr, socklen_t *size)
{
	return (int)answer(sim_has(fd) ? sim_name(fd, addr, size, true)
				       : MACHINE(getpeername, fd, addr, size));
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	return (int)answer(sim_has(fd) ? sim_set_option(fd, level, name, value, size)
				       : MACHINE(setsockopt, fd, level, name, value, size));
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	return (int)answer(sim_has(fd) ? sim_get_option(fd, level, name, value, size)
				       : MACHINE(getsockopt, fd, level, name, value, size));
}

int fcntl(int fd, int command, ...)
{
	va_list more;
	long value;

	va_start(more, command);
	value = va_arg(more, long);
	va_end(more);
	return (int)answer(sim_has(fd) ? sim_fcntl(fd, command, (int)value)
				       : MACHINE(fcntl, fd, command, value));
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list more;
	void *value;

	va_start(more, request);
	value = va_arg(more, void *);
	va_end(more);
	return (int)answer(sim_has(fd) ? sim_ioctl(fd, request, value)
				       : MACHINE(ioctl, fd, request, value));
}

ssize_t read(int fd, void *data, size_t size)
{
	return answer(sim_has(fd) ? sim_read(fd, data, size) : MACHINE(read, fd, data, size));
}

ssize_t write(int fd, const void *data, size_t size)
{
	return answer(sim_has(fd) ? sim_write(fd, data, size) : MACHINE(write, fd, data, size));
}

/* --- events --- */

int eventfd(unsigned count, int flags)
{
	return (int)answer(sim_runs() ? sim_eventfd(count, flags)
				      : MACHINE(eventfd2, count, flags));
}

int epoll_create1(int flags)
{
	return (int)answer(sim_runs() ? sim_epoll_create() : MACHINE(epoll_create1, flags));
}

int epoll_ctl(int epoll_fd, int how, int fd, struct epoll_event *event)
{
	return (int)answer(sim_has(epoll_fd) ? sim_epoll_ctl(epoll_fd, how, fd, event)
					     : MACHINE(epoll_ctl, epoll_fd, how, fd, event));
}

int epoll_wait(int epoll_fd, struct epoll_event *events, int room, int timeout_ms)
{
	int64_t timeout_ns = (int64_t)timeout_ms * 1000000;

	return (int)answer(sim_has(epoll_fd)
				   ? sim_epoll_wait(epoll_fd, events, room, timeout_ns)
				   : MACHINE(epoll_pwait, epoll_fd, events, room, timeout_ms));
}

static int64_t ns_of(const struct timespec *ts)
{
	return ts ? (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec : -1;
}

NM_UNWATCHED long syscall(long number, ...)
{
	long words[6];
	va_list more;

	va_start(more, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(more, long);
	va_end(more);
	if (number == SYS_epoll_pwait2 && sim_has((int)words[0])) {
		struct epoll_event *events;
		const struct timespec *limit;

		memcpy(&events, &words[1], sizeof events);
		memcpy(&limit, &words[3], sizeof limit);
		return answer(sim_epoll_wait((int)words[0], events, (int)words[2], ns_of(limit)));
	}
	/* Privileges are as they are, and there are no counters of hardware. */
	if (sim_runs() && (number == SYS_capget || number == SYS_capset))
		return 0;
	if (sim_runs())
		return answer(-ENOSYS);
	return answer(machine(number, words[0], words[1], words[2], words[3], words[4], words[5]));
}

/* The C library declares that poll only writes there. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

int poll(struct pollfd *fds, nfds_t n_fds, int timeout_ms)
{
	return (int)answer(sim_runs() ? sim_poll(fds, n_fds, (int64_t)timeout_ms * 1000000, false)
				      : MACHINE(poll, fds, n_fds, timeout_ms));
}

/* As others call them whose room the compiler knows. */
int __poll_chk(struct pollfd *fds, nfds_t n_fds, int timeout_ms, size_t room)
{
	(void)room;
	return poll(fds, n_fds, timeout_ms);
}

ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
	(void)room;
	return read(fd, data, size);
}

ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags)
{
	(void)room;
	return recv(fd, data, size, flags);
}

int ppoll(struct pollfd *fds, nfds_t n_fds, const struct timespec *limit, const sigset_t *mask)
{
	return (int)answer(sim_runs() ? sim_poll(fds, n_fds, ns_of(limit), mask)
				      : MACHINE(ppoll, fds, n_fds, limit, mask, 8));
}

/* --- time, chance, threads --- */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (!sim_runs())
		return (int)answer(MACHINE(clock_gettime, clock, ret));
	sim_spend(CLOCK_READ_NS);
	const uint64_t ns = sim_clock_at(sim_now());

	*ret = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000)};
	return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	if (!sim_runs())
		return (int)answer(MACHINE(nanosleep, time, left));
	(void)sim_block(NULL, NULL, sim_until(ns_of(time)), "nanosleep");
	return 0;
}

int sched_yield(void)
{
	if (sim_runs())
		sim_yield();
	return 0;
}

/* Tasks move between two CPUs as they like. */
int sched_getcpu(void)
{
	return sim_runs() ? (int)sim_random(2) : 0;
}

ssize_t getrandom(void *data, size_t size, unsigned flags)
{
	unsigned char *bytes = data;

	if (!sim_runs())
		return answer(MACHINE(getrandom, data, size, flags));
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)sim_random(256);
	return (ssize_t)size;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	struct sim_task *task;

	(void)attr;
	if (!sim_runs())
		abort(); /* the tests have no threads of the machine */
	task = sim_spawn(run, arg);
	memcpy(thread, &task, sizeof task);
	return 0;
}

int pthread_join(pthread_t thread, void **ret)
{
	struct sim_task *task;

	memcpy(&task, &thread, sizeof task);
	sim_join(task);
	if (ret)
		*ret = NULL;
	return 0;
}
