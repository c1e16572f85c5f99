/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: makes one call of one function fail. NETMODEL_FAIL=FUNCTION:N says which: the Nth
 * of this process and of those that it forks, counted by each from the fork on. "alloc" stands for
 * malloc, calloc and realloc, called by the program, the C library, libxml2 or jansson: libcrypto,
 * libseccomp and the reader of jansson crash by themselves where they get no memory.
 * NETMODEL_FAIL_HIT names a file whose first byte is set once the call has failed.
 * NETMODEL_FAIL_SHOW: where it has failed, and where the process then crashes, is told on standard
 * error. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *at, size_t size);

static char function[32];
static unsigned long wanted; /* 0: nothing fails */
static _Atomic unsigned long count;
static volatile char *hit;

/* Where the code of those is that are left alone. */
static struct {
	uintptr_t from, to;
} spared[64];
static size_t n_spared;

static int spare(struct dl_phdr_info *object, size_t size, void *arg)
{
	(void)size, (void)arg;
	if (!strstr(object->dlpi_name, "libcrypto") && !strstr(object->dlpi_name, "libssl") &&
	    !strstr(object->dlpi_name, "libseccomp"))
		return 0;
	for (int i = 0; i < object->dlpi_phnum && n_spared < 64; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		spared[n_spared].from = object->dlpi_addr + part->p_vaddr;
		spared[n_spared].to = spared[n_spared].from + part->p_memsz;
		n_spared++;
	}
	return 0;
}

static bool is_spared(const void *caller)
{
	for (size_t i = 0; i < n_spared; i++)
		if ((uintptr_t)caller >= spared[i].from && (uintptr_t)caller < spared[i].to)
			return true;
	return false;
}

static bool shows;

static void show(void)
{
	void *frames[32];

	backtrace_symbols_fd(frames, backtrace(frames, 32), 2);
}

static void on_crash(int signal_number)
{
	static const char text[] = "crashed at:\n";

	(void)signal_number;
	(void)!write(2, text, sizeof text - 1);
	show();
	_exit(139);
}

static void begin_to_show(void)
{
	const struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_RESETHAND};
	void *frame;

	(void)backtrace(&frame, 1); /* which loads what it needs */
	(void)sigaction(SIGSEGV, &action, NULL);
	(void)sigaction(SIGABRT, &action, NULL);
	shows = true;
}

__attribute__((constructor)) static void begin(void)
{
	const char *what = getenv("NETMODEL_FAIL"), *file = getenv("NETMODEL_FAIL_HIT");
	const char *colon = what ? strchr(what, ':') : NULL;
	int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;

	if (!colon || fd < 0 || (size_t)(colon - what) >= sizeof function)
		return;
	/* In memory that sessions share, as they may make few system calls. */
	void *shared = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	(void)close(fd);
	if (shared == MAP_FAILED)
		return;
	hit = shared;
	memcpy(function, what, (size_t)(colon - what));
	(void)dl_iterate_phdr(spare, NULL);
	if (getenv("NETMODEL_FAIL_SHOW"))
		begin_to_show();
	atomic_store(&count, 0);
	wanted = strtoul(colon + 1, NULL, 10);
}

/* Whether this call is the one. */
static bool fails(const char *name)
{
	if (!wanted || strcmp(name, function) != 0 || atomic_fetch_add(&count, 1) + 1 != wanted)
		return false;
	*hit = '1';
	if (shows)
		show();
	return true;
}

/* --- memory --- */

static _Thread_local int reading; /* JSON */

#define ALLOCATION_FAILS() (!reading && !is_spared(__builtin_return_address(0)) && fails("alloc"))

/* Of jansson. Its buffer of a token takes no notice that it did not grow, and is read to an end
 * that it does not have. */
void *json_loadb(const char *text, size_t size, size_t flags, void *error);
void *json_loadb(const char *text, size_t size, size_t flags, void *error)
{
	static void *(*real)(const char *, size_t, size_t, void *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "json_loadb");
	reading++;
	void *value = real(text, size, flags, error);

	reading--;
	return value;
}

void *malloc(size_t size)
{
	if (!ALLOCATION_FAILS())
		return __libc_malloc(size);
	errno = ENOMEM;
	return NULL;
}

void *calloc(size_t n, size_t size)
{
	if (!ALLOCATION_FAILS())
		return __libc_calloc(n, size);
	errno = ENOMEM;
	return NULL;
}

