/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: a profile compiled and checked. Immutable once made; shared by all threads. */
#ifndef NM_PLAN_PLAN_H
#define NM_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/verb_name.h"
#include "flowop/arrival_law/arrival_law.h"
#include "flowop/flow.h"
#include "flowop/ideal.h"
#include "plan/plateau.h"
#include "plan/warmup.h"
#include "plan/shape.h"
#include "plan/throughput.h"

struct nm_diags;
struct nm_node;
struct nm_piece;

/* Limits of a plan. */
#define NM_PLAN_MAX_GROUPS  1024
#define NM_PLAN_MAX_PHASES  1000  /* transactions in a group */
#define NM_PLAN_MAX_INSTRS  10000 /* flowops in a group */
#define NM_PLAN_MAX_WORKERS 8192  /* over all groups */
#define NM_PLAN_MAX_FLOWS   4000000
#define NM_PLAN_MAX_HOSTS   1024
#define NM_PLAN_MAX_CONNS   16384 /* connections of a flow, at a time */
#define NM_PLAN_MAX_EVENTS  1024  /* most events that a worker takes at a time */
/* A longer wait counts as this one. */
#define NM_PLAN_MAX_WAIT_NS UINT64_C(1000000000000000000)

/* Flows of one worker that one listening socket serves; more flows get more sockets, since the
 * kernel bounds its queue. */
#define NM_FLOWS_PER_LISTEN_SOCKET 2048

#define NM_NO_HOST UINT32_MAX

/* Whether the counts of both ends of a phase must agree when it is over. */
struct nm_phase_counts {
	bool reliable; /* all its connections are: they must, unless something fails */
	bool can_fail; /* something may fail without an end of the run */
	/* on any side messages may be lost, or flowops fail: it ends by agreement, not by count
	 * alone */
	bool may_lose;
	bool unmatched;	     /* master's plan: some of its bytes go to no peer, or come from none */
	bool expects;	     /* master's plan: the profile says which statuses are refusals */
	uint64_t bytes_sent; /* of one pass on this side, if no size is drawn */
};

/* What is waited for, on either side: how long the flowops of a pass wait by themselves, all of
 * them and those that think; and connections that are closed by a reset, which may be lost. */
struct nm_phase_waits {
	uint64_t all_ns, think_ns;
	bool is_public; /* whoever connects: nobody else knows of its passes, time ends it */
	bool resets;	/* this side waits for resets by the other end */
	/* they are reset before anything has moved over them, so that the end that accepts may
	 * never see them: the phase ends by agreement, not by count alone */
	bool may_miss;
	struct nm_plateau until; /* the master ends the phase when it has settled; figure 0: none */
};

/* Measured flows: how long one takes at best, and the instruction whose message it is, in the
 * group's. */
struct nm_phase_flows {
	struct nm_ideal ideal;
	uint32_t instr;
	uint32_t probe; /* the phase of the group whose solitary flows tell, where any do */
	bool solitary;	/* on both sides: the group's first flow makes all passes, of `total` */
};

/* Which connections are opened anew while a phase goes on. */
struct nm_phase_anew {
	bool between_passes; /* those of transports whose connections may be replaced */
	bool lives;	     /* those over which is asked, when their life is over */
};

