/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of executions between one worker and the control thread. */
#include "engine/observe/exec_log.h"

#include "engine/flowop_stats.h"
#include "stats/counters.h"

/* The most bytes of all logs of an engine together, and the limits of one worker's log. */
#define ALL_BYTES   (64u << 20)
#define MAX_ENTRIES 65536u
#define MIN_ENTRIES 256u

uint64_t nm_exec_log_size(uint64_t passes, uint32_t n_flows, uint64_t n_workers)
{
	uint64_t size = MAX_ENTRIES;

	while (passes && size < ALL_BYTES && size / passes < n_flows)
		size *= 2;
	while (size > MIN_ENTRIES && size * sizeof(struct nm_exec_entry) * n_workers > ALL_BYTES)
		size /= 2;
	return size;
}

bool nm_exec_log_add(struct nm_exec_log *log, const struct nm_exec_entry *entry)
{
	uint64_t written = atomic_load_explicit(&log->written, memory_order_relaxed);
	uint64_t used = written - atomic_load_explicit(&log->taken, memory_order_acquire);

	if (used == log->size) {
		nm_counter_add(&log->lost, 1);
		return false;
	}
	log->entries[written & (log->size - 1)] = *entry;
	atomic_store_explicit(&log->written, written + 1, memory_order_release);
	return used + 1 == log->size / 2;
}

size_t nm_exec_log_take(struct nm_exec_log *log, uint32_t group, struct nm_exec_record *list,
			size_t room)
{
	uint64_t taken = atomic_load_explicit(&log->taken, memory_order_relaxed);
	uint64_t ready = atomic_load_explicit(&log->written, memory_order_acquire) - taken;
	size_t n = ready < room ? (size_t)ready : room;

	for (size_t i = 0; i < n; i++) {
		const struct nm_exec_entry *entry = &log->entries[(taken + i) & (log->size - 1)];

		list[i] = (struct nm_exec_record){
			.end_ns = entry->end_ns,
			.elapsed_ns = entry->elapsed_ns,
			.group = group,
			.flow = entry->flow,
			.instr = entry->instr & ~(NM_EXEC_FAILED | NM_EXEC_PASS),
			.is_pass = entry->instr & NM_EXEC_PASS,
			.failed = entry->instr & NM_EXEC_FAILED,
		};
	}
	atomic_store_explicit(&log->taken, taken + n, memory_order_release);
	return n;
}
