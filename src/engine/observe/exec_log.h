/* SPDX-License-Identifier: Apache-2.0 */
/* The log of single executions of flowops, and of single passes: a ring that one worker writes and
 * the control thread empties, without either waiting for the other. Records that do not fit in are
 * counted as lost. */
#ifndef NM_ENGINE_OBSERVE_EXEC_LOG_H
#define NM_ENGINE_OBSERVE_EXEC_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_exec_record;

/* One execution in the log. */
struct nm_exec_entry {
	uint64_t end_ns, elapsed_ns;
	uint32_t flow; /* in the group */
	uint32_t instr;
};

/* Flags in `instr`. */
#define NM_EXEC_FAILED 0x80000000u
#define NM_EXEC_PASS   0x40000000u

/* Each end has a cache line of its own. */
struct nm_exec_log {
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t lost;
	_Alignas(64) _Atomic uint64_t taken;
	uint64_t size;		       /* a power of two; 0: there is no log */
	struct nm_exec_entry *entries; /* `size` of them; not owned */
};

/* How many entries the log of a worker with n_flows flows has, when n_workers workers have a log.
 * passes: how many passes of each flow are logged, none of which is to be lost where there is room
 * for all; 0: any number may be logged. */
uint64_t nm_exec_log_size(uint64_t passes, uint32_t n_flows, uint64_t n_workers);
/* Adds an entry. True: the log has become half full, and the caller tells the control thread. On
 * the worker's thread. */
bool nm_exec_log_add(struct nm_exec_log *log, const struct nm_exec_entry *entry);
/* Moves the oldest entries, at most `room`, to list, as records of the group; answers how many. The
 * control thread calls it. */
size_t nm_exec_log_take(struct nm_exec_log *log, uint32_t group, struct nm_exec_record *list,
			size_t room);

#endif
