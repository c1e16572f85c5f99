/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase, before it ends: what was abandoned on streams goes, and comes. On
 * the worker's thread; worker->run.n_abandoning says on how many connections it still moves. */
#ifndef NM_ENGINE_PHASE_FLUSH_H
#define NM_ENGINE_PHASE_FLUSH_H

#include <stdint.h>

struct nm_conn;
struct nm_worker;

/* On how many connections of flows that have not failed something was abandoned. */
uint32_t nm_flush_count(const struct nm_worker *worker);
/* Moves what can be moved on all of them, and has the worker told of more. Its flows are idle. */
void nm_flush_begin(struct nm_worker *worker);
/* Moves what can be moved on the connection, by its flags; nothing when nothing was abandoned. */
void nm_flush_conn(struct nm_worker *worker, struct nm_conn *conn);

#endif
