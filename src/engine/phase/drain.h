/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase, before it ends: what open senders have sent beyond it is taken.
 * On the worker's thread; worker->run.drained says how many bytes have come so far. */
#ifndef NM_ENGINE_PHASE_DRAIN_H
#define NM_ENGINE_PHASE_DRAIN_H

struct nm_conn;
struct nm_worker;

/* Takes what is there on all connections from open senders, and has the worker told of more. Its
 * flows are idle. */
void nm_drain_begin(struct nm_worker *worker);
/* Takes what there is on the connection, by its flags. */
void nm_drain_conn(struct nm_worker *worker, struct nm_conn *conn);

#endif
