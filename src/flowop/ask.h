/* SPDX-License-Identifier: Apache-2.0 */
/* Flowops that ask: each sends the request of its verb in the protocol that the connection speaks
 * (app/app.h), and waits for the whole answer. The other end, where it is netmodel's, serves. */
#ifndef NM_FLOWOP_ASK_H
#define NM_FLOWOP_ASK_H

#include <stddef.h>

#include "app/app.h"
#include "flowop/flowop.h"
#include "flowop/life.h"
#include "stats/tally.h"
#include "transport/io.h"

/* The options of all verbs, of which each has some; as struct nm_opts_message has it. */
struct nm_opts_ask {
	struct nm_law size; /* bytes of the payload */
	char *keys;	    /* the name of a keyspace */
	uint64_t ttl_ns, flags;
	uint64_t by;	/* of incr and decr */
	uint64_t batch; /* keys of one get or set */
	bool verify, unique;
	/* of http: */
	char *path, *paths, *law, *body, *host, *expect;
	int method; /* enum nm_http_method */
	bool keep;  /* the connection, behind the answer */
	/* of query */
	char *name, *type, *names;
	uint64_t edns_bytes;
	bool recursion, dnssec, tcp_fallback;
};

struct nm_opts_serve {
	struct nm_opts_ask ask; /* as all have it; there are none */
	struct nm_law service;	/* ns */
	char *fault;		/* as app/fault.h has it */
};

/* Bytes of the state of a connection that asks, or that is served with answers of so many bytes at
 * most; it is behind the flow and its connections in memory. */
size_t nm_ask_bytes(uint32_t site); /* the highest of what asks */
size_t nm_serve_bytes(uint64_t answer_bytes);
/* Before the flow's present connection is served: it is a new one. */
void nm_serve_reset(const struct nm_io *io, const struct nm_flow *flow);

