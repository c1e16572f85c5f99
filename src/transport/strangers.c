/* SPDX-License-Identifier: Apache-2.0 */
/* Counts strangers at data ports, without waiting for another thread that does so. */
#include "transport/strangers.h"

void nm_strangers_note(struct nm_strangers *strangers, const struct nm_addr *from)
{
	if (!strangers)
		return;
	atomic_fetch_add_explicit(&strangers->count, 1, memory_order_relaxed);
	if (atomic_flag_test_and_set_explicit(&strangers->busy, memory_order_acquire))
		return;
	strangers->last = *from;
	atomic_flag_clear_explicit(&strangers->busy, memory_order_release);
}

uint64_t nm_strangers_read(struct nm_strangers *strangers, struct nm_addr *ret_last)
{
	*ret_last = (struct nm_addr){.len = 0};
	/* A writer is done in a moment; one that has died while writing never is. */
	for (int i = 0; i < 1000; i++) {
		if (atomic_flag_test_and_set_explicit(&strangers->busy, memory_order_acquire))
			continue;
		*ret_last = strangers->last;
		atomic_flag_clear_explicit(&strangers->busy, memory_order_release);
		break;
	}
	return atomic_load_explicit(&strangers->count, memory_order_relaxed);
}
