/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of state by compare and exchange: daemon and sessions do not wait for each other. */
#include "control/slave/slots.h"

#include <sys/mman.h>

_Static_assert(NM_SESSION_SLOTS <= NM_SLAVE_RUNS, "each session may have a run");

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

static bool change(struct nm_session_slots *slots, size_t index, int from, int to)
{
	return atomic_compare_exchange_strong(&slots->state[index], &from, to);
}

void nm_session_slots_begin(struct nm_session_slots *slots, size_t index, uint64_t host)
{
	atomic_store(&slots->host[index], host);
	atomic_store(&slots->state[index], NM_SESSION_SLOT_SILENT);
}

/* How many places are taken. */
static size_t taken(struct nm_session_slots *slots)
{
	return nm_session_slots_count(slots, NM_SESSION_SLOT_GREETED) +
	       nm_session_slots_count(slots, NM_SESSION_SLOT_SERVED);
}

/* Takes the place of the master that has done nothing with it for longest. */
static bool take_oldest(const struct nm_session_slot *slot, uint64_t now_ns)
{
	struct nm_session_slots *slots = slot->slots;
	size_t oldest = NM_SESSION_SLOTS;
	uint64_t oldest_ns = now_ns - NM_SESSION_SLOT_KEPT_NS;

	for (size_t i = 0; i < NM_SESSION_SLOTS; i++) {
		if (i != slot->index && atomic_load(&slots->state[i]) == NM_SESSION_SLOT_GREETED &&
		    atomic_load(&slots->since_ns[i]) <= oldest_ns) {
			oldest = i;
			oldest_ns = atomic_load(&slots->since_ns[i]);
		}
	}
	return oldest < NM_SESSION_SLOTS &&
	       change(slots, oldest, NM_SESSION_SLOT_GREETED, NM_SESSION_SLOT_CLOSED);
}

enum nm_session_seat nm_session_slot_take(const struct nm_session_slot *slot, uint64_t now_ns)
{
	struct nm_session_slots *slots = slot->slots;
	uint64_t host = atomic_load(&slots->host[slot->index]);
	enum nm_session_seat seat = NM_SESSION_SEAT_TAKEN;

	/* A session first takes its place, then counts: two that come at once see each other. */
	atomic_store(&slots->since_ns[slot->index], now_ns);
	if (!change(slots, slot->index, NM_SESSION_SLOT_SILENT, NM_SESSION_SLOT_GREETED))
		return NM_SESSION_SEAT_NONE;
	if (host && nm_session_slots_count_of(slots, NM_SESSION_SLOT_GREETED, host) +
				    nm_session_slots_count_of(slots, NM_SESSION_SLOT_SERVED, host) >
			    NM_SESSION_SLOTS_OF_HOST)
		seat = NM_SESSION_SEAT_NO_MORE;
	while (seat == NM_SESSION_SEAT_TAKEN && taken(slots) > (size_t)atomic_load(&slots->room))
		if (!take_oldest(slot, now_ns))
			seat = NM_SESSION_SEAT_NONE;
	if (seat != NM_SESSION_SEAT_TAKEN)
		nm_session_slot_leave(slot);
	return seat;
}

bool nm_session_slot_serve(const struct nm_session_slot *slot)
{
	return change(slot->slots, slot->index, NM_SESSION_SLOT_GREETED, NM_SESSION_SLOT_SERVED);
}

bool nm_session_slot_is_lost(const struct nm_session_slot *slot)
{
	return atomic_load(&slot->slots->state[slot->index]) == NM_SESSION_SLOT_CLOSED;
}

void nm_session_slot_leave(const struct nm_session_slot *slot)
{
	if (!change(slot->slots, slot->index, NM_SESSION_SLOT_SERVED, NM_SESSION_SLOT_SILENT))
		(void)change(slot->slots, slot->index, NM_SESSION_SLOT_GREETED,
			     NM_SESSION_SLOT_SILENT);
}

bool nm_session_slots_close(struct nm_session_slots *slots, size_t index)
{
	return change(slots, index, NM_SESSION_SLOT_SILENT, NM_SESSION_SLOT_CLOSED);
}

size_t nm_session_slots_count_of(struct nm_session_slots *slots, enum nm_session_slot_state which,
				 uint64_t host)
{
	size_t count = 0;

	for (size_t i = 0; i < NM_SESSION_SLOTS; i++)
		count += atomic_load(&slots->state[i]) == (int)which &&
			 (!host || atomic_load(&slots->host[i]) == host);
	return count;
}

size_t nm_session_slots_count(struct nm_session_slots *slots, enum nm_session_slot_state which)
{
	return nm_session_slots_count_of(slots, which, 0);
}

bool nm_session_slots_may_tell(struct nm_session_slots *slots, uint64_t now_ns,
			       unsigned *ret_untold)
{
	uint64_t before = atomic_load(&slots->told_until_ns), after;

	do {
		/* Each line takes TELL_NS, and TELL_BURST lines may come ahead of their time. */
		after = (before > now_ns ? before : now_ns) + TELL_NS;
		if (after > now_ns + TELL_BURST * (uint64_t)TELL_NS) {
			(void)atomic_fetch_add(&slots->untold, 1);
			return false;
		}
	} while (!atomic_compare_exchange_weak(&slots->told_until_ns, &before, after));
	*ret_untold = atomic_exchange(&slots->untold, 0);
	return true;
}
