/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of step functions: the instruction, the flow and the worker's means. */
#ifndef NM_FLOWOP_FLOW_H
#define NM_FLOWOP_FLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/app.h"
#include "flowop/due.h"
#include "flowop/request.h"
#include "stats/tally.h"
#include "transport/conn.h"
#include "transport/io.h"

struct nm_files;
struct nm_flow;
struct nm_flowop;
struct nm_instr;
struct nm_law;
struct nm_pending_conn;
struct nm_transport;

/* The answers of a step. A wait (WAIT_IN, NEXT_WAIT_IN, WAIT_OUT, PARK) ends by its deadline, too:
 * at flow->timer.at_ns where the step has set it, or else after the timeout of the instruction that
 * waits. The interpreter relies on the order of the first three. */
enum nm_step {
	NM_STEP_NEXT,	 /* done: go on with the next instruction */
	NM_STEP_WAIT_IN, /* call again when its connection may have input */
	/* done: go on with the next instruction when its connection may have input */
	NM_STEP_NEXT_WAIT_IN,
	NM_STEP_WAIT_OUT, /* call again when its connection may take output */
	NM_STEP_YIELD,	  /* call again after other flows have had their turn */
	NM_STEP_SLEEP,	  /* call again at flow->timer.at_ns */
	NM_STEP_PARK, /* the step has put the flow on a listener's queue; call again from there */
	NM_STEP_FAIL, /* flow->error holds an errno; the flow is over */
	NM_STEP_JUMP, /* go on with flow->at: only from a flow that has its turn */
};

/* How many answers there are. */
#define NM_STEPS (NM_STEP_JUMP + 1)

typedef enum nm_step (*nm_step_fn)(struct nm_io *io, struct nm_flow *flow,
				   const struct nm_instr *instr);

/* How many calls a step makes for one message before it yields. */
#define NM_STEP_CALLS 32

/* One flowop of a program, immutable, shared by all workers. The members that a step of streams
 * reads for each message are in the first line of the cache. */
struct nm_instr {
	nm_step_fn step; /* NULL: the end of a transaction's body */
	union {
		uint64_t size; /* bytes of the message, at most */
		/* of pseudo-ops (pseudo_ops.h, mix.h, pipeline.h): passes, times, instructions or
		 * requests */
		uint64_t count;
	};
	/* The longest that one wait may take; 0: no limit. */
	uint64_t timeout_ns;
	const struct nm_flowop *op;
	/* the transport of the connection that is opened or used; NULL: there is none */
	const struct nm_transport *transport;
	const void *opts; /* the flowop's option struct, owned by the plan */
	uint32_t slot;	  /* the connection's index in the flow's conns */
	uint32_t ahead;	  /* read: bytes beyond the message that one receive may take */
	/* One send(2) or recv(2) moves the message: its size is known and no longer than the
	 * group's chunk_bytes, one byte may be taken ahead, and the transport has no send or recv
	 * of its own. */
	bool single_call;
	/* A reply comes next: a write, before a plain read from its connection; a think, before
	 * whatever waits for the other end, so that its time is part of the exchange. */
	bool expects_reply;
	bool can_fail;	/* its failures are counted, and the flow goes on with the next */
	bool lossy;	/* messages of the connection may be lost */
	int32_t stride; /* the slot moves by this much with each pass */

	/* Beyond the first line. */
	/* the step that nm_abandoning_step calls; NULL: it does not stand in for this one */
	nm_step_fn carried_step;
	uint32_t opening; /* connect, accept: which opening of the group; both sides number alike */
	uint32_t host;	  /* index of the host at the other end, in the plan's hosts */
	/* Its number among what draws in the group: among flowops that think, among the others, or
	 * among mixes and sequences, so that one more of a kind changes no draw of another; both
	 * sides number alike. */
	uint32_t site;
	unsigned line; /* in the profile */
	struct nm_app_use ask;
	struct nm_instr_open {
		const void *transport_opts; /* the transport's option struct, owned by the plan */
		/* connect: how long the preamble is repeated until it is answered; 0: it is not */
		uint64_t preamble_ns;
		uint16_t port;	      /* accept: where to listen; 0: the kernel chooses */
		bool has_preamble;    /* the connection begins with a preamble */
		bool defer_handshake; /* the next instruction makes the connection secure */
	} open;			      /* connect, accept */
	struct nm_instr_message {
		const void *opts; /* the transport's options of this message; NULL: none */
		/* how the size is drawn; NULL: the size is fixed */
		const struct nm_law *law;
		const struct nm_files *files; /* the files of which one is sent; NULL: none */
		/* A write after which the kernel may hold bytes back, as the next instruction is a
		 * write, too. */
		bool cork;
		/* A write for whose completion the flow need not wait when it is posted, as a read
		 * from its connection is next. */
		bool no_wait;
		/* in a pipeline: one call may send several requests, as one longer message */
		bool joins;
		/* Of so many passes each has the next size of the law, in its order; 0: sizes are
		 * by chance. */
		uint32_t in_order;
	} message; /* of instructions that move a message */
	struct nm_instr_datagram {
		/* How many messages it moves, several with one call; 0: one, with one call. */
		uint32_t batch;
		/* A write that nothing answers, whose messages tell when they were sent. */
		bool timestamped;
		bool zerocopy; /* a write without a copy */
		bool is_reply; /* a read of messages that the other end sends in answer to writes */
		/* Such a read, after which nothing is read from the connection before the next
		 * write. */
		bool is_reply_last;
	} datagram; /* of instructions that move messages that may be lost */
	struct nm_instr_pass {
		bool drains; /* a read from a host that may have sent more than the passes need */
		/* A read before which its connection may be replaced: NM_TRANSPORT_RECONNECTS. */
		bool rekey_point;
		/* On a stream, at the end that follows: the read's message comes with the next
		 * pass, which the other end begins when it likes; a limit counts only from there
		 * on. */
		bool is_first;
		/* disconnect: the last message of this end may still be on the way */
		bool sent_last;
		/* As the other site, among what draws in the transaction: of passes that draw from
		 * their arrivals. */
		uint32_t site;
	} pass; /* the place in a pass */
	struct nm_instr_pipeline {
		uint32_t n_instrs; /* how many instructions before the pipeline belong to it */
		uint32_t n_asks;   /* how many of these ask, and come first */
		uint32_t places;   /* of what is outstanding: of a ring, or of a table (window.h) */
		uint32_t head_bytes; /* the most of a request, but for its payload (queue.h) */
	} pipeline;
};

