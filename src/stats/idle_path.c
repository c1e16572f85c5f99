/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the sizes of solitary flows, keeps their least times, and reads others off between
 * them. */
#include "stats/idle_path.h"

#include <string.h>

#include "stats/tally.h"

/* The largest solitary flow: with it a slow link takes no minutes, and a fast one has long been at
 * its full rate. */
#define MOST_BYTES 40000000u

#define BORDER(T, R, more, NAME, member, label, below_bytes) below_bytes,

size_t nm_idle_path_sizes(uint64_t least, uint64_t most, uint64_t ret_sizes[NM_IDLE_SIZES])
{
	static const uint64_t borders[] = {NM_SIZE_CLASSES(BORDER, , , )};
	size_t n = 0;

	_Static_assert(sizeof borders / sizeof *borders + 1 == NM_IDLE_SIZES,
		       "the last border is none, and the smallest and the largest are more");
	if (most > MOST_BYTES && least < MOST_BYTES)
		most = MOST_BYTES;
	ret_sizes[n++] = least;
	for (size_t i = 0; borders[i] < most; i++)
		if (borders[i] > least)
			ret_sizes[n++] = borders[i];
	if (most > least)
		ret_sizes[n++] = most;
	return n;
}

void nm_idle_path_note(struct nm_idle_path *path, uint64_t bytes, uint64_t ns)
{
	struct nm_idle_size *at = path->sizes, *end = at + path->count;
	double seconds = (double)ns / 1e9;

	for (; at < end && at->bytes < bytes; at++)
		if (at->seconds > seconds)
			at->seconds = seconds;
	if (at == end || at->bytes != bytes) {
		if (path->count == NM_IDLE_SIZES)
			return;
		memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
		path->count++;
		/* What a larger one has taken is enough for this one. */
		*at = (struct nm_idle_size){
			bytes, at < end && at[1].seconds < seconds ? at[1].seconds : seconds};
	}
	if (at->seconds > seconds)
		at->seconds = seconds;
}

double nm_idle_path_s(const struct nm_idle_path *path, uint64_t bytes)
{
	const struct nm_idle_size *to = path->sizes + 1, *last = path->sizes + path->count - 1;

	if (path->count < 2)
		return path->count ? path->sizes->seconds : 0;
	while (to < last && to->bytes < bytes)
		to++;
	const struct nm_idle_size *from = to - 1;

	return from->seconds + ((double)bytes - (double)from->bytes) *
				       (to->seconds - from->seconds) /
				       (double)(to->bytes - from->bytes);
}
