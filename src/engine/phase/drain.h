/* SPDX-License-Identifier: Apache-2.0 */
/* After the last pass of a phase, before the phase ends: the worker takes all bytes that open
 * senders have sent beyond the passes. On the worker's thread; worker->run.drained says how many
 * bytes have come so far. */
#ifndef NM_ENGINE_PHASE_DRAIN_H
#define NM_ENGINE_PHASE_DRAIN_H

struct nm_conn;
struct nm_worker;

/* Takes the bytes that have come on all connections from open senders, and arms the connections for
 * more. The worker's flows are idle. */
void nm_drain_begin(struct nm_worker *worker);
/* Takes the bytes that have come on the connection, by its flags. */
void nm_drain_conn(struct nm_worker *worker, struct nm_conn *conn);

#endif
