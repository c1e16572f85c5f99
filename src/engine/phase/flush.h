/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase, before it ends: what was given up on streams goes, and comes. On
 * the worker's thread. */
#ifndef NM_ENGINE_PHASE_FLUSH_H
#define NM_ENGINE_PHASE_FLUSH_H

#include <stdbool.h>

struct nm_conn;
struct nm_worker;

bool nm_worker_flush(
	struct nm_worker *worker); /* false: nothing is owed; true: it ends the phase */
void nm_worker_flush_conn(struct nm_worker *worker, struct nm_conn *conn); /* while n_abandoning */

/* phase.c */
void nm_worker_stop_flows(struct nm_worker *worker); /* none does anything more in the phase */
void nm_worker_end_phase_now(struct nm_worker *worker);
void nm_worker_end_when_quiet(struct nm_worker *worker); /* where messages may be lost */

#endif
