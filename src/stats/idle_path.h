/* SPDX-License-Identifier: Apache-2.0 */
/* How long flows take over a path that carries nothing else: the least time of several solitary
 * flows, for a few sizes. Pure. */
#ifndef NM_STATS_IDLE_PATH_H
#define NM_STATS_IDLE_PATH_H

#include <stddef.h>
#include <stdint.h>

/* The smallest size, the borders of the classes of flows, and the largest. */
#define NM_IDLE_SIZES 6

struct nm_idle_path {
	size_t count;
	struct nm_idle_size {
		uint64_t bytes;
		double seconds;
	} sizes[NM_IDLE_SIZES]; /* ascending; no flow takes longer than a larger one */
};

/* The sizes of flows of `least` to `most` bytes, which are at least 1, by which the others are
 * judged: ascending. Returns how many. */
size_t nm_idle_path_sizes(uint64_t least, uint64_t most, uint64_t ret_sizes[NM_IDLE_SIZES]);
/* A flow of so many bytes has taken ns. It is forgotten if it is of one size too many. */
void nm_idle_path_note(struct nm_idle_path *path, uint64_t bytes, uint64_t ns);
/* How long a flow of so many bytes takes at best: on the line through the two sizes next to it, and
 * as long as the others where there is one size alone. 0: none has been noted. */
double nm_idle_path_s(const struct nm_idle_path *path, uint64_t bytes);

#endif