_Static_assert(offsetof(struct nm_instr, stride) + sizeof(int32_t) <= 64,
	       "what is read for each message is in one line of the cache");

enum nm_flow_state {
	NM_FLOW_IDLE,	 /* between phases */
	NM_FLOW_READY,	 /* running, or queued to run */
	NM_FLOW_WAITING, /* for its connection */
	/* for its connection, which is not armed; the flow is queued to try its step again */
	NM_FLOW_RETRYING,
	/* for the end of its connection, which is not armed, but polled when needed */
	NM_FLOW_DEFERRED,
	NM_FLOW_WAITING_UNTIL, /* for its connection, and for flow->timer.at_ns */
	NM_FLOW_ASLEEP,	       /* for a time */
	NM_FLOW_PARKED,	       /* on a listener */
};

/* One of a worker's timers, which are in engine/timer.h. */
struct nm_timer {
	uint64_t at_ns; /* when the timer fires; 0: it does not */
	uint32_t slot;	/* position in the worker's heap + 1; 0: not in the heap */
	uint8_t kind;	/* enum nm_timer_kind */
};

/* Bits of flow->repeated that count within a round of a sequence. */
#define NM_ROUND_BITS 16

struct nm_flow {
	const struct nm_instr *at;
	/* bytes that the present step has still to move; 0: none of them has moved */
	uint64_t left;
	uint64_t iterations_left;
	struct nm_request request; /* of the present pass */
	/* the end of a sleep, or the deadline of a wait; at_ns 0: neither has begun */
	struct nm_timer timer;
	struct nm_flow *next; /* on a run queue or a listener's queue */
	struct nm_conn *conn; /* the connection that the present step opens, uses or closes */
	/* while a connection is replaced: the instruction with which the flow goes on */
	const struct nm_instr *resume;
	/* connections for this flow that are not accepted yet, oldest first */
	struct nm_pending_conn *pending;
	uint32_t index; /* in the group */
	/* How often the present step has been done already in this pass. In a sequence the lower
	 * half is for the present round, and the upper half counts the rounds before it, so that
	 * all together numbers what the step draws. */
	uint32_t repeated;
	uint32_t serials; /* the serial of the last preamble that was sent */
	int32_t error;
	uint8_t state;
	/* How far the present step is, where bytes do not tell: 0 when it begins and when it ends;
	 * in between the step's own number. */
	uint8_t progress;
	bool paced;    /* asleep until its next pass is due, not within a step */
	bool abandons; /* abandoned messages may be left on some connections: abandoned.h */
	bool between;  /* while a connection is replaced: no pass is under way */
	/* with NM_STEP_FAIL: the stream has ended where a message could have begun */
	bool ended;
};

/* Where flows lie in memory: each is on a line of the cache, and its connections follow on lines of
 * their own. */
#define NM_FLOW_BYTES 128u
#define NM_LINE_BYTES 64u
_Static_assert(sizeof(struct nm_flow) <= NM_FLOW_BYTES, "a flow has two lines of the cache");
_Static_assert(sizeof(struct nm_conn) == 128, "a connection has two lines of the cache");

/* A connection of the flow, of which it has n_conns of the group. */
static inline struct nm_conn *nm_flow_conn(struct nm_flow *flow, uint32_t slot)
{
	return (struct nm_conn *)(void *)((char *)flow + NM_FLOW_BYTES) + slot;
}

/* Where it is counted what comes of the flow's pass, by when it was due. */
static inline struct nm_counters *nm_flow_counters(const struct nm_io *io,
						   const struct nm_flow *flow)
{
	const struct nm_request *request = &flow->request;

	return request->marks & NM_REQUEST_APART
		       ? &nm_due_part(io->apps.due, request->marks, request->due_ns)->tally.counters
		       : io->count;
}

/* Whether a wait of that step has been too long already in this pass; the failure counts once, and
 * the wait goes on. */
static inline bool nm_flow_is_late(const struct nm_flow *flow, const struct nm_instr *instr)
{
	return instr->pass.is_first && (flow->request.marks & NM_REQUEST_LATE);
}

#endif
