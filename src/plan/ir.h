/* SPDX-License-Identifier: Apache-2.0 */
/* A profile read with all its options typed, as the master sees it, before it is checked as a whole
 * and written out for one side. */
#ifndef NM_PLAN_IR_H
#define NM_PLAN_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flowop/arrival_law/arrival_law.h"
#include "flowop/ask.h"
#include "flowop/common.h"
#include "flowop/flowop.h"
#include "flowop/ideal.h"
#include "plan/arena.h"
#include "plan/elements.h"
#include "plan/plateau.h"
#include "profile/tree.h"
#include "transport/transport.h"

struct nm_diags;
struct nm_plan;

/* Where a step stands: the number + 1 of what it is in, among those of its group; 0: in none. */
struct nm_ir_within {
	uint32_t member; /* of a mix */
	uint32_t sequence;
};

/* The numbers of what draws: see struct nm_instr. */
struct nm_ir_site {
	uint32_t site, own_site;
};

struct nm_ir_step {
	const struct nm_flowop *op;
	const void *opts;
	const void *mirror_opts;	      /* for op->mirror, when it has options of its own */
	const struct nm_transport *transport; /* of the connection it opens or uses; NULL: none */
	const void *transport_opts;
	const void *mirror_transport_opts; /* transport_opts of the other end */
	const struct nm_ir_step *opened;   /* the step that opens its connection */
	struct nm_app_use ask;
	const struct nm_common_opts *common;
	struct nm_ir_message {
		const struct nm_transport *transport; /* of the options; NULL: none were given */
		const void *opts;
	} message;
	uint32_t slot; /* of its connection */
	int32_t stride;
	uint32_t host; /* in the ir's hosts; NM_NO_HOST: none */
	uint32_t opening;
	struct nm_ir_site site;	      /* among the group's steps */
	struct nm_ir_within in;	      /* where it stands in its transaction */
	uint64_t size;		      /* of a message, at most; 0: no messages, or files */
	const struct nm_law *law;     /* how the size is drawn; NULL: it is fixed */
	uint64_t rsize;		      /* the most that one receive takes; 0: as usual */
	const struct nm_files *files; /* master: the files that are sent; owned by the arena */
	bool lossy;		      /* messages of its connection may be lost */
	bool unrolled;		      /* one of several steps that a count stands for */
	bool absent;		      /* when= and unless= leave it out */
	unsigned line;
	struct nm_ir_written {
		const struct nm_attr *options; /* NULL: none */
		const struct nm_node *node;
	} written; /* borrowed */
};

/* What a mix may draw: its steps stand one behind the other. */
struct nm_ir_member {
	uint64_t weight;
	uint32_t mix; /* in the group's mixes */
};

struct nm_ir_mix {
	const struct nm_node *node; /* borrowed */
	const char *replay;	    /* the keyspace of what it replays; NULL: it draws */
	struct nm_ir_site site;
	size_t first, n_members; /* of the group's members */
	struct nm_mix *table;	 /* owned by the arena; NULL: nothing can be drawn */
};

/* Its steps stand one behind the other. */
struct nm_ir_sequence {
	unsigned line;
	struct nm_ir_site site;
	const struct nm_law *count; /* owned by the arena */
};

struct nm_ir_transaction {
	struct nm_transaction_attrs attrs;
	struct nm_arrivals arrivals;   /* by the attribute */
	struct nm_plateau until;       /* by the attribute */
	struct nm_ideal ideal;	       /* of measured flows, by `slowdown` */
	const struct nm_ir_step *flow; /* with it, the step whose message is the flow */
	bool has_iterations, has_duration;
	bool measured;
	bool left_out; /* when= and unless= leave nothing of it */
	unsigned line;
	const struct nm_node *node; /* borrowed */
	size_t first, n_steps;
};

