/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of socket buffers that were asked for, and that the kernel has given. */
#ifndef NM_BASE_BUFFERS_H
#define NM_BASE_BUFFERS_H

#include <stdint.h>

/* The largest buffers that are not of the size that was asked for; 0: all are. */
struct nm_buffers {
	uint64_t send_asked, send_given, receive_asked, receive_given;
};

#endif
