/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a phase: all that follows from the form of its program, found once when the plan is
 * made, for both sides. The engine decides by it how its workers wait, and never by the program
 * itself; --dump-plan prints it. */
#ifndef NM_PLAN_SHAPE_H
#define NM_PLAN_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flowop/flowop.h"
#include "flowop/life.h"

struct nm_group;
struct nm_phase;

/* How a worker learns which of its flows can go on. */
enum nm_waiter_kind {
	NM_WAITER_EPOLL, /* epoll_wait(2) */
	NM_WAITER_POLL,	 /* ppoll(2) of one connection, which is another one in each pass */
	NM_WAITER_RECV,	 /* the receive itself waits, on the only connection */
	NM_WAITER_URING, /* io_uring_enter(2): transfers are posted */
};

/* The waits that the flow does not pass to the waiter at once. */
enum nm_defer_policy {
	NM_DEFER_NO,
	NM_DEFER_NEXT_TURN, /* the flow first tries again after the other flows have had a turn */
	NM_DEFER_UNTIL_NEEDED, /* waits for the other end's reset: until the flow is needed again */
};

/* No instruction. */
#define NM_NO_INSTR UINT32_MAX

/* The shape of one phase, for the workers that have equally many flows. Instructions count from the
 * group's first. */
struct nm_phase_shape {
	uint8_t waiter;	  /* enum nm_waiter_kind */
	uint8_t defer;	  /* enum nm_defer_policy */
	bool short_lived; /* each pass opens its connection and closes it again, on plain streams */
	bool lone_conn;	  /* each pass opens one connection, and its last flowop closes it */
	bool resets;	  /* this side closes that connection by a reset, without a wait */
	/* The poll waiter lets receives sleep: all data that are received are plain messages, and
	 * no end sends more. */
	bool sleeps_in_recv;
	bool has_deadlines;	/* some waits end by themselves: each is asked for its deadline */
	uint32_t accept_at;	/* the only accept, where that has one listening socket */
	uint32_t wait_at;	/* the read, or request, at which the recv waiter sleeps */
	uint32_t close_at;	/* the instruction at which deferred flows wait */
	uint32_t make_ahead_at; /* the connect whose socket can be made before it is due */
	char why_waiter[64];	/* the reason against a cheaper waiter; "" when there is none */
	char why_defer[64];	/* the reason against deferred waits; "" when there is none */
};

/* Whether the instruction is a flowop that opens a connection, either way; or of these, one that
 * the other end opens. */
static inline bool nm_instr_opens(const struct nm_instr *instr)
{
	return instr->op && (instr->op->flags & NM_FLOWOP_OPENS);
}
static inline bool nm_instr_accepts(const struct nm_instr *instr)
{
	return nm_instr_opens(instr) && (instr->op->flags & NM_FLOWOP_FOLLOWS);
}
/* Whether its connections are replaced when their life is over. */
static inline bool nm_instr_lives(const struct nm_instr *instr)
{
	return nm_instr_opens(instr) && nm_lives(instr->opts);
}
/* Whether it sends a request and takes the answer, or the other way round. */
static inline bool nm_instr_asks(const struct nm_instr *instr)
{
	return instr->op && (instr->op->flags & NM_FLOWOP_ASKS);
}
/* Whether what it asks may take away what a server has, or says when it goes (verbs.c). */
bool nm_instr_destroys(const struct nm_instr *instr);
/* Whether it is the end that answers. */
static inline bool nm_instr_serves(const struct nm_instr *instr)
{
	return nm_instr_asks(instr) && (instr->op->flags & NM_FLOWOP_FOLLOWS);
}
/* Whether what it waits for may be lost: a message, a request or an answer. */
static inline bool nm_instr_may_wait_in_vain(const struct nm_instr *instr)
{
	return instr->op && (instr->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_ASKS)) && instr->lossy;
}
static inline bool nm_instr_closes(const struct nm_instr *instr)
{
	return instr->op && (instr->op->flags & NM_FLOWOP_CLOSES);
}
/* Whether the instruction moves a message or files; or of these, such that this end sends, or that
 * it receives: exchange does both. */
static inline bool nm_instr_moves(const struct nm_instr *instr)
{
	return instr->op && (instr->op->flags & NM_FLOWOP_MOVES);
}
static inline bool nm_instr_sends(const struct nm_instr *instr)
{
	return nm_instr_moves(instr) && (instr->op->flags & (NM_FLOWOP_INITIATES | NM_FLOWOP_BOTH));
}
static inline bool nm_instr_receives(const struct nm_instr *instr)
{
	return nm_instr_moves(instr) && (instr->op->flags & (NM_FLOWOP_FOLLOWS | NM_FLOWOP_BOTH));
}
/* Whether the instruction moves one message one way: neither files nor an exchange. */
static inline bool nm_instr_moves_message(const struct nm_instr *instr)
{
	return instr->op && nm_flowop_moves_message(instr->op);
}
/* Whether the instruction waits for the other end to act before it acts itself. */
static inline bool nm_instr_follows(const struct nm_instr *instr)
{
	return instr->op && (instr->op->flags & NM_FLOWOP_FOLLOWS);
}
/* Whether mixes or sequences are among the instructions of the phase, which may not be complete:
 * what comes next is not always the same then. */
bool nm_phase_mixes(const struct nm_group *group, const struct nm_phase *phase);
/* Whether the instruction moves a message of a byte stream by plain calls, and can neither fail nor
 * time out. */
bool nm_instr_is_plain(const struct nm_instr *instr);

/* Whether the only connection of the accept is the listening socket itself, which takes messages of
 * whoever sends them. */
bool nm_shape_takes_messages(const struct nm_instr *accept);
/* Whether the queue of the listener of an accept never holds a second connection, on a worker with
 * one flow: the other end must receive something on each connection before it can open the next. */
bool nm_shape_accepts_singly(const struct nm_group *group, const struct nm_instr *accept);

/* Finds the shapes of all phases of a group that is complete otherwise. master: on the side that
 * measures. */
void nm_group_find_shapes(struct nm_group *group, bool master);
/* The shape of a phase for a worker, by the worker's number in its group. */
const struct nm_phase_shape *nm_phase_shape_of(const struct nm_group *group,
					       const struct nm_phase *phase, uint32_t worker);
/* Names as --dump-plan prints them: "epoll", "next turn" ... */
const char *nm_waiter_name(enum nm_waiter_kind kind);
const char *nm_defer_name(enum nm_defer_policy policy);

#endif
