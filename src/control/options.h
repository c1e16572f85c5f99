/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a run besides its profile, and the events that it reports while it goes on. */
#ifndef NM_CONTROL_OPTIONS_H
#define NM_CONTROL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/key.h"
#include "control/wire/rows.h"
#include "plan/plan.h"
#include "result/result.h"

#define NM_DEFAULT_PORT 20000

enum nm_progress_event {
	NM_PROGRESS_START, /* of the run */
	NM_PROGRESS_BEGIN, /* of a phase */
	NM_PROGRESS_TICK,  /* an interval of it is over */
	NM_PROGRESS_END,
	NM_PROGRESS_FINISH, /* of the run */
};

/* How far the phase is, or at the end the run: all groups together, on the master. */
struct nm_progress {
	enum nm_progress_event event;
	uint32_t phase;
	uint64_t wall_ns;
	uint64_t bytes; /* both directions */
	uint64_t operations;
};

/* One execution of a flowop on the master, or one pass. Texts are borrowed from the plan. */
struct nm_response_row {
	uint64_t wall_ns;  /* of its end */
	uint64_t since_ns; /* from the begin of its transaction to its end */
	uint64_t elapsed_ns;
	const char *group, *transaction; /* the transaction may have no name: "" */
	const char *flowop;		 /* NULL: a pass */
	uint32_t phase, flow, worker;
	bool failed;
};

/* The traffic on the master in the time since the last event of this kind, all groups together. */
struct nm_traffic {
	double at_s; /* the end of that time, since the run began */
	double seconds;
	struct nm_counts counts;
};

/* One distribution of the passes in one row of the time grid, or in the measured windows
 * together. */
struct nm_interval_times {
	const struct nm_hist_snap *hist;
	enum nm_time time; /* which one */
	uint64_t wall_ns;  /* of the begin */
	double seconds;
	enum nm_part part;
	bool total;
};

#define NM_PUSH_NS 50000000u

/* Called on the thread that runs; everything passed is valid during the call only. */
struct nm_run_events {
	void *arg;
	/* All is set up, and the first phase begins. The result is the one that nm_run gives, and
	 * stays where it is. May be NULL. */
	void (*begin)(void *arg, const struct nm_result *so_far);
	/* An interval of a phase has ended. May be NULL. */
	void (*interval)(void *arg, const struct nm_result *so_far,
			 const struct nm_result_interval *row);
	/* An interval of a host has ended, by the host's own clock. May be NULL. */
	void (*host_interval)(void *arg, const char *host, const struct nm_host_interval *row);
	/* One line about the present step ("connected to ...", "phase 2 of 3 began"): for
	 * --verbose. May be NULL. */
	void (*log)(void *arg, const char *line);
	/* One line about a wait for a slave, which may be long. May be NULL. */
	void (*waits)(void *arg, const char *line);
	/* How far the run is, on the grid of the intervals. May be NULL. */
	void (*progress)(void *arg, const struct nm_plan *plan, const struct nm_progress *progress);
	/* After each row of the grid in which passes were measured, and once at the end: for each
	 * distribution that is kept, the latency first, without those of measured flows. May be
	 * NULL. */
	void (*times)(void *arg, const struct nm_interval_times *times);
	/* With samples_flows and samples_tcp: on the time grid, and at the end of measured phases;
	 * each host by itself. May be NULL. */
	void (*flows)(void *arg, const struct nm_flow_rows *rows);
	void (*tcp)(void *arg, const struct nm_tcp_rows *rows);
	/* With traffic_ns. May be NULL. */
	void (*traffic)(void *arg, const struct nm_traffic *traffic);
	/* With NM_STAT_RESPONSES executions of flowops, with log_passes passes; rows of one worker
	 * come in their order. May be NULL. */
	void (*responses)(void *arg, const struct nm_response_row *rows, size_t count);
	/* Whether 4096 more rows can be taken now; rows that cannot be taken in time are counted as
	 * lost. NULL: always. */
	bool (*has_room)(void *arg);
	/* Gives readers what they have not taken yet, without waiting for them; called whenever the
	 * run is about to wait. True: there is more; then *ret_fd, if it is set, is waited for to
	 * be written, and only NM_PUSH_NS in any case. NULL: there is never anything. */
	bool (*push)(void *arg, int *ret_fd);
};

/* A slave that should listen for the master and does not. */
struct nm_missing_slave {
	uint16_t port;
	bool vsock;    /* its host is named by its CID */
	bool own_host; /* the slave is to be on this host */
	/* The words after the command that starts the slave: how both ends get one key; "" on one
	 * host. */
	const char *key_words;
};

/* The words of messages for the options that the user has typed. All borrowed; NULL stands for the
 * words of the command netmodel. */
struct nm_run_words {
	const char *limit;	/* the longest duration: "--max-duration 2s" */
	const char *localhost;	/* the words for the option localhost of transports */
	const char *port_taken; /* advice for a port of the traffic that is taken: "; ..." */
	const char *fix_port;	/* the option that chooses the port of the traffic: "-D port=N" */
	/* The command that would have helped: "start a slave with ...". */
	void (*start)(void *arg, const struct nm_missing_slave *slave, char *buf, size_t size);
	void *arg;
};

/* The byte that stands for the end of the longest duration in interrupt_fd; all others are
 * interrupts: the number of a signal, or 0. */
#define NM_INTERRUPT_LIMIT 'L'

/* The longest duration of a run. */
struct nm_run_limit {
	bool is_given;
	uint64_t ns;
};

/* How long a run waits at its begin. */
struct nm_run_waits {
	uint64_t start_ns;  /* before the first phase */
	uint64_t slaves_ns; /* for each slave that does not listen yet */
};

/* What the user has entrusted to the run. */
struct nm_run_trust {
	struct nm_key *key; /* shared with the slaves; borrowed, NULL: none */
	bool yes_destroy;   /* what servers have that this program has not started */
};

struct nm_run_options {
	int control;   /* enum nm_control_over: how slaves are reached */
	uint16_t port; /* of the slaves' control listener */
	struct nm_run_trust trust;
	uint64_t interval_ns; /* the grid of intervals; 0: none */
	uint64_t windows;     /* how many of these make a measured transaction; 0: not said */
	uint64_t warmup_ns, cooldown_ns;
	struct nm_run_waits wait;
	uint64_t traffic_ns;		 /* how often the traffic is told; 0: never */
	uint64_t log_passes;		 /* how many passes of each flow are told one by one */
	bool samples_flows, samples_tcp; /* samples of both ends */
	/* with samples_flows: also percentiles of each flow's passes, on the master */
	bool samples_percentiles;
	/* NM_INTERRUPT_LIMIT is told as this limit; without one a timed phase is bounded by its
	 * duration and the timeout */
	struct nm_run_limit max_duration;
	uint64_t timeout_ns; /* how long a peer may be silent and a phase may make no progress */
	struct nm_percentiles percentiles;
	const char *cpus;	/* list for the master's workers, or NULL */
	const char *slave_cpus; /* list for the slaves' workers, or NULL */
	unsigned statistics;	/* enum nm_statistics: kept besides the ordinary figures */
	const char *counters;	/* with NM_STAT_COUNTERS: a list, see host/perf.h */
	uint64_t seed;
	/* the process is not ours: its limits stay, and embedded slaves are threads */
	bool in_process;
	/* readable: end gracefully; read again (a second byte): end at once. -1: none */
	int interrupt_fd;
	struct nm_run_events events;
	struct nm_run_words words;
};

/* The defaults: intervals of 1 s, a timeout of 10 s, no warm-up. */
void nm_run_options_default(struct nm_run_options *ret_options);

#endif
