/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run, as plain data. control fills it, report renders it, lib hands it out.
 * Everything here is owned by the result; strings may be NULL when unknown. */
#ifndef NM_RESULT_RESULT_H
#define NM_RESULT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/facts.h"
#include "host/perf.h"
#include "host/usage.h"
#include "plan/params.h"
#include "plan/throughput.h"
#include "result/phase.h"
#include "result/statistics.h"
#include "result/window.h"
#include "stats/counters.h"
#include "stats/summary.h"

struct nm_hist_snap;

struct nm_result_group {
	char *name;
	uint32_t n_flows, n_workers;
	bool processes, opens_fast; /* its workers; and its connections of passes, as asked for */
	bool maps;		    /* its hosts map the bytes that they receive, as asked for */
	struct nm_window totals;    /* measured phases, warm-up and cool-down cut */
	struct nm_result_after after;
	struct nm_result_phase *phases;
	size_t n_phases;
	bool forgiven; /* a flowop that may fail has failed: the counts are not compared any more */
};

/* The connections over TLS, among those of a struct nm_conn_report. */
struct nm_tls_report {
	uint64_t connections;		  /* 0: there were none */
	uint64_t resumed;		  /* handshakes that continued an earlier session */
	uint64_t ktls_send, ktls_receive; /* whose records the kernel makes and opens */
	char version[16];		  /* of the first connection */
	char cipher[64];
	/* which was offered to a server that is not netmodel, and taken; "": none */
	char alpn[16];
};

struct nm_conn_report {
	uint64_t connections; /* 0: none is known, and `why` has the reason */
	uint64_t retransmits;
	double min_rtt_s; /* the shortest round trip of all of them; 0: not known */
	double srtt_min_s, srtt_mean_s, srtt_max_s; /* the kernel's smoothed round trip time */
	double cwnd_mean;
	uint32_t mss_min, mss_max;
	char congestion_control[16];
	struct nm_tls_report tls;
	char why[96];
};

/* CPU, counters and counts of one host over one grid interval. */
struct nm_host_interval {
	double from_s, to_s;
	uint32_t phase;
	struct nm_cpu_times cpu; /* delta; n_cpus 0: not known */
	struct nm_usage_row usage;
	struct nm_counts counts;
};

/* Bytes that have come over transports that may lose messages, within the measured window. */
struct nm_arrived {
	uint64_t bytes,
		ns; /* ns: how long the window was open in transactions with such messages */
};

/* The counts of a host within the measured window: in measured transactions, without warm-up and
 * cool-down. */
struct nm_host_window {
	uint64_t from_ns,
		to_ns; /* when the window opened and closed, by the master's clock; 0: it did not */
	uint64_t ns;   /* how long it was open, added up over the transactions */
	struct nm_counts counts;
	/* its part after the time of the transactions: what was received then, and its length */
	uint64_t after_bytes, after_ns;
	/* received when it had closed, as flows had not yet left, and for how long: no part of
	 * it */
	uint64_t late_bytes, late_ns;
};

enum nm_trust {
	NM_TRUST_UNKNOWN,  /* the host is the master, or has not welcomed it */
	NM_TRUST_KEY,	   /* master and slave have proved one key */
	NM_TRUST_OWN_HOST, /* the master is on the slave's host */
	NM_TRUST_EMBEDDED, /* the master has started the slave */
	NM_TRUST_NONE,	   /* the slave takes any master (--no-auth) */
};

struct nm_result_host {
	char *name;    /* as the profile names it; "master" for the master */
	char *address; /* numeric, as seen by the master; NULL for the master */
	bool is_master;
	bool complete;	      /* the host took part to the end and delivered its results */
	char *error;	      /* why not */
	bool error_ended_run; /* verdict.incomplete_why says it, too */
	enum nm_trust trust;  /* why it and the master take each other */
	/* the first port on which a slave listens for data connections; 0: there is none */
	uint16_t data_port;
	struct nm_host_facts facts;
	double rtt_s; /* the shortest round trip seen on the control connection */
	/* how much later than the master it began the first measured phase; NAN: not known */
	double start_skew_s;
	double skew_error_s; /* how far that may be off: half the round trip */
	/* all phases of each group, n_groups; the counterpart of the master's */
	struct nm_counts *groups;
	size_t n_groups;
	struct nm_counts counts; /* their sum */
	bool has_usage;
	struct nm_usage usage; /* delta over the measured window */
	struct nm_usage_each each;
	struct nm_perf_values counters; /* counters of its hardware; none unless asked for */
	struct nm_arrived arrived;
	struct nm_host_window window;
	struct nm_host_report *report; /* owned; NULL: not asked for, or not delivered */
	struct nm_conn_report connections;
	struct nm_host_interval *intervals;
	size_t n_intervals;
};