/* One transaction of one group, on one side. */
struct nm_phase {
	char *name; /* owned; "" when it has none */
	unsigned line;
	uint64_t iterations;  /* passes of each flow; 0 when it runs for a time */
	uint64_t duration_ns; /* 0: by iterations */
	uint64_t total; /* with a duration: passes of all flows, shared out evenly; 0: no limit */
	double rate_per_s;	     /* passes a second of each flow; 0: as fast as possible */
	struct nm_arrivals arrivals; /* of passes, which the master begins; law NULL: none */
	struct nm_phase_flows flows;
	uint32_t pipeline; /* leader: how many requests a flow may have outstanding; 0: one */
	uint32_t first;	   /* instruction */
	uint32_t n_instrs; /* without the end instruction that follows them (step == NULL) */
	uint32_t entry;	   /* the instruction that a pass begins with, of these */
	struct nm_phase_shape shapes[2]; /* see nm_phase_shape_of */
	bool measured;
	bool posts; /* its messages are sent and received by io_uring */
	bool cork;  /* some writes let the kernel hold bytes back */
	bool empty; /* nothing crosses the network on this side: a slave does not run it at all */
	bool leads; /* this side begins each pass; otherwise it follows, and learns the count */
	/* slave's plan: it only sends, and leads though another host leads the others */
	bool open_sender;
	int rcvlowat; /* SO_RCVLOWAT of the connections while it lasts; 0: as they have it */
	struct nm_phase_anew anew;
	/* master's plan: some hosts are free, and the bytes that they send beyond the passes are
	 * drained */
	bool drains;
	uint32_t leader; /* master's plan: which host leads, NM_NO_HOST when the master does */
	struct nm_phase_counts counts;
	struct nm_phase_waits waits;
};

/* Whether its passes are measured, or watched: a warm-up is to be as what is measured, and what is
 * learned of the idle path is a time, too. */
static inline bool nm_phase_has_times(const struct nm_phase *phase)
{
	return phase->measured || phase->waits.until.figure ||
	       phase->flows.ideal.kind == NM_IDEAL_PROBE;
}

/* How the messages of a group are moved on one side. */
struct nm_group_messages {
	uint64_t chunk_bytes; /* the most that one call moves */
	bool moves_files;     /* this side sends or receives some */
	/* messages on streams may be given up half-way, and then move before the next */
	bool gives_up;
	bool moves_datagrams; /* over sockets that may lose them */
	bool sends_zerocopy;  /* some messages without a copy */
	bool maps; /* received data, at either end, instead of copying them, as asked for */
};

struct nm_group {
	char *name; /* owned; "GroupN" when it has none, N from 0 */
	unsigned line;
	uint32_t n_workers;
	uint32_t n_flows; /* over all workers: flow i runs on worker i % n_workers */
	uint32_t n_phases;
	struct nm_phase *phases;
	struct nm_instr *instrs; /* all phases, each followed by its end instruction */
	uint32_t n_instrs;
	uint32_t n_openings; /* connect and accept flowops of the whole group, both sides alike */
	uint32_t n_conns;    /* most connections of a flow at a time; at least 1 */
	uint32_t *hosts;     /* the hosts of the group, in order of first use; owned */
	uint32_t n_hosts;
	struct nm_group_messages messages;
	int max_events;	      /* most events that a worker takes at a time */
	bool level_triggered; /* connections, by epoll */
	bool processes;	      /* the workers are processes */
	bool posts;	      /* transfers that can be are posted (io_uring) */
	bool spins;	      /* the workers never sleep while they wait */
	bool awake;	      /* the workers sleep, but idle CPUs do not */
	size_t app_bytes;     /* of the state of a connection that asks or serves; 0: none does */
	bool batches;	      /* one of them asks for several keys at once (app/batch.h) */
	uint32_t pipeline;    /* the most requests that a flow has outstanding here; 0: one */
	bool opens_fast;      /* some connections of a pass with fast open, as asked for */
	bool needs_identity;  /* flow i here must be connected with flow i there */
	bool runs;	      /* this side has something to do for this group */
};

struct nm_plan_verb {
	char name[NM_VERB_NAME];
	const struct nm_app *app; /* whose usual answers its own are counted by */
};

struct nm_plan {
	char *name;  /* of the profile; owned */
	bool master; /* the master's side */
	enum nm_throughput throughput;
	/* as named in the profile, each once; owned. A slave's plan has one: the master
	 * ("master") */
	char **hosts;
	uint32_t n_hosts;
	struct nm_group *groups;
	uint32_t n_groups;
	uint32_t n_phases; /* of the longest group */
	/* What requests are told apart by: each verb, method of HTTP or command that some flowop
	 * of this side asks with, by instr->ask.verb; owned */
	struct nm_plan_verb *verbs;
	uint32_t n_verbs;
	void *arena; /* owns option structs */
	/* master's plan: one line about groups that are measured in different phases, owned, and
	 * the line of the profile that it is about; NULL: there are none */
	char *apart;
	unsigned apart_line;
};

