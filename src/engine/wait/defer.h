/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred waits: where connections live for one pass, the waiter would be told of each for one or
 * two waits only, and it is cheaper not to tell it at once. The shape of the phase says which
 * policy the phase has (plan/shape.h):
 *
 *   next turn     The awaited event may well come while the others have their turn: the flow is
 *                 queued, tries again after them, and only then arms its connection.
 *   until needed  The flow waits for the other end's reset, and the other end does not wait for
 *                 this flow. The flow is kept on a list, and one call looks at the connections of
 *                 the list when a flow is needed for the next connection.
 *
 * Both back off: after a deferred wait that did not pay, the next 1, 3, 7 or 15 are armed at once.
 * A worker with one flow defers until needed only where resets come in on its own CPU: elsewhere
 * the reset wakes it just in time for the next connection. */
#ifndef NM_ENGINE_WAIT_DEFER_H
#define NM_ENGINE_WAIT_DEFER_H

#include <stdbool.h>
#include <stdint.h>

struct nm_conn;
struct nm_flow;
struct nm_instr;
struct nm_listen_fd;
struct nm_worker;

struct nm_backoff {
	uint8_t vain;	/* grows with each round that did not pay: 0, 1, 3, 7 or 15 */
	uint32_t skips; /* how many of the next waits are armed at once */
};

struct nm_defer {
	uint8_t policy; /* enum nm_defer_policy */
	struct nm_backoff backoff;
	/* Next turn: how many flows have tried again in the present or last round, and how many of
	 * them still had to wait. */
	uint32_t tried, missed;
	/* Until needed. */
	const struct nm_instr *at;     /* the disconnect at which flows wait so */
	struct nm_listen_fd *listener; /* the only listening socket */
	struct nm_flow *first, *last;  /* flows that wait so, not armed */
	/* when the first flow came, or the worker last looked at them */
	uint64_t looked_ns;
	/* turns in a row in which a queued connection found no flow */
	unsigned pending;
	uint32_t added; /* flows since the last look */
	bool here;	/* one flow: resets come in on its own CPU */
	/* resets until the worker asks again, and between the questions after that */
	uint32_t asks, asks_next;
};

void nm_defer_begin(struct nm_worker *worker); /* of the present phase, after its waiter */
void nm_defer_end(struct nm_worker *worker);   /* its flows are stopped */
/* The flow would wait at that instruction. True: its wait is deferred, and the flow kept; false:
 * the caller arms the flow's connection now. */
bool nm_defer_add(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr);
/* The flow, whose wait was deferred to its next turn, tries again: the caller calls its step now,
 * and nm_defer_missed if the flow still has to wait. */
void nm_defer_try(struct nm_worker *worker, struct nm_flow *flow);
void nm_defer_missed(struct nm_worker *worker);
/* Called before and after the queued flows have their turn. */
void nm_defer_begin_round(struct nm_worker *worker);
void nm_defer_end_round(struct nm_worker *worker);
/* Looks at the flows on the list when it is time to. Called once after each wait. */
void nm_defer_turn(struct nm_worker *worker);
/* Arms all flows on the list: the worker has something else to do. */
void nm_defer_flush(struct nm_worker *worker);
/* The longest that the worker may sleep, as far as deferred waits go; < 0: without limit. */
int64_t nm_defer_timeout_ns(const struct nm_worker *worker);
/* The poll waiter has seen that the connection was reset. */
void nm_defer_note_reset(struct nm_worker *worker, const struct nm_conn *conn);

/* In a phase whose shape has one listener at most: *ret is the socket at which the flows'
 * connections arrive; NULL: the flows open them. False: the listener has several sockets. */
bool nm_worker_only_listener(const struct nm_worker *worker, struct nm_listen_fd **ret);

#endif