enum nm_step nm_ask_step(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
/* The same where messages may be lost: what comes and is not the answer does not end the wait. */
enum nm_step nm_ask_datagram_step(struct nm_io *io, struct nm_flow *flow,
				  const struct nm_instr *instr);

/* The next request of the instruction over the flow's present connection is that recorded one. */
void nm_ask_replay(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr,
		   uint64_t record);

/* What the flow was to send once more over another connection is not sent any more: it is lost.
 * False: there is nothing. */
bool nm_ask_drop(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr);

/* When the time of the request that is under way is over; 0: it begins with the first wait, which
 * notes it here. */
uint64_t *nm_ask_due_ns(const struct nm_io *io, const struct nm_flow *flow);

/* The wait for the answer has ended by its limit, where messages may be lost (tcp_fallback.c). */
void nm_ask_give_up(const struct nm_io *io, struct nm_flow *flow);

/* Whether the network has told of the request that is under way that nobody can be reached there:
 * it is lost, not late, when its time is over. */
bool nm_ask_is_lost(const struct nm_io *io, const struct nm_flow *flow);

/* Why the flow has failed with EPROTO at the instruction, which asks or serves: what the other end
 * has sent. */
void nm_ask_why(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr,
		char *buf, size_t size);

/* The two halves of a pass of serve over a stream. NEXT: a request is there, and its answer; and,
 * the answer is sent. */
enum nm_step nm_serve_take(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
enum nm_step nm_serve_send(struct nm_io *io, struct nm_flow *flow, const struct nm_instr *instr);
/* Counts the request as it was answered. */
void nm_serve_count(const struct nm_io *io, const struct nm_flow *flow,
		    const struct nm_instr *instr);
/* The connection as its protocol sees it. */
struct nm_app_served *nm_serve_served(const struct nm_io *io, const struct nm_flow *flow);
/* Whether the client wants no more answers. */
bool nm_serve_is_over(const struct nm_io *io, const struct nm_flow *flow);
/* Whether a request has begun to come whose answer is not sent; *ret: its verb, if known. */
bool nm_serve_is_under_way(const struct nm_io *io, const struct nm_flow *flow, enum nm_verb *ret);
/* Takes the connection of whoever connects, as soon as there is room for it: lack of it is
 * counted. */
enum nm_step nm_accept_any_step(struct nm_io *io, struct nm_flow *flow,
				const struct nm_instr *instr);
/* The step that answers all requests over a connection of whoever connects, until its end, by these
 * options of serve: what a client does wrong is counted, and ends its connection alone. */
nm_step_fn nm_serve_all_step(const void *opts, const struct nm_faults *faults);
/* The step that answers messages of whoever sends them, each by itself, until the time is over. */
enum nm_step nm_serve_messages_step(struct nm_io *io, struct nm_flow *flow,
				    const struct nm_instr *instr);

/* Of a connection that asks, while no request of it is under way: where an answer is parsed, and
 * what is noted of one that is none, of NM_SAID_MAX bytes. */
struct nm_app_parser *nm_ask_parser(const struct nm_io *io, const struct nm_flow *flow);
char *nm_ask_said(const struct nm_io *io, const struct nm_flow *flow);

/* How long the flow's present connection, which asks, still lasts. */
struct nm_life *nm_ask_life(const struct nm_io *io, const struct nm_flow *flow);

/* The state of the flow's present connection. */
static inline void *nm_app_state(const struct nm_io *io, const struct nm_flow *flow)
{
	size_t number = (size_t)(flow->conn - nm_flow_conn((struct nm_flow *)(uintptr_t)flow, 0));

	return (char *)(uintptr_t)flow + io->behind.app_offset + number * io->behind.app_bytes;
}

/* What a connection that is served has noted as not of the protocol. */
const char *nm_serve_said(const struct nm_io *io, const struct nm_flow *flow);

/* The other end of all that ask; one of these stands for its own. */
extern const struct nm_flowop nm_flowop_accept, nm_flowop_serve, nm_flowop_ping;

/* The verb's tally that has the flow's pass, by when it was due. */
static inline struct nm_verb_tally *nm_app_verb(const struct nm_io *io, const struct nm_flow *flow,
						uint16_t verb)
{
	const struct nm_request *request = &flow->request;

	return (request->marks & NM_REQUEST_APART
			? nm_due_part(io->apps.due, request->marks, request->due_ns)->tally.verbs
			: io->apps.verbs) +
	       verb;
}

/* Where it is counted how the flow's request ends: of an instruction that asks, with its verb. */
static inline struct nm_outcome_counters *
nm_app_outcomes(const struct nm_io *io, const struct nm_flow *flow, const struct nm_instr *instr)
{
	return instr->op->flags & NM_FLOWOP_FOLLOWS
		       ? nm_outcomes_of(io->count)
		       : &nm_app_verb(io, flow, instr->ask.verb)->outcomes;
}

/* into += how those of the instruction, which asks, have ended so far, of all flows. */
static inline void nm_app_outcomes_collect(struct nm_outcomes *into, const struct nm_io *io,
					   const struct nm_instr *instr)
{
	nm_verb_collect(into, NULL, &io->apps.verbs[instr->ask.verb]);
	for (uint32_t i = 0; i < io->apps.due->n_parts; i++)
		nm_verb_collect(into, NULL, &io->apps.due->parts[i].tally.verbs[instr->ask.verb]);
}

/* Where it is counted how a request that is served ends: with its verb, where no other end of the
 * run counts it. */
static inline struct nm_outcome_counters *
nm_serve_outcomes(const struct nm_io *io, const struct nm_instr *instr, enum nm_verb verb)
{
	return instr->ask.verbs ? &io->apps.verbs[instr->ask.verbs[verb]].outcomes
				: nm_outcomes_of(io->count);
}

/* Counts how a request was answered, at either end. */
static inline void nm_app_count(struct nm_outcome_counters *outcomes, enum nm_verb verb,
				enum nm_class class)
{
	if (class == NM_CLASS_REFUSED)
		nm_counter_add(&outcomes->refused, 1);
	else if (class == NM_CLASS_TRUNCATED)
		nm_counter_add(&outcomes->truncated, 1);
	else if (nm_verb_looks_up(verb))
		nm_counter_add(class == NM_CLASS_OK ? &outcomes->hits : &outcomes->misses, 1);
	else
		nm_counter_add(&outcomes->ok, 1);
}

/* The flowop of a verb; its options are in the table WORD_opts. */
#define NM_FLOWOP_OF_VERB(word, its_verb, sentence)                                                \
	const struct nm_flowop nm_flowop_##word = {.name = #word,                                  \
						   .mirror_op = &nm_flowop_serve,                  \
						   .help = sentence,                               \
						   .flags = NM_FLOWOP_USES | NM_FLOWOP_INITIATES | \
							    NM_FLOWOP_ASKS,                        \
						   .opts = word##_opts,                            \
						   .opts_size = sizeof(struct nm_opts_ask),        \
						   .step = nm_ask_step,                            \
						   .lossy_step = nm_ask_datagram_step,             \
						   .verb = its_verb}

#endif