/* Whether it connects to servers that are not netmodel. */
static inline bool nm_instr_is_to_server(const struct nm_instr *instr)
{
	return nm_instr_opens(instr) && !nm_instr_accepts(instr) && instr->ask.app &&
	       instr->host == NM_NO_HOST;
}

/* Whether it accepts connections of whoever connects. */
static inline bool nm_instr_is_public(const struct nm_instr *instr)
{
	return nm_instr_accepts(instr) && instr->ask.app && instr->host == NM_NO_HOST;
}

/* Gives this duration to each transaction of the substituted tree that is measured and has one: how
 * many these are, or -ENOMEM. A parameter that -D sets and that is the duration of one of them is
 * at *ret_defined, borrowed from the tree; NULL: there is none. */
int nm_plan_set_duration(struct nm_node *root, uint64_t ns, const struct nm_piece **ret_defined);
/* Compiles the substituted tree for the master. NULL with errors in diags; all of them, not only
 * the first. */
struct nm_plan *nm_plan_compile(const struct nm_node *root, const char *file,
				struct nm_diags *diags);
/* The plan of a slave: the program of the host named `host`, from the same tree. NULL with errors
 * in diags. */
struct nm_plan *nm_plan_compile_mirror(const struct nm_node *root, const char *file,
				       const char *host, struct nm_diags *diags);
/* Wipes the secrets among its options, once the engine has made all that needs them
 * (nm_engine_prepare). */
void nm_plan_wipe_secrets(struct nm_plan *plan);
struct nm_plan *nm_plan_free(struct nm_plan *plan); /* accepts NULL, returns NULL */

/* The compiled program as text, for --dump-plan; owned by the caller. */
char *nm_plan_dump(const struct nm_plan *plan);

/* Whether this host has all the protocols that its side of the plan needs: 0, or -errno with an
 * error in diags for each opening whose protocol is missing. */
int nm_plan_check_protocols(const struct nm_plan *plan, const char *file, struct nm_diags *diags);
/* How many descriptors a process of this side needs at most while it runs the plan. */
uint64_t nm_plan_descriptors(const struct nm_plan *plan);
/* Has the connections of this side leave from that address, where the profile does not say from
 * which. Before the plan is run. */
void nm_plan_leave_from(const struct nm_plan *plan, const struct nm_addr *addr);
/* The flows of all groups. */
uint64_t nm_plan_flows(const struct nm_plan *plan);
/* How long the timed phases take, all together: at most, as a phase may end by a number of passes
 * before. */
uint64_t nm_plan_duration_ns(const struct nm_plan *plan);
/* The longest wait that the profile itself asks for, on either side, ns: longer silence is a
 * stall. */
uint64_t nm_plan_longest_wait_ns(const struct nm_plan *plan);
/* The longest time, ns, in which no pass may be due: by the rate of a flow, or by the law of
 * arrivals. */
uint64_t nm_phase_longest_pause_ns(const struct nm_phase *phase);
/* Passes a second that are due, by a rate or by arrivals; 0: as many as there can be. */
double nm_phase_planned_per_s(const struct nm_group *group, const struct nm_phase *phase);
/* Whether this side measures each pass as a flow. */
static inline bool nm_phase_measures_flows(const struct nm_phase *phase)
{
	return phase->flows.ideal.kind != NM_IDEAL_NONE;
}
/* Whether this side begins passes when they become due by the law of arrivals. */
bool nm_phase_is_open(const struct nm_phase *phase);
/* Whether any transaction of the group is run by io_uring on this side. */
bool nm_group_posts(const struct nm_group *group);

#endif
