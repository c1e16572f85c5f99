/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: runs one side of a plan. All functions are called by one thread, the one that made
 * the engine; the workers are its own. Nothing here prints, waits for a peer or takes signals.
 *
 * Order of calls: new -> set_host* -> prepare -> listen -> [exchange of endpoint texts] ->
 * set_endpoint* -> start -> for each phase: begin -> (stop and follow as needed) until done ->
 * free. */
#ifndef NM_ENGINE_ENGINE_H
#define NM_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffers.h"
#include "plan/plan.h"
#include "stats/tally.h"
#include "transport/transport.h"

struct nm_engine;
struct nm_file_root;
struct nm_net;

struct nm_engine_config {
	const struct nm_plan *plan; /* borrowed until nm_engine_free */
	bool measures;		    /* record latencies: the master's side */
	/* by which measured phases with open arrivals are cut: nm_engine_sample_due */
	uint64_t warmup_ns, cooldown_ns;
	/* enum nm_observe_flags: details of single flowops and flows that are kept */
	unsigned details;
	/* with NM_OBSERVE_PASS_LOG: the most measured passes of one flow that are logged */
	uint64_t log_passes;
	uint64_t seed;		     /* of random numbers of the flows; both sides have one seed */
	const unsigned *cpus;	     /* worker i runs on cpus[i % n_cpus]; borrowed during new */
	size_t n_cpus;		     /* 0: no placement */
	const char *localhost_words; /* what messages call that option; NULL: localhost. Borrowed */
	/* the secret of the run, which all its hosts share; never shown */
	unsigned char secret[NM_SECRET_BYTES];
	/* the directory below which the profile's files must lie; NULL: anywhere. Borrowed until
	 * nm_engine_free */
	const struct nm_file_root *files;
	/* Addresses, besides those of the other ends of control connections, from which data
	 * connections may come; borrowed until nm_engine_free. */
	const struct nm_net *allowed;
	size_t n_allowed;
	uint64_t timeout_ns; /* how long the run waits for what makes no progress */
};

/* The reason why a run cannot go on, from the first flow that failed. */
struct nm_engine_error {
	/* a worker that is a process has ended; the members up to `error` mean nothing then */
	bool of_process;
	uint32_t group, flow;
	unsigned line;	    /* the flowop's line in the profile; 0: no flowop's failure */
	const char *flowop; /* its name, static */
	uint32_t site;	    /* its instruction, by its number in the group; with a name only */
	uint32_t port;	    /* to which it was to be connected; 0: there is none */
	int error;	    /* errno */
	char server[120];   /* which the flow asks, or would have; "": none */
	/* the transport's reason, or how the process has ended; "": nothing more */
	char why[192];
	uint64_t count; /* how many flows have failed */
};

/* TCP_INFO and the like over the connections that were open at the end of a phase. */
struct nm_conn_summary {
	uint64_t connections; /* 0: none was open, or nothing is known about them */
	uint64_t retransmits;
	double min_rtt_s; /* the shortest round trip of all of them; 0: not known */
	double srtt_min_s, srtt_mean_s, srtt_max_s, cwnd_mean;
	uint32_t mss_min, mss_max;
	struct nm_buffers cut; /* the segments alone */
	char congestion_control[16];
	struct nm_conn_tls tls;
};

/* 0 with *ret_engine, or -errno. */
int nm_engine_new(const struct nm_engine_config *config, struct nm_engine **ret_engine);
/* Ends the workers wherever they are, closes everything. Accepts NULL, returns NULL. */
struct nm_engine *nm_engine_free(struct nm_engine *engine);

/* Tells the engine where a host of the plan is (`peer`), and which address of this side that host
 * sees (`local`); both copied. Before nm_engine_prepare. */
void nm_engine_set_host(struct nm_engine *engine, uint32_t host, const struct nm_addr *peer,
			const struct nm_addr *local);
/* How many connections from other addresses than those of the run's hosts have been turned away at
 * ports of this side; *ret_last: the address of the last, or len 0. Any time. */
uint64_t nm_engine_strangers(const struct nm_engine *engine, struct nm_addr *ret_last);
/* The largest buffers that the profile asks for and the kernel of this host cuts, without segments;
 * after nm_engine_prepare. */
const struct nm_buffers *nm_engine_cut(const struct nm_engine *engine);
/* The nonce to which data connections to this side are proved, NM_NONCE_BYTES, which the caller
 * tells the other hosts; the second function takes the nonce of another host, copied, before the
 * start. */
const unsigned char *nm_engine_nonce(const struct nm_engine *engine);
void nm_engine_set_nonce(struct nm_engine *engine, uint32_t host, const unsigned char *nonce);
/* Lets the transports of this side make the means that their connections share. On failure -errno
 * and a phrase in why. */
int nm_engine_prepare(struct nm_engine *engine, char *why, size_t why_size);
/* Opens all listening sockets of this side. On failure -errno and a phrase in why. */
int nm_engine_listen(struct nm_engine *engine, char *why, size_t why_size);
/* The text by which the peer reaches a listener; NULL: this side does not listen there. */
const char *nm_engine_listener(const struct nm_engine *engine, uint32_t group, uint32_t opening,
			       uint32_t worker);
/* Takes the text of the peer's listener. 0 or -EINVAL (not a connect of this side, or not a text
 * for its transport). */
int nm_engine_set_endpoint(struct nm_engine *engine, uint32_t group, uint32_t opening,
			   uint32_t worker, const char *text);
/* Where a connect of the group goes to: n > 0 servers that are not netmodel, copied. Before the
 * start. 0, or -errno with a phrase in why. */
