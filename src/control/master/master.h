/* SPDX-License-Identifier: Apache-2.0 */
/* A run, as the master sees it: its own engine, a link to each slave, and the result that grows. */
#ifndef NM_CONTROL_MASTER_MASTER_H
#define NM_CONTROL_MASTER_MASTER_H

#include <poll.h>

#include "control/clock_sync.h"
#include "control/wire/codec.h"
#include "control/master/embedded.h"
#include "control/local.h"
#include "control/progress.h"
#include "control/responses.h"
#include "control/windows.h"
#include "control/peer.h"
#include "control/master/run.h"
#include "host/cpus.h"

/* A group in the present phase, on one slave. */
struct nm_link_group {
	bool runs;		/* the slave has a part in it */
	bool empty;		/* but one in which nothing crosses the network */
	bool done;		/* and has told its totals */
	uint32_t told_renewals; /* of nm_engine_reconnects */
	uint64_t *totals;	/* of its workers; n_workers; owned */
	struct nm_counts counts;
};

struct nm_link {
	struct nm_peer peer; /* fd -1: not connected, or no more */
	uint32_t host;	     /* in the plan */
	const char *name;    /* borrowed from the plan */
	struct nm_addr remote, local;
	struct nm_plan *mirror; /* what the slave runs; owned */
	struct nm_embedded embedded;
	struct nm_clock_sync clock;
	bool began; /* the present phase */
	uint64_t progress;
	struct nm_link_group *groups;  /* owned */
	struct nm_result_host *result; /* borrowed from the result */
	size_t row_capacity;	       /* of result->intervals */
};

/* A group in the present phase, here. */
struct nm_run_group {
	bool runs;
	uint64_t stop_at_ns; /* UINT64_MAX: it ends by itself */
	bool stopped;	     /* its leader has been told to end */
	bool followed;	     /* it has been told its leader's totals */
	bool passed;	     /* its last pass is done, and the free hosts have been told to end */
	bool drained;	     /* it has been told how much they have sent */
	bool done;
};

/* How much a failure tells about the cause: a flow that was reset tells less than the loss of its
 * peer. */
enum nm_failure_rank { NM_FAILURE_NONE, NM_FAILURE_EFFECT, NM_FAILURE_CAUSE, NM_FAILURE_LOSS };

struct nm_master {
	const struct nm_job *job;
	const struct nm_run_options *options;
	const struct nm_plan *plan;
	struct nm_diags *diags;
	const char *file; /* the profile's name in messages */
	struct nm_result *result;
	struct nm_cpu_list cpus;
	struct nm_local local;
	struct nm_link *links; /* owned */
	size_t n_links;
	struct pollfd *pollfds;			    /* owned; n_links + 2 */
	struct nm_windows *windows;		    /* owned */
	struct nm_progress_sampler *progress_told;  /* owned */
	struct nm_response_sampler *responses_told; /* owned; NULL: not asked for */
	bool memory_failed;			    /* rows of the result are missing */
	size_t row_capacity;			    /* of the master's own host intervals */
	struct nm_run_group *groups;		    /* owned */
	unsigned char secret[NM_SECRET_BYTES];	    /* of the run */
	/* Phases. */
	uint32_t phase;
	bool in_phase;
	uint64_t run_begin_ns; /* 0: no phase has begun */
	uint64_t run_end_ns;
	uint64_t phase_begin_ns;
	uint32_t first_measured, last_measured; /* phases; UINT32_MAX: none */
	uint64_t stall_ns;			/* so long without progress is a failure */
	uint64_t progress, progress_at_ns;
	/* How it ends. */
	unsigned interrupts;   /* 1: gracefully, 2: at once */
	uint64_t interrupt_ns; /* when the first came */
	bool before_others;    /* this thread has a higher priority than it had, which was: */
	int priority;
	bool interrupt_closed;
	char cut_text[64]; /* of nm_master_cut_text */
	bool limited;	   /* the first one was the end of the longest duration */
	enum nm_failure_rank failure;
	uint64_t failed_at_ns;
	bool settled; /* the phases are over: what fails now is not what has ended them */
	char why[NM_WIRE_MAX_TEXT + 1];
};

/* --- run.c --- */
void nm_master_log(const struct nm_master *master, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Notes a failure, of a slave or (link NULL) of the master. The one that tells most about the cause
 * is kept. */
void nm_master_fail(struct nm_master *master, struct nm_link *link, enum nm_failure_rank rank,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* True when what is under way is to be left at once. */
bool nm_master_leaves(const struct nm_master *master, uint64_t now_ns);

/* --- pump.c --- */
/* Takes what comes from slaves, engine and user until something has happened or until_ns. */
void nm_master_poll(struct nm_master *master, uint64_t until_ns);
void nm_master_send(struct nm_master *master, struct nm_link *link, enum nm_message_type type,
		    json_t *body);
/* Pumps until all links are in the state, or until_ns (which is a failure). False when the run
 * cannot go on. */
bool nm_master_await(struct nm_master *master, enum nm_session_state state, uint64_t until_ns);

/* Each takes one message from a slave: 0, or -EPROTO. */
typedef int (*nm_link_handler)(struct nm_master *master, struct nm_link *link, json_t *body);

/* --- dial.c --- */
/* What an interrupt is told as: "interrupted", or the time that has passed. */
const char *nm_master_cut_text(struct nm_master *master);
/* Connects to a slave; 0 with an owned *ret_fd, -ECANCELED after an interrupt, or another error
 * with a phrase in why. */
int nm_master_connect(struct nm_master *master, const char *name, uint64_t until_ns, int *ret_fd,
		      char *why, size_t why_size);

/* --- setup.c --- */
/* Connects, prepares and arms everything. False when the run cannot go on. */
bool nm_master_setup(struct nm_master *master);
int nm_link_welcome(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_refuse(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_ready(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_armed(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_pong(struct nm_master *master, struct nm_link *link, json_t *body);

/* --- phases.c --- */
void nm_master_run_phases(struct nm_master *master);
int nm_link_began(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_done(struct nm_master *master, struct nm_link *link, json_t *body);

/* --- reconcile.c --- */
/* Compares both ends' counts of the phase that has just ended everywhere. */
void nm_master_reconcile(struct nm_master *master);

/* --- samples.c --- */
/* What this host and the slaves tell about single flows goes to whoever has asked for it. */
void nm_master_own_flows(void *master, const struct nm_flow_rows *rows);
void nm_master_own_tcp(void *master, const struct nm_tcp_rows *rows);
int nm_link_flows(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_tcp(struct nm_master *master, struct nm_link *link, json_t *body);

/* --- collect.c --- */
/* The result as far as it is known before anything runs. 0 or -errno. */
int nm_master_describe(struct nm_master *master);
/* Asks the slaves for their results and adds them and the master's own. */
void nm_master_assemble(struct nm_master *master);
void nm_master_own_row(void *arg, const struct nm_host_interval *row);
int nm_link_interval(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_result(struct nm_master *master, struct nm_link *link, json_t *body);

#endif
