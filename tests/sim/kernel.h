/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated kernel: sockets of TCP and UDP between hosts, pairs of sockets that pass
 * descriptors, eventfd and epoll. Each function is the system call of its name and returns -errno.
 * A descriptor is one of the simulated kernel's when sim_has(fd). What is not simulated aborts with
 * its name. */
#ifndef NM_TESTS_SIM_KERNEL_H
#define NM_TESTS_SIM_KERNEL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "choices.h"

/* The address of a host, in the order of this machine. */
#define SIM_ADDRESS(host) (UINT32_C(0x0a000001) + (host))

/* What is there, for the invariants at the end of a run. */
struct sim_kernel_state {
	unsigned descriptors;	/* that are open */
	uint64_t left_bytes;	/* that processes had when they exited */
	bool processes;		/* other than the first are there */
	uint64_t carried_bytes; /* but for control: of datagrams those that are read */
	uint64_t connections;	/* that were accepted, but for control */
	uint64_t calls;
	uint64_t late_ns; /* by which a timer fired later than allowed, at most (lateness.c) */
};

_Noreturn void sim_unknown(const char *what, long detail);

/* With the link and the limits of the choices, which stay the caller's. */
void sim_kernel_begin(const struct sim_choices *choices);
/* What is there so far. */
struct sim_kernel_state sim_kernel_state(void);
void sim_kernel_end(struct sim_kernel_state *ret_state);

bool sim_has(int fd);
int sim_socket(int family, int type, int protocol);
int sim_bind(int fd, const struct sockaddr *addr, socklen_t size);
int sim_listen(int fd, int backlog);
int sim_connect(int fd, const struct sockaddr *addr, socklen_t size);
int sim_accept(int fd, struct sockaddr *addr, socklen_t *size, int flags);
ssize_t sim_send(int fd, const void *data, size_t size, int flags, const struct sockaddr *to);
ssize_t sim_recv(int fd, void *data, size_t size, int flags, struct sockaddr *from,
		 socklen_t *from_size);
int sim_sendmmsg(int fd, struct mmsghdr *messages, unsigned count);
int sim_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
int sim_shutdown(int fd, int how);
int sim_close(int fd);
int sim_name(int fd, struct sockaddr *addr, socklen_t *size, bool of_peer);
int sim_set_option(int fd, int level, int name, const void *value, socklen_t size);
int sim_get_option(int fd, int level, int name, void *value, socklen_t *size);
int sim_fcntl(int fd, int command, int value);
int sim_ioctl(int fd, unsigned long request, void *value);
int sim_socketpair(int family, int type, int fds[2]);
ssize_t sim_sendmsg(int fd, const struct msghdr *message);
ssize_t sim_recvmsg(int fd, struct msghdr *message);
int sim_pipe(int fds[2], int flags);
int sim_eventfd(unsigned count, int flags);
ssize_t sim_read(int fd, void *data, size_t size);
ssize_t sim_write(int fd, const void *data, size_t size);
int sim_epoll_create(void);
int sim_epoll_ctl(int epoll_fd, int how, int fd, const struct epoll_event *event);
int sim_epoll_wait(int epoll_fd, struct epoll_event *events, int room, int64_t timeout_ns);
/* takes_signals: SIGTERM is blocked but for this wait. */
int sim_poll(struct pollfd *fds, size_t n_fds, int64_t timeout_ns, bool takes_signals);

#endif
