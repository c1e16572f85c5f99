/* SPDX-License-Identifier: Apache-2.0 */
/* The doors: listeners that serve several flows, of any workers and groups. A thread of its own
 * takes the connections, reads their greetings and hands each to the worker of its flow, through
 * that worker's mailbox. */
#ifndef NM_ENGINE_ACCEPT_RENDEZVOUS_H
#define NM_ENGINE_ACCEPT_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>

struct nm_engine;
struct nm_rendezvous;
struct nm_pending_conn;
struct nm_flow;
struct nm_instr;
struct nm_worker;

/* Opens the doors that the engine's plan needs and tells the workers what they are called.
 * *ret_doors: NULL when none is needed. On failure -errno and a phrase in why. Main. */
int nm_rendezvous_open(struct nm_engine *engine, struct nm_rendezvous **ret_doors, char *why,
		       size_t why_size);
int nm_rendezvous_start(struct nm_rendezvous *doors); /* 0 or -errno */
struct nm_rendezvous *
nm_rendezvous_free(struct nm_rendezvous *doors); /* accepts NULL, returns NULL */

/* The worker's end (mail.c). */
int nm_handoff_init(struct nm_worker *worker); /* 0 or -errno; main */
void nm_handoff_fini(struct nm_worker *worker);
void nm_handoff_event(struct nm_worker *worker);
/* A flow that waits for a message that may be lost will hardly get it any more, when its peer has
 * opened the next connection already. */
void nm_worker_shorten_wait(struct nm_worker *worker, struct nm_flow *flow);
/* Queues what has greeted for the flow's accept; takes it. */
void nm_pending_add(struct nm_worker *worker, struct nm_flow *flow,
		    struct nm_pending_conn *arrival);
/* Hands fd over, which is closed here in any case. 0 or -errno. The thread of the doors. */
int nm_handoff_send(struct nm_worker *worker, unsigned opening, unsigned flow, int fd);

#endif
