/* SPDX-License-Identifier: Apache-2.0 */
/* The log of single executions of flowops, and of single passes: a ring that one worker writes and
 * the control thread empties, without either waiting for the other. What does not fit in is
 * counted. */
#ifndef NM_ENGINE_OBSERVE_EXEC_LOG_H
#define NM_ENGINE_OBSERVE_EXEC_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nm_exec_record;

/* What is kept of an execution. */
struct nm_exec_entry {
	uint64_t end_ns, elapsed_ns;
	uint32_t flow; /* in the group */
	uint32_t instr;
};

/* With `instr`. */
#define NM_EXEC_FAILED 0x80000000u
#define NM_EXEC_PASS   0x40000000u

/* Each end has a cache line of its own. */
struct nm_exec_log {
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t lost;
	_Alignas(64) _Atomic uint64_t taken;
	uint64_t size;		       /* a power of two; 0: there is no log */
	struct nm_exec_entry *entries; /* so many; not owned */
};

/* How many entries the log of one worker with so many flows has, when so many workers have one.
 * passes: of each flow so many are logged, and none is to be lost where there is room for all; 0:
 * there may be any number. */
uint64_t nm_exec_log_size(uint64_t passes, uint32_t n_flows, uint64_t n_workers);
/* Adds an entry. True: the log has become half full, and the control thread is to be told. On the
 * worker's thread. */
bool nm_exec_log_add(struct nm_exec_log *log, const struct nm_exec_entry *entry);
/* Moves the oldest entries to list, as those of the group: how many of `room`. The control
 * thread. */
size_t nm_exec_log_take(struct nm_exec_log *log, uint32_t group, struct nm_exec_record *list,
			size_t room);

#endif
