/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_ENGINE_DETAIL_PRIV_H
#define NM_ENGINE_DETAIL_PRIV_H

#include "engine/detail.h"
#include "flowop/flow.h"

struct nm_worker;
struct nm_detail;

/* The details of a worker whose flows are made already. shared: they are seen by processes that are
 * forked later, and by this one what those write. NULL in *ret_detail when no details are asked
 * for. 0 or -ENOMEM. */
int nm_detail_new(struct nm_worker *worker, unsigned flags, bool shared,
		  struct nm_detail **ret_detail);
struct nm_detail *nm_detail_free(struct nm_detail *detail); /* accepts NULL, returns NULL */
/* The program that the worker runs: the one that measures. */
const struct nm_instr *nm_detail_instrs(const struct nm_detail *detail);
/* The flow has made a pass, which has ended at now_ns; 0: passes are not timed. With
 * NM_DETAIL_PASSES. */
void nm_detail_pass(struct nm_worker *worker, struct nm_flow *flow, uint64_t now_ns);
/* The flow's step has not done its work: it has failed, and unless that was expected the flow ends;
 * or its wait has ended without an error. */
void nm_detail_failed(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr);
void nm_detail_expired(struct nm_worker *worker, struct nm_flow *flow,
		       const struct nm_instr *instr);
/* So many bytes have come over the connection after the last pass: they count for the flowop that
 * reads from it. */
void nm_detail_drained(struct nm_worker *worker, const struct nm_conn *conn, uint64_t bytes);
/* What was given up has moved after the last pass. */
void nm_detail_settled(struct nm_worker *worker, const struct nm_conn *conn, uint64_t sent,
		       uint64_t received);

/* tcp_info.c: new and free as above; the others on the worker's thread, and only with a watch */
struct nm_tcp_watch;
int nm_tcp_watch_new(struct nm_worker *worker, unsigned flags, bool shared,
		     struct nm_tcp_watch **ret_watch);
struct nm_tcp_watch *nm_tcp_watch_free(struct nm_tcp_watch *watch, bool shared);
void nm_tcp_watch_command(struct nm_worker *worker); /* sees whether main asks */
void nm_tcp_watch_look(struct nm_worker *worker);    /* at a few of its flows, while watching */
void nm_tcp_watch_end(struct nm_worker *worker);     /* of a measured phase */

#endif
