/* SPDX-License-Identifier: Apache-2.0 */
#include "control/places.h"

#include <sys/mman.h>

struct nm_places *nm_places_new(void)
{
	void *memory = mmap(NULL, sizeof(struct nm_places), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	struct nm_places *places = memory == MAP_FAILED ? NULL : memory; /* zeros: free */

	if (places)
		atomic_store(&places->room, NM_PLACES_SERVED);
	return places;
}

struct nm_places *nm_places_free(struct nm_places *places)
{
	if (places)
		(void)munmap(places, sizeof *places);
	return NULL;
}

static bool change(struct nm_places *places, size_t index, int to)
{
	int from = NM_PLACE_SILENT;

	return atomic_compare_exchange_strong(&places->place[index], &from, to);
}

bool nm_seat_take(const struct nm_seat *seat)
{
	/* First taken, then counted: of two that come at once, both see the other. */
	if (!change(seat->places, seat->index, NM_PLACE_SERVED))
		return false;
	if (nm_places_count(seat->places, NM_PLACE_SERVED) <=
	    (size_t)atomic_load(&seat->places->room))
		return true;
	atomic_store(&seat->places->place[seat->index], NM_PLACE_SILENT);
	return false;
}

void nm_seat_leave(const struct nm_seat *seat)
{
	int from = NM_PLACE_SERVED;

	(void)atomic_compare_exchange_strong(&seat->places->place[seat->index], &from,
					     NM_PLACE_SILENT);
}

bool nm_places_close(struct nm_places *places, size_t index)
{
	return change(places, index, NM_PLACE_CLOSED);
}

size_t nm_places_count(struct nm_places *places, enum nm_place which)
{
	size_t count = 0;

	for (size_t i = 0; i < NM_PLACES; i++)
		count += atomic_load(&places->place[i]) == (int)which;
	return count;
}
