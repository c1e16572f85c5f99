/* SPDX-License-Identifier: Apache-2.0 */
/* An engine without workers, in the place of libnm_engine: what flows have done is what the test
 * says. By itself, if the test wants that, it does the passes that its plan, its master and its
 * leader ask for, at once. */
#ifndef NM_TESTS_UNIT_CONTROL_FAKE_ENGINE_H
#define NM_TESTS_UNIT_CONTROL_FAKE_ENGINE_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "engine/flowop_stats.h"
#include "engine/places.h"
#include "engine/tcp_sampler.h"

enum { FAKE_GROUPS = 2, FAKE_PHASES = 4, FAKE_WORKERS = 4, FAKE_FLOWS = 8, FAKE_ROWS = 8 };

/* What a group has done in a phase. */
struct fake_part {
	uint64_t begin_ns, end_ns;
	struct nm_tally_snap sample;
	uint64_t operations;
	uint64_t passes[FAKE_WORKERS];
	bool passed, done;
};

struct nm_engine {
	struct nm_engine_config config;
	int fd;
	uint32_t phase;
	struct fake_part parts[FAKE_GROUPS][FAKE_PHASES];
	uint32_t reconnects[FAKE_GROUPS];
	bool failed;
	struct nm_engine_error error;
	struct nm_conn_summary connections;
	struct nm_flow_sample flows[FAKE_FLOWS]; /* of the first group */
	struct nm_hist_snap *flow_times;	 /* of all flows; borrowed; NULL: none */
	struct nm_tcp_sample tcp[FAKE_ROWS];
	size_t n_tcp;
	bool tcp_asked, tcp_answered;
	struct nm_exec_record execs[FAKE_ROWS];
	size_t n_execs;
	uint64_t lost_execs;
	size_t n_endpoints; /* that were set */
	struct nm_engine_ends ends;
	unsigned ends_looks, ends_eager; /* how often lost resets were looked for; eagerly */
};

/* How engines behave that are made from now on; all zero: they wait for the test. */
struct fake_script {
	bool works;	      /* does passes by itself */
	uint64_t passes;      /* of each worker in a phase with a duration, when it is stopped */
	uint64_t late_ns;     /* how long after the begin of a phase the master's flows enter it */
	bool master_stalls;   /* the master's never finishes a phase */
	int master_fails;     /* errno of a flow that fails in the first phase, or 0 */
	int slave_fails;      /* likewise */
	int no_listen;	      /* errno of the slave's listeners, or 0 */
	int no_start;	      /* errno of the slave's workers, or 0 */
	uint32_t reconnects;  /* of the first group, on the slave, from the first phase on */
	uint64_t slave_sends; /* bytes that the slave counts too many */
	bool awaits_resets;   /* lost ones are looked for ten times a second; eagerly, 100 times */
};
extern struct fake_script fake_script;

/* How often counts of a group were read. */
extern _Atomic unsigned fake_counts_read;
/* How often a master has asked its flows where they are. */
extern _Atomic unsigned fake_places_asked;

/* The engine that the test made last for a master's plan, while it exists. */
extern _Atomic(struct nm_engine *) fake_master;

#endif
