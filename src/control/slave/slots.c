/* SPDX-License-Identifier: Apache-2.0 */
#include "control/slave/slots.h"

#include <sys/mman.h>

struct nm_session_slots *nm_session_slots_new(void)
{
	void *memory = mmap(NULL, sizeof(struct nm_session_slots), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	struct nm_session_slots *places = memory == MAP_FAILED ? NULL : memory; /* zeros: free */

	if (places)
		atomic_store(&places->room, NM_SESSION_SLOTS_SERVED);
	return places;
}

struct nm_session_slots *nm_session_slots_free(struct nm_session_slots *places)
{
	if (places)
		(void)munmap(places, sizeof *places);
	return NULL;
}

static bool change(struct nm_session_slots *places, size_t index, int to)
{
	int from = NM_SESSION_SLOT_SILENT;

	return atomic_compare_exchange_strong(&places->place[index], &from, to);
}

bool nm_session_slot_take(const struct nm_session_slot *seat)
{
	/* First taken, then counted: of two that come at once, both see the other. */
	if (!change(seat->places, seat->index, NM_SESSION_SLOT_SERVED))
		return false;
	if (nm_session_slots_count(seat->places, NM_SESSION_SLOT_SERVED) <=
	    (size_t)atomic_load(&seat->places->room))
		return true;
	atomic_store(&seat->places->place[seat->index], NM_SESSION_SLOT_SILENT);
	return false;
}

void nm_session_slot_leave(const struct nm_session_slot *seat)
{
	int from = NM_SESSION_SLOT_SERVED;

	(void)atomic_compare_exchange_strong(&seat->places->place[seat->index], &from,
					     NM_SESSION_SLOT_SILENT);
}

bool nm_session_slots_close(struct nm_session_slots *places, size_t index)
{
	return change(places, index, NM_SESSION_SLOT_CLOSED);
}

size_t nm_session_slots_count(struct nm_session_slots *places, enum nm_session_slot_state which)
{
	size_t count = 0;

	for (size_t i = 0; i < NM_SESSION_SLOTS; i++)
		count += atomic_load(&places->place[i]) == (int)which;
	return count;
}