/* Walks the steps of a transaction of the group. */
#define NM_EACH_STEP(step, group, t)                                                               \
	for (const struct nm_ir_step *step = &(group)->steps[(t)->first],                          \
				     *step##_end = step + (t)->n_steps;                            \
	     step < step##_end; step++)

struct nm_ir_group {
	struct nm_group_attrs attrs;
	unsigned line;
	const struct nm_node *node; /* borrowed */
	uint32_t n_openings;
	uint32_t n_conns; /* most connections of a flow at a time */
	bool opens_fast;  /* some connections with fast open, and closes them in that transaction */
	struct nm_ir_step *steps;
	size_t n_steps, room;
	uint32_t n_thinks; /* of the steps */
	struct {
		uint32_t thinks, others, mixes;
	} before; /* what draws in transactions before the present one */
	struct nm_ir_transaction *transactions;
	size_t n_transactions;
	struct nm_ir_mix *mixes;
	size_t n_mixes;
	struct nm_ir_member *members; /* of all mixes */
	size_t n_members;
	struct nm_ir_sequence *sequences;
	size_t n_sequences;
};

struct nm_ir {
	const char *file;
	struct nm_diags *diags;
	struct nm_arena *arena; /* option structs; borrowed */
	struct nm_profile_attrs attrs;
	struct nm_ir_group *groups;
	size_t n_groups;
	char **hosts;
	uint32_t n_hosts;
	struct nm_ir_keyspace *keyspaces; /* owned by the arena */
	bool too_many_hosts;		  /* as reported */
	bool lacks_values; /* NM_NO_VALUE, as reported: there is nothing to compile */
};

/* Reads the tree. Every mistake goes to ir->diags; the rest is read all the same. */
void nm_ir_read(struct nm_ir *ir, const struct nm_node *root);
void nm_ir_fini(struct nm_ir *ir);
/* Follows the connections through each group's program, which completes the steps, and checks what
 * concerns more than one flowop. */
void nm_ir_check(struct nm_ir *ir);
/* Follows the connections of a flow through the group's program: gives each step its connection,
 * host and slot. */
void nm_ir_connect(struct nm_ir *ir, struct nm_ir_group *group);
/* Whether a step opens a connection, or does something with one (step.c, with the next three). */
bool nm_ir_has_conn(const struct nm_ir_step *step);
bool nm_ir_is_skipped(const struct nm_ir_transaction *transaction);
/* Whether it opens a connection to a server that is not netmodel. */
bool nm_ir_is_to_server(const struct nm_ir_step *step);
/* Whether the step sends, receives, opens or closes, or waits for the other end to do so. */
bool nm_ir_acts(const struct nm_ir_step *step);
/* Whether it sends or receives messages that its transport keeps apart. */
bool nm_ir_moves_messages(const struct nm_ir_step *step);
/* Reads the attribute `slowdown`, where there is one, of a transaction whose passes that leader
 * begins (slowdown_check.c). After nm_ir_connect, and when it is known what is measured. */
void nm_ir_set_slowdown(struct nm_ir *ir, const struct nm_ir_group *group,
			struct nm_ir_transaction *t, uint32_t leader);
/* Which host begins the passes of a transaction, NM_NO_HOST when the master does. */
uint32_t nm_ir_leader(const struct nm_ir_group *group, const struct nm_ir_transaction *transaction);

/* Whether a host only sends in a transaction that another leads, and so is not bound to its
 * passes. */
bool nm_ir_is_open_sender(const struct nm_ir_group *group,
			  const struct nm_ir_transaction *transaction, uint32_t host);
/* Finds the files that the master will send, and reads those of names, paths, bodies and times
 * (message_check.c). */
void nm_ir_find_files(struct nm_ir *ir);
/* The fewest bytes that wake the receiver of a step's data, where such a limit has an effect; 0:
 * any (message_check.c). */
uint64_t nm_ir_rcvlowat(const struct nm_ir_transaction *transaction, const struct nm_ir_step *step);
/* Warns of each rcvlowat and rsize that has no effect, and forgets the latter; refuses files where
 * they cannot be sent (message_check.c). */
void nm_ir_check_messages(struct nm_ir *ir, struct nm_ir_group *group);

/* One line about groups whose measured transactions are in different phases, and what to do when
 * they are meant to run together; owned by the caller. NULL: there are none such, or no memory.
 * ret_line: of the earliest of the transactions (apart.c). */
char *nm_ir_tell_apart(const struct nm_ir *ir, unsigned *ret_line);

/* Reads what a step that opens a connection says about its application protocol; and, once
 * connections are known, gives the protocol to the steps that ask, and checks them
 * (app_check.c). */
void nm_ir_bind_app(struct nm_ir *ir, struct nm_ir_step *step);
void nm_ir_check_apps(struct nm_ir *ir, struct nm_ir_group *group);

/* Transactions with several requests outstanding (pipeline_check.c). */
/* Whether each pass is a request over one stream, of which several may be outstanding as their
 * answers come in order. */
bool nm_ir_is_queue(const struct nm_ir_group *group, const struct nm_ir_transaction *t);
/* Whether each is a query, of which several may be outstanding on one socket. */
bool nm_ir_is_window(const struct nm_ir_group *group, const struct nm_ir_transaction *t);
/* Refuses what cannot go with them. leader: as nm_ir_leader has it. */
void nm_ir_check_pipeline(struct nm_ir *ir, const struct nm_ir_group *group,
			  const struct nm_ir_transaction *t, uint32_t leader);

/* Keyspaces (keyspaces.c): reads one; finds that of a step that asks, NULL with an error, or
 * without one when it needs none; and has a transaction fill one, as its attribute says. */
void nm_ir_read_keyspace(struct nm_ir *ir, const struct nm_node *node);
const struct nm_keyspace *nm_ir_find_keys(struct nm_ir *ir, const struct nm_ir_step *step);
void nm_ir_set_fill(struct nm_ir *ir, struct nm_ir_group *group, struct nm_ir_transaction *t);
/* Gives transactions that open connections the rate of their group (connect_rate.c). */
void nm_ir_pace_connects(struct nm_ir *ir, struct nm_ir_group *group);
/* Reads queue, late and drain; checks arrivals, and sets lanes, who draws by them, and for a law
 * that goes by them the bytes of a pass (arrivals_check.c). */
void nm_ir_read_backlog(struct nm_ir *ir, const struct nm_node *node, struct nm_ir_transaction *t);
void nm_ir_check_arrivals(struct nm_ir *ir, const struct nm_ir_group *group,
			  struct nm_ir_transaction *t);
/* What a query asks for: its questions, which begin with a keyspace (questions.c). */
const struct nm_keyspace *nm_ir_find_questions(struct nm_ir *ir, const struct nm_ir_step *step);
/* Reads the names of a query that has a file of them, as only the master does. */
void nm_ir_read_names(struct nm_ir *ir, struct nm_ir_step *step);
static inline bool nm_ir_has_names(const struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;

	return step->op->verb == NM_VERB_QUERY && opts->names && *opts->names;
}
static inline bool nm_ir_fills(const struct nm_ir_transaction *t)
{
	return t->attrs.fill && *t->attrs.fill;
}

/* How long a step waits by itself, as think does: its option `duration`; 0: not at all. */
uint64_t nm_ir_wait_ns(const struct nm_ir_step *step);

/* Reads a flowop's options (step->written) into step->opts and step->transport_opts (options.c). */
void nm_ir_options(struct nm_ir *ir, struct nm_ir_step *step);

/* Writes a profile that is right out for one side, a host or with NM_NO_HOST the master, into a
 * plan that has only its arena (lower.c). 0 or -ENOMEM. */
int nm_ir_lower(const struct nm_ir *ir, uint32_t host, struct nm_plan *plan);

/* Numbers what the flowops of the plan ask with, and gives it their names. 0 or -ENOMEM. */
int nm_plan_number_verbs(struct nm_plan *plan);

#endif
