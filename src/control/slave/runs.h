/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that the sessions of a slave serve, in memory that all of them share: the masters they
 * are of, and how long several have been under way at a time. A run has several sessions at one
 * slave when its profile calls the host by two names. Pure: time comes in. Changes of state are
 * atomic: sessions do not wait for each other, and one that is killed holds nothing up. */
#ifndef NM_CONTROL_SLAVE_RUNS_H
#define NM_CONTROL_SLAVE_RUNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/wire/codec.h"

#define NM_SLAVE_RUNS	    192 /* one for each session */
#define NM_SLAVE_RUN_MASTER 64

/* The run of a session. */
struct nm_slave_run {
	_Atomic uint64_t id;	   /* 0: none; from prepare to finish */
	_Atomic uint64_t since_ns; /* when it was prepared */
	_Atomic bool under_way;	   /* between its first phase and its last */
	char master[NM_SLAVE_RUN_MASTER];
};

/* All zero: there are none. */
struct nm_slave_runs {
	struct nm_slave_run of[NM_SLAVE_RUNS]; /* by the index of the session */
	_Atomic uint64_t alone;		       /* the run that has the slave to itself; 0: none */
	/* How long two runs or more have been under way: see runs.c. */
	_Atomic uint64_t together;
	_Atomic uint32_t begun; /* how many runs have begun */
};

/* How far the shared figures were when the own run began. */
struct nm_slave_run_begin {
	uint64_t at_ns, together_ns;
	uint32_t others, begun;
};

/* The run of an identity that a master has sent, as a number that is not 0. */
uint64_t nm_slave_run_id(const char *text);
/* The session prepares the run of a master at that address. alone: it serves no two runs at a time;
 * then false when another run is there, which nm_slave_runs_other finds. */
bool nm_slave_runs_claim(struct nm_slave_runs *runs, size_t index, uint64_t id, const char *master,
			 bool alone, uint64_t now_ns);
/* The run that has the slave to itself: its master (copied to buf), and when it was prepared.
 * False: there is none any more. */
bool nm_slave_runs_other(const struct nm_slave_runs *runs, char *buf, size_t size,
			 uint64_t *ret_since_ns);
/* The first phase of the session's run begins. */
void nm_slave_runs_begin(struct nm_slave_runs *runs, size_t index, uint64_t now_ns,
			 struct nm_slave_run_begin *ret_begin);
/* The last phase is over: the session has no run any more, and the slave is free for another. */
void nm_slave_runs_end(struct nm_slave_runs *runs, size_t index, uint64_t now_ns,
		       const struct nm_slave_run_begin *begin, struct nm_msg_others *ret_others);
/* The session leaves its run, if it has one, in any state. By the session or, once its process has
 * ended, by the slave. */
void nm_slave_runs_leave(struct nm_slave_runs *runs, size_t index, uint64_t now_ns);

#endif
