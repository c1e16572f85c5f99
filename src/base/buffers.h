/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of socket buffers and segments that were asked for, and that the kernel has given. */
#ifndef NM_BASE_BUFFERS_H
#define NM_BASE_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

/* The largest buffers that are not of the size that was asked for; 0: all are. */
struct nm_buffers {
	uint64_t send_asked, send_given, receive_asked, receive_given;
	uint64_t mss_asked, mss_given; /* the largest segment that is smaller */
};

/* Keeps the larger of what was asked for, and the smaller of what there is of the same. */
static inline void nm_buffers_add_mss(struct nm_buffers *cut, uint64_t asked, uint64_t given)
{
	if (asked < cut->mss_asked || (asked == cut->mss_asked && given >= cut->mss_given))
		return;
	cut->mss_asked = asked;
	cut->mss_given = given;
}

static inline bool nm_buffers_differ(const struct nm_buffers *cut)
{
	return cut->send_asked || cut->receive_asked || cut->mss_asked;
}

#endif
