/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that are cheaper not told to the waiter at once, where connections live for one pass: it
 * would be told of each connection for one or two waits only. The shape of the phase says which
 * policy it has (plan/shape.h):
 *
 *   next turn     What the flow waits for may well come while the others have their turn: it is
 *                 queued, tries again after them, and only then arms its connection.
 *   until needed  The flow waits for the other end's reset, which nobody waits for in turn. It is
 *                 kept on a list, and the connections of that list are looked at with one call when
 *                 a flow is needed for the next connection.
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
	uint8_t vain;	/* rounds before that did not pay: 0, 1, 3, 7 or 15 */
	uint32_t skips; /* waits to come that are armed at once */
};

struct nm_defer {
	uint8_t policy; /* enum nm_defer_policy */
	struct nm_backoff backoff;
	/* Next turn: in the present round, or the last, how many have tried again, and missed. */
	uint32_t tried, missed;
	/* Until needed. */
	const struct nm_instr *at;     /* where flows wait so */
	struct nm_listen_fd *listener; /* the only one */
	struct nm_flow *first, *last;  /* flows that wait so, not armed */
	uint64_t looked_ns;	       /* when the first came, or they were last looked at */
	unsigned pending;	       /* turns for which flows have been lacked all the time */
	uint32_t added;		       /* flows since the last look */
	bool here;		       /* one flow: resets come in on its own CPU */
	uint32_t asks, asks_next;      /* resets until that is asked again, and from then on */
};

void nm_defer_begin(struct nm_worker *worker); /* of the present phase, after its waiter */
void nm_defer_end(struct nm_worker *worker);   /* its flows are stopped */
/* The flow would wait at that instruction: true when its wait is deferred, and the flow kept.
 * False: it is to be armed now. */
bool nm_defer_add(struct nm_worker *worker, struct nm_flow *flow, const struct nm_instr *instr);
/* Whether flow, whose wait was deferred to its next turn, is to try again now. Its step is to be
 * called; nm_defer_missed: it still has to wait. */
void nm_defer_try(struct nm_worker *worker, struct nm_flow *flow);
void nm_defer_missed(struct nm_worker *worker);
/* Before and after flows that are queued have their turn. */
void nm_defer_begin_round(struct nm_worker *worker);
void nm_defer_end_round(struct nm_worker *worker);
/* Looks at the flows on the list where it is time to. Once after each wait. */
void nm_defer_turn(struct nm_worker *worker);
/* Arms all that are on the list: the worker has something else to do. */
void nm_defer_flush(struct nm_worker *worker);
/* The longest that the worker may sleep, as far as deferred waits go; < 0: without limit. */
int64_t nm_defer_timeout_ns(const struct nm_worker *worker);
/* The poll waiter has seen that the connection was reset. */
void nm_defer_note_reset(struct nm_worker *worker, const struct nm_conn *conn);

/* Of a phase whose shape has one listener at most: the socket that the flows get their connections
 * from, *ret NULL: they open them themselves. False: the kernel has made several. */
bool nm_worker_only_listener(const struct nm_worker *worker, struct nm_listen_fd **ret);

#endif
