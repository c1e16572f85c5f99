/* SPDX-License-Identifier: Apache-2.0 */
/* Hands descriptors of connections from the thread of the rendezvous listeners to the workers of
 * their flows, over a pair of sockets (SCM_RIGHTS): to threads and processes alike. */
#ifndef NM_ENGINE_ACCEPT_HANDOFF_H
#define NM_ENGINE_ACCEPT_HANDOFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Opens the pair: pair[0] is the receiving end, pair[1] the sending one. 0 or -errno. */
int nm_handoff_open(int pair[2]);
/* Closes the ends that are open. */
void nm_handoff_close(int pair[2]);
/* Sends fd, and closes it here in any case. Waits for room, until *quit. 0 or -errno. */
int nm_handoff_send(const int pair[2], uint32_t opening, uint32_t flow, int fd,
		    const _Atomic bool *quit);
/* Receives the next descriptor: 0 with an owned *ret_fd; -EAGAIN: there is none; or another -errno:
 * one is lost. */
int nm_handoff_receive(const int pair[2], uint32_t *ret_opening, uint32_t *ret_flow, int *ret_fd);

#endif
