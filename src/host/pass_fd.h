/* SPDX-License-Identifier: Apache-2.0 */
/* Messages over a Unix socket that carry a descriptor (SCM_RIGHTS), from a peer that is not
 * trusted. */
#ifndef NM_HOST_PASS_FD_H
#define NM_HOST_PASS_FD_H

#include <stddef.h>
#include <sys/types.h>

/* Sends the bytes, at least one, and the descriptor, which stays open here, as one message. 0 or
 * -errno. */
int nm_pass_fd_send(int to, const void *bytes, size_t size, int fd);
/* Receives a message: how many bytes of it are kept, 0 where the peer has closed, or -errno.
 * *ret_fd is owned; -1: the message did not have exactly one descriptor, or there was no room for
 * it. */
ssize_t nm_pass_fd_receive(int from, void *ret_bytes, size_t size, int *ret_fd);

#endif