int nm_engine_set_servers(struct nm_engine *engine, uint32_t group, const struct nm_instr *connect,
			  const struct nm_addr *servers, uint32_t n, char *why, size_t why_size);
/* True when every connect of this side has its endpoint. */
bool nm_engine_endpoints_complete(const struct nm_engine *engine);

/* Starts the workers; they wait for the first phase. 0 or -errno. */
int nm_engine_start(struct nm_engine *engine);
/* A descriptor, which the engine keeps, that is readable when a group has finished its phase, a
 * flow has failed, or a transport has an event. */
int nm_engine_fd(const struct nm_engine *engine);
/* Makes nm_engine_fd unreadable, and takes the events of transports. */
void nm_engine_clear(struct nm_engine *engine);

/* All groups enter the phase; a group that has no part in it is done at once. Only when all groups
 * are done with the phase before. */
void nm_engine_begin(struct nm_engine *engine, uint32_t phase);
/* A leading group ends the phase: its flows finish the pass they are in. Where the run is
 * interrupted, also after that, what waits may begin for a short time only. */
void nm_engine_stop(struct nm_engine *engine, uint32_t group, bool interrupted);
/* A following group ends the phase when its workers have done so many passes; totals[n_workers],
 * copied. */
void nm_engine_follow(struct nm_engine *engine, uint32_t group, const uint64_t *totals);
/* How often transports of this side have told that the group's connections will not last. In phases
 * that this side leads it replaces them where passes begin; the caller has the other side told,
 * too, which then calls nm_engine_reconnect. */
uint32_t nm_engine_reconnects(const struct nm_engine *engine, uint32_t group);
/* The other side's transports have told that connections will not last: the group's connections
 * that are open now are replaced where their passes begin. */
void nm_engine_reconnect(struct nm_engine *engine, uint32_t group);
/* How often nm_engine_look_for_ends is to be called in the phase; 0: never. */
uint64_t nm_engine_ends_ns(const struct nm_engine *engine, uint32_t phase, bool eager);
/* Looks for flows that wait for the end of a connection in vain, as the peer's reset was lost.
 * eager: some have just been lost, so that it is likely that others are, too. */
void nm_engine_look_for_ends(struct nm_engine *engine, bool eager);
/* What became of the connections that were found so. */
struct nm_engine_ends {
	uint64_t lost; /* were over soon after looks that were not eager had asked for them */
	uint64_t late; /* had been asked for, and the peer had not closed them; at each look */
};
struct nm_engine_ends nm_engine_ends(const struct nm_engine *engine);
/* Whether the group has made its last pass of the phase that began last. */
bool nm_engine_group_passed(const struct nm_engine *engine, uint32_t group);
/* How much open senders have sent beyond the passes, in bytes; bytes[n_workers], copied. Only to a
 * group that has passed. */
void nm_engine_drain(struct nm_engine *engine, uint32_t group, const uint64_t *bytes);
/* Whether the group has finished the phase that began last. */
bool nm_engine_group_done(const struct nm_engine *engine, uint32_t group);
/* Whether all groups have finished the phase that began last. */
bool nm_engine_done(const struct nm_engine *engine);
/* Passes that a worker of the group has done in the phase that began last. */
uint64_t nm_engine_iterations(const struct nm_engine *engine, uint32_t group, uint32_t worker);

/* True, with the first failure, once a flow or a worker process has failed. */
bool nm_engine_failed(const struct nm_engine *engine, struct nm_engine_error *ret_error);
/* Clock (host/clock.h) at which the group's first flow entered and its last flow left the phase; 0
 * while not yet. */
void nm_engine_times(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		     uint64_t *ret_begin_ns, uint64_t *ret_end_ns);
/* Reads the counters and, for phases with times (nm_phase_has_times) of a measuring engine, the
 * histograms, into a sample that was initialized (stats/tally.h). Any time after start. */
void nm_engine_sample(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_tally_snap *sample);
/* Reads the counters alone. Any time after the start. */
void nm_engine_counts(const struct nm_engine *engine, uint32_t group, uint32_t phase,
		      struct nm_counts *ret_counts);
/* Whether passes of the phase are cut by when they are due: then the next two have of passes those
 * alone that were due neither in the warm-up nor in the cool-down. */
bool nm_engine_cuts(const struct nm_engine *engine, uint32_t group, uint32_t phase);
void nm_engine_sample_due(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			  struct nm_tally_snap *sample);
void nm_engine_counts_due(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			  struct nm_counts *ret_counts);
/* How many steps a measured phase has, if its arrivals have some; and of passes those that were due
 * in a step, from 0, and in the window: of these, overdue and tardy are those that were begun, and
 * that ended, after the step. */
uint32_t nm_engine_steps(const struct nm_engine *engine, uint32_t group, uint32_t phase);
void nm_engine_sample_step(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			   uint32_t step, struct nm_tally_snap *sample);
/* The state of connections at the end of a measured phase, of those workers of the group that have
 * finished it. */
void nm_engine_conn_summary(const struct nm_engine *engine, uint32_t group, uint32_t phase,
			    struct nm_conn_summary *ret_summary);
/* What the solitary flows of the phase have taken; NULL: this side does not run the group. When the
 * phase is over. */
const struct nm_idle_path *nm_engine_idle_path(const struct nm_engine *engine, uint32_t group,
					       uint32_t phase);
/* Bytes received in the phase that began last. */
uint64_t nm_engine_received(const struct nm_engine *engine);
/* A number that grows while anything moves: for stall detection. */
uint64_t nm_engine_progress(const struct nm_engine *engine);

#endif