void *realloc(void *at, size_t size)
{
	if (size == 0 || !ALLOCATION_FAILS())
		return __libc_realloc(at, size);
	errno = ENOMEM;
	return NULL;
}

/* --- the kernel --- */

#define FAILS(error, type, name, parameters, arguments)                                            \
	type name parameters;                                                                      \
	type name parameters                                                                       \
	{                                                                                          \
		static type(*real) parameters;                                                     \
                                                                                                   \
		if (!real)                                                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name);                                 \
		if (!fails(#name))                                                                 \
			return real arguments;                                                     \
		errno = error;                                                                     \
		return (type)-1;                                                                   \
	}

FAILS(EMFILE, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
FAILS(EMFILE, int, socketpair, (int domain, int type, int protocol, int fds[2]),
      (domain, type, protocol, fds))
FAILS(EADDRINUSE, int, bind, (int fd, const struct sockaddr *at, socklen_t size), (fd, at, size))
FAILS(EADDRINUSE, int, listen, (int fd, int backlog), (fd, backlog))
FAILS(EMFILE, int, accept4, (int fd, struct sockaddr *at, socklen_t *size, int flags),
      (fd, at, size, flags))
FAILS(EHOSTUNREACH, int, connect, (int fd, const struct sockaddr *at, socklen_t size),
      (fd, at, size))
FAILS(ENOBUFS, int, getsockname, (int fd, struct sockaddr *at, socklen_t *size), (fd, at, size))
FAILS(ENOTCONN, int, getpeername, (int fd, struct sockaddr *at, socklen_t *size), (fd, at, size))
FAILS(ENOBUFS, int, getsockopt, (int fd, int level, int name, void *value, socklen_t *size),
      (fd, level, name, value, size))
FAILS(ENOBUFS, int, setsockopt, (int fd, int level, int name, const void *value, socklen_t size),
      (fd, level, name, value, size))
FAILS(ECONNRESET, ssize_t, send, (int fd, const void *data, size_t size, int flags),
      (fd, data, size, flags))
FAILS(ECONNRESET, ssize_t, recv, (int fd, void *data, size_t size, int flags),
      (fd, data, size, flags))
FAILS(ENOTCONN, int, shutdown, (int fd, int how), (fd, how))
FAILS(EIO, ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
FAILS(EIO, ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
FAILS(EMFILE, int, epoll_create1, (int flags), (flags))
FAILS(ENOMEM, int, epoll_ctl, (int epoll, int operation, int fd, struct epoll_event *event),
      (epoll, operation, fd, event))
FAILS(EMFILE, int, eventfd, (unsigned initial, int flags), (initial, flags))
FAILS(EMFILE, int, timerfd_create, (int clock, int flags), (clock, flags))
FAILS(EMFILE, int, pipe2, (int fds[2], int flags), (fds, flags))
FAILS(ENOMEM, int, poll, (struct pollfd * fds, nfds_t n, int timeout_ms), (fds, n, timeout_ms))
FAILS(ENOMEM, int, ppoll,
      (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
      (fds, n, timeout, mask))
FAILS(EAGAIN, pid_t, fork, (void), ())
FAILS(EIO, int, fstat, (int fd, struct stat *st), (fd, st))
FAILS(EIO, int, fsync, (int fd), (fd))
FAILS(EACCES, int, rename, (const char *from, const char *to), (from, to))

/* These have an argument more only with some flags. */
#define FAILS_OPEN(name, parameters, arguments, flags)                                             \
	int name parameters;                                                                       \
	int name parameters                                                                        \
	{                                                                                          \
		static int(*real) parameters;                                                      \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		if (!real)                                                                         \
			*(void **)&real = dlsym(RTLD_NEXT, #name);                                 \
		if (flags & (O_CREAT | O_TMPFILE)) {                                               \
			va_list args;                                                              \
                                                                                                   \
			va_start(args, flags);                                                     \
			mode = va_arg(args, mode_t);                                               \
			va_end(args);                                                              \
		}                                                                                  \
		if (!fails("open"))                                                                \
			return real arguments;                                                     \
		errno = EMFILE;                                                                    \
		return -1;                                                                         \
	}

FAILS_OPEN(open, (const char *path, int flags, ...), (path, flags, mode), flags)
FAILS_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), flags)
FAILS_OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), flags)

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return fails("pthread_create") ? EAGAIN : real(thread, attr, run, arg);
}
