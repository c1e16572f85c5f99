/* SPDX-License-Identifier: Apache-2.0 */
/* News of transports, on main; and what they mean for connections, on the worker. */
#ifndef NM_ENGINE_PHASE_RECONNECT_H
#define NM_ENGINE_PHASE_RECONNECT_H

#include <stdbool.h>

#include "engine/engine_priv.h"

struct nm_events;
int nm_events_open(struct nm_engine *engine); /* after its transports have started; 0 or -errno */
struct nm_events *nm_events_free(struct nm_events *events); /* accepts NULL, returns NULL */
int nm_events_fd(const struct nm_engine *engine);
void nm_events_read(struct nm_engine *engine);
bool nm_events_lost(const struct nm_engine *engine, struct nm_engine_error *ret_error);
int nm_reconnect_init(struct nm_worker *worker);
const struct nm_instr *nm_reconnect_original(const struct nm_worker *worker,
					     const struct nm_instr *instr);
void nm_reconnect_command(struct nm_worker *worker); /* sees whether main asks */
void nm_reconnect_count(struct nm_worker *worker);   /* a phase begins */
/* The flow is about to begin a pass. True: it replaces a connection before that. */
bool nm_reconnect_before_pass(struct nm_worker *worker, struct nm_flow *flow);
/* The peer has ended the stream before the message that instr reads. True: to replace it. */
bool nm_reconnect_after_end(struct nm_worker *worker, struct nm_flow *flow,
			    const struct nm_instr *instr);
void nm_reconnect_done(struct nm_worker *worker, struct nm_flow *flow);
/* Whether conn, which is open, is dead because it was not replaced in time, and why. */
bool nm_reconnect_expired(const struct nm_worker *worker, const struct nm_conn *conn, char *why,
			  size_t why_size);
void nm_reconnect_expire(struct nm_worker *worker,
			 uint64_t now_ns); /* fails flows that wait for one */

#endif
