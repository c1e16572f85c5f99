/* SPDX-License-Identifier: Apache-2.0 */
/* The program that opens a connection anew, whyever that is done. On the worker's thread. */
#ifndef NM_ENGINE_PHASE_REOPEN_H
#define NM_ENGINE_PHASE_REOPEN_H

struct nm_conn;
struct nm_flow;
struct nm_instr;
struct nm_worker;

/* Its instructions. */
enum nm_reopen {
	NM_REOPEN_PAUSE, /* until flow->timer.at_ns; it may begin behind this one */
	NM_REOPEN_OPEN,
	NM_REOPEN_DONE,
	NM_REOPEN__COUNT
};

/* Closes conn and begins to open it anew by `opening`, which is an instruction of such a program;
 * then the flow goes on at `resume`. */
void nm_reopen_begin(struct nm_worker *worker, struct nm_flow *flow, struct nm_conn *conn,
		     const struct nm_instr *opening, const struct nm_instr *resume);

#endif
