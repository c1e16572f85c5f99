/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of state by compare and exchange: daemon and sessions do not wait for each other. */
#include "control/slave/slots.h"

#include <sys/mman.h>

#define TELL_NS	   500000000u /* for each line about a stranger */
#define TELL_BURST 4u	      /* lines at once */

struct nm_session_slots *nm_session_slots_new(void)
{
	void *memory = mmap(NULL, sizeof(struct nm_session_slots), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	struct nm_session_slots *slots = memory == MAP_FAILED ? NULL : memory; /* zeros: free */

	if (slots)
		atomic_store(&slots->room, NM_SESSION_SLOTS_SERVED);
	return slots;
}

struct nm_session_slots *nm_session_slots_free(struct nm_session_slots *slots)
{
	if (slots)
		(void)munmap(slots, sizeof *slots);
	return NULL;
}

static bool change(struct nm_session_slots *slots, size_t index, int to)
{
	int from = NM_SESSION_SLOT_SILENT;

	return atomic_compare_exchange_strong(&slots->state[index], &from, to);
}

bool nm_session_slot_take(const struct nm_session_slot *slot)
{
	/* First taken, then counted: of two that come at once, both see the other. */
	if (!change(slot->slots, slot->index, NM_SESSION_SLOT_SERVED))
		return false;
	if (nm_session_slots_count(slot->slots, NM_SESSION_SLOT_SERVED) <=
	    (size_t)atomic_load(&slot->slots->room))
		return true;
	atomic_store(&slot->slots->state[slot->index], NM_SESSION_SLOT_SILENT);
	return false;
}

void nm_session_slot_leave(const struct nm_session_slot *slot)
{
	int from = NM_SESSION_SLOT_SERVED;

	(void)atomic_compare_exchange_strong(&slot->slots->state[slot->index], &from,
					     NM_SESSION_SLOT_SILENT);
}

bool nm_session_slots_close(struct nm_session_slots *slots, size_t index)
{
	return change(slots, index, NM_SESSION_SLOT_CLOSED);
}

size_t nm_session_slots_count(struct nm_session_slots *slots, enum nm_session_slot_state which)
{
	size_t count = 0;

	for (size_t i = 0; i < NM_SESSION_SLOTS; i++)
		count += atomic_load(&slots->state[i]) == (int)which;
	return count;
}

bool nm_session_slots_may_tell(struct nm_session_slots *slots, uint64_t now_ns,
			       unsigned *ret_untold)
{
	uint64_t before = atomic_load(&slots->told_until_ns), after;

	do {
		/* Each line takes its time, of which so much may be borrowed. */
		after = (before > now_ns ? before : now_ns) + TELL_NS;
		if (after > now_ns + TELL_BURST * (uint64_t)TELL_NS) {
			(void)atomic_fetch_add(&slots->untold, 1);
			return false;
		}
	} while (!atomic_compare_exchange_weak(&slots->told_until_ns, &before, after));
	*ret_untold = atomic_exchange(&slots->untold, 0);
	return true;
}
