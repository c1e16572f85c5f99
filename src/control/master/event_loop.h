/* SPDX-License-Identifier: Apache-2.0 */
/* Takes events from outside while the master runs: messages of slaves, events of its engine,
 * interrupts. */
#ifndef NM_CONTROL_MASTER_EVENT_LOOP_H
#define NM_CONTROL_MASTER_EVENT_LOOP_H

#include "control/master/master.h"

/* Waits for an event, no longer than until_ns, and takes all that have come. Each message goes to
 * its handler of master->handlers. */
void nm_master_poll(struct nm_master *master, uint64_t until_ns);
/* Sends a message to a slave, and takes its body (NULL: there was no memory for one). A slave that
 * is lost already gets none; a failure is noted. */
void nm_master_send(struct nm_master *master, struct nm_link *link, enum nm_message_type type,
		    json_t *body);
/* Polls until all links are in the state, or until_ns (which is a failure). False when the run
 * cannot go on. */
bool nm_master_await(struct nm_master *master, enum nm_session_state state, uint64_t until_ns);
/* Polls until an interrupt that is there has been taken, for no longer than peers are waited
 * for. */
void nm_master_take_interrupt(struct nm_master *master);
/* The sum of the progress of all hosts: a number that changes while anything moves. */
uint64_t nm_master_progress(const struct nm_master *master);
/* How long a host may take to be connected to, and then to answer as a slave: half of --timeout,
 * but not less than 3 s or all of it. */
uint64_t nm_master_patience_ns(const struct nm_master *master);
/* The time by which a step that begins now must be over, by --timeout. */
uint64_t nm_master_timeout_ns(const struct nm_master *master);

#endif
