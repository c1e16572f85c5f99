/* SPDX-License-Identifier: Apache-2.0 */
/* The slave daemon: takes masters, and runs each session in a process of its own. */
#ifndef NM_CONTROL_SLAVE_DAEMON_H
#define NM_CONTROL_SLAVE_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "control/key.h"
#include "control/slave/admission.h"
#include "host/file.h"

struct nm_flow_rows;
struct nm_net;
struct nm_result;

/* What the user who has started the slave expects of it. */
struct nm_slave_asked {
	const char *sessions_words; /* the options that say how many sessions there are */
	bool only_trouble;	    /* no lines about runs that go as they should */
	/* The workers that a group is to have: a run with others is told. 0: any. */
	uint64_t workers;
	/* May be NULL; called in session processes with the samples of this slave's own flows,
	 * which are taken in the intervals of the master; their host is NULL. */
	void (*flows)(void *arg, const struct nm_flow_rows *rows);
};

struct nm_slave_options {
	int control;	  /* enum nm_control_over: the kind of socket to listen on */
	const char *bind; /* for vsock a CID, otherwise numeric or a name; NULL: all addresses */
	uint16_t port;	  /* 0: any free one */
	enum nm_admission admission;  /* which masters the slave takes */
	struct nm_key *key;	      /* for masters to prove; borrowed, NULL where there is none */
	const struct nm_net *allowed; /* other hosts that data connections may come from */
	size_t n_allowed;
	uint32_t lent;	  /* privileges that masters of other hosts may use, from nm_allow_parse */
	const char *user; /* to become after listening; NULL: nobody else */
	uint64_t max_flows;	   /* of one session */
	uint64_t max_duration_ns;  /* of one session; 0: unlimited */
	uint64_t max_memory_bytes; /* of one session; 0: unlimited */
	uint64_t timeout_ns;	   /* how long a master may be silent */
	bool in_process;	   /* a thread of the master's process, which knows the limits */
	uint64_t sessions;	   /* end after so many; 0: never */
	struct nm_slave_asked asked;
	bool exclusive; /* no two runs at a time */
	/* also said to programs that connect and are no master; NULL: nothing */
	const char *strangers_hint;
	/* The folder of files that profiles of masters of other hosts name, borrowed; where there
	 * is one, it holds for masters of this host, too. */
	struct nm_file_root files;
	const char *cpus; /* list for the workers when the master asks for none, or NULL */
	int interrupt_fd; /* readable: end; -1: none */
	void *arg;
	void (*listening)(void *arg, const char *address, uint16_t port); /* may be NULL */
	void (*log)(void *arg,
		    const char *line); /* may be NULL; also called in session processes */
	/* May be NULL; called in session processes, for each run that came to its end. The result
	 * is the slave's own: its host first, with its measured window as totals, and then, if it
	 * is known, the window of the master; without parameters, latencies and intervals. */
	void (*ended)(void *arg, struct nm_result *result);
};

/* Port 20000 on all addresses, masters of this host only, a timeout of 10 s; for a session at most
 * 1 000 000 flows, 24 h and half of the machine's memory. */
void nm_slave_options_default(struct nm_slave_options *ret_options);
/* Serves until interrupted. 0, or -errno with an error in diags (the port is in use, ...). */
int nm_slave_serve(const struct nm_slave_options *options, struct nm_diags *diags);

#endif
