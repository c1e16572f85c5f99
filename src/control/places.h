/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a session with a slave, in memory that the slave shares with its session processes: whoever connects is
 * silent until he has said hello as a master, and then is served if there is room. Who stays silent can take the place
 * of other silent ones only. */
#ifndef NM_CONTROL_PLACES_H
#define NM_CONTROL_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define NM_PLACES_SERVED 64 /* masters at a time */
#define NM_PLACES_SILENT 64 /* connections that have not said hello */
#define NM_PLACES	 (NM_PLACES_SERVED + NM_PLACES_SILENT)

enum nm_place { NM_PLACE_FREE, NM_PLACE_SILENT, NM_PLACE_SERVED, NM_PLACE_CLOSED };

struct nm_places {
	_Atomic int place[NM_PLACES]; /* enum nm_place */
	_Atomic int room; /* how many of them may be served at a time, at most NM_PLACES_SERVED */
};

/* One place, as its session has it. */
struct nm_seat {
	struct nm_places *places; /* borrowed */
	size_t index;
};

/* All free; NULL when out of memory. */
struct nm_places *nm_places_new(void);
struct nm_places *nm_places_free(struct nm_places *places);
/* By the session: from silent to served. False: the slave is full, or has just closed this place. */
bool nm_seat_take(const struct nm_seat *seat);
/* By the session: from served to silent, when nothing comes of it. */
void nm_seat_leave(const struct nm_seat *seat);
/* By the slave: from silent to closed. False: its session has meanwhile been served. */
bool nm_places_close(struct nm_places *places, size_t index);
/* How many are so. */
size_t nm_places_count(struct nm_places *places, enum nm_place which);

#endif