/* Whether the master's counts and the slaves' agree. */
enum nm_reconciled {
	NM_RECONCILED_UNKNOWN, /* nothing could be compared */
	NM_RECONCILED_YES,
	/* a flowop that may fail has failed, and the counts after it were not compared */
	NM_RECONCILED_FORGIVEN,
	NM_RECONCILED_NO,
};

/* The profile that was run. */
struct nm_result_profile {
	char *name, *path; /* path NULL: from memory */
	char sha256[65];   /* the digest of its text as read, in hex */
};

/* The identity of a run. */
struct nm_result_id {
	char *run_id;  /* 32 hex digits */
	char *version; /* the version of netmodel */
	uint64_t seed; /* of all random numbers */
	/* whom it asked: in the order of the plan, each once */
	struct nm_result_server *servers;
	size_t n_servers;
};

/* By the wall clock. */
struct nm_result_wall {
	uint64_t start_ns, end_ns; /* the end of the last phase; 0: none has begun */
	uint64_t offset_ns;	   /* wall clock - monotonic clock */
};

/* How phases were cut, as asked for, and what that has left out. */
struct nm_result_grid {
	double warmup_s, cooldown_s;
	char *warmup_until; /* the plateau of --warmup; NULL: none */
	double interval_s;  /* 0: no intervals */
	uint64_t windows;   /* so many of them were to be measured (--windows); 0: not asked for */
	struct nm_result_after after;
};

/* How the run ended, and whether the counts of both ends agree. */
struct nm_result_verdict {
	bool interrupted;
	char *incomplete_why; /* one line, when not complete */
	enum nm_reconciled reconciled;
	char *reconcile_text; /* the difference, or the failure that was forgiven */
};

struct nm_result_warnings {
	char **items;
	size_t count;
};

struct nm_result {
	struct nm_result_profile profile;
	struct nm_result_id id;
	struct nm_result_wall wall;
	struct nm_result_grid grid;
	struct nm_result_verdict verdict;
	struct nm_result_warnings warnings;
	enum nm_throughput throughput; /* the unit of throughput that the profile asks for */
	struct nm_params params;
	double elapsed_s;	 /* from the first phase's start to the last one's end */
	uint64_t from_ns, to_ns; /* the measured windows, monotonic; 0: there was none */
	bool complete;		 /* all was run, and every host delivered its results */
	bool has_start_skew;	 /* every host has entered the first measured phase */
	double start_skew_s;	 /* between the first and the last host */
	unsigned statistics;	 /* enum nm_statistics: the ones asked for */
	struct nm_response_report responses;
	struct nm_result_stream stream;
	struct nm_percentiles percentiles;
	struct nm_window totals; /* all groups */
	struct nm_result_group *groups;
	size_t n_groups;
	struct nm_result_host *hosts; /* the master first */
	size_t n_hosts;
	struct nm_result_interval *intervals;
	size_t n_intervals;
};

/* How many connections have sent data with their first packet, of all connections of the groups
 * that were to do so. False: no group was. */
bool nm_result_fastopens(const struct nm_result *result, uint64_t *ret_fast, uint64_t *ret_all);

/* Whether more came to any host when its window had closed. */
bool nm_result_is_late(const struct nm_result *result);
/* Whether windows have less in them than the measured transactions. */
bool nm_result_is_cut(const struct nm_result *result);
/* Mapped bytes, of all received by groups that were to map them. False: no group was. */
bool nm_result_mapped(const struct nm_result *result, uint64_t *ret_mapped, uint64_t *ret_received);

struct nm_result *nm_result_new(void); /* zeroed, NULL when out of memory */
struct nm_result *nm_result_free(struct nm_result *result);
/* Adds a warning, which is left out when there is no memory for it. */
void nm_result_warn(struct nm_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether a phase with a rate has made fewer passes than planned: by more than 1 % and one for each
 * flow, since as many passes begin late or end early in any run. */
bool nm_phase_is_behind(const struct nm_result_phase *phase, uint32_t n_flows);
/* All of the CPU's time as shares of the window, 0..1 of all CPUs. */
double nm_cpu_share(const struct nm_cpu_times *cpu, uint64_t part_ns);

#endif
