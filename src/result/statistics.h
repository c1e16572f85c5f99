/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a result: times, and the details of one host. */
#ifndef NM_RESULT_STATISTICS_H
#define NM_RESULT_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/verb_name.h"
#include "stats/idle_path.h"
#include "stats/tally.h"

#define NM_RESULT_MAX_PERCENTILES 128

/* The percentiles that a result has, ascending, 0..100. */
struct nm_percentiles {
	double pct[NM_RESULT_MAX_PERCENTILES];
	size_t count;
};

/* Adds one, 0 to 100, where the list does not have it yet. 0 or -ERANGE: it is full. */
int nm_percentiles_add(struct nm_percentiles *list, double pct);
/* "50,99.9" -> ascending, doubles dropped. 0, -EINVAL (form or outside 0..100) or -ERANGE (too
 * many). */
int nm_percentiles_parse(const char *text, struct nm_percentiles *ret_percentiles);
void nm_percentiles_default(struct nm_percentiles *ret_percentiles); /* 50 90 95 99 99.9 */

struct nm_latency {
	uint64_t count; /* 0: nothing was measured, the rest is meaningless */
	double min_s, mean_s, max_s, stddev_s;
	double pct_s[NM_RESULT_MAX_PERCENTILES]; /* by nm_percentiles of the result */
};

/* The percentiles of a distribution where what was never answered is as late as can be. */
struct nm_failing {
	uint64_t failures;
	size_t count; /* of percentiles */
	/* by nm_percentiles of the result; INFINITY: it lies among the failures */
	double pct_s[];
};

/* Fills a latency from a histogram. */
void nm_latency_from_hist(struct nm_latency *ret_latency, const struct nm_hist_snap *hist,
			  const struct nm_percentiles *percentiles);
/* The percentiles over what was answered and so many failures; owned. NULL: out of memory. */
struct nm_failing *nm_failing_from_hist(const struct nm_hist_snap *hist, uint64_t failures,
					const struct nm_percentiles *percentiles);

/* The requests of one verb in a window. It owns what its pointers lead to. */
struct nm_verb_window {
	char name[NM_VERB_NAME];
	double seconds; /* of the window */
	struct nm_outcomes outcomes;
	/* Of protocols that name them: those that were answered, by name. */
	struct nm_answer_count {
		const char *name; /* static */
		uint64_t count;
		bool is_usual;
	} * answers;
	size_t n_answers;
	/* Of those that were answered; NULL: there are none. Each has room for so many percentiles
	 * alone. */
	NM_EACH_USUAL_TIME(struct nm_latency *);
	size_t n_percentiles;
	struct nm_failing *failing[NM_TIME__SIZED]; /* by enum nm_time; NULL: none has failed */
	struct nm_hist_packed **kept;		    /* as those of a window, NM_TIME__SIZED */
};

/* The counts and the times of a window. */
struct nm_window {
	double seconds;
	struct nm_counts counts; /* iterations are the transactions */
	NM_EACH_USUAL_TIME(struct nm_latency);
	/* Passes that were due have piled up to the end: in a longer run response times and send
	 * delays would be longer. Of totals, groups and transactions. */
	bool response_grows;
	/* Of measured flows, NM_SIZED__COUNT by enum nm_time behind NM_TIME__SIZED; NULL: there
	 * were none. Who has the window owns them (nm_window_fini). */
	struct nm_latency *sized;
	/* Where applications ask: what has asked in it, in the order of the plan. Owned as
	 * `sized`. */
	struct nm_verb_window *verbs;
	size_t n_verbs;
	/* By enum nm_time; NULL: no pass was without its answer. Owned as `sized`. */
	struct nm_failing *failing[NM_TIME__SIZED];
	/* The distributions themselves, NM_TIME__COUNT by enum nm_time, each NULL where it was not
	 * measured (nm_window_keep); NULL: none is kept. Owned as `sized`. */
	struct nm_hist_packed **kept;
};

/* Statistics that are kept only when asked for. */
enum nm_statistics {
	NM_STAT_FLOWOPS = 1 << 0,
	NM_STAT_TRANSACTIONS = 1 << 1,
	NM_STAT_GROUPS = 1 << 2,
	NM_STAT_STRANDS = 1 << 3,
	NM_STAT_INTERFACES = 1 << 4,
	NM_STAT_FLOWOP_CPU = 1 << 5,
	NM_STAT_RAW = 1 << 6,	    /* lines of progress while it runs */
	NM_STAT_COUNTERS = 1 << 7,  /* of the hardware */
	NM_STAT_RESPONSES = 1 << 8, /* each single execution of a flowop */
	NM_STAT_ALL = NM_STAT_FLOWOPS | NM_STAT_TRANSACTIONS | NM_STAT_GROUPS | NM_STAT_STRANDS |
		      NM_STAT_INTERFACES,
};

/* How the single executions were told. */
struct nm_response_report {
	uint64_t told, lost;
	uint64_t passes; /* the passes among those told */
};

/* Lines of the stream (--stream) about this run. */
struct nm_result_stream {
	bool is_asked_for;
	size_t part;	  /* of the stream: the number of the run, from 0 */
	uint64_t dropped; /* the reader did not take them in time, or was not there */
};

/* One flowop of a transaction, on one host. An operation is one execution. */
struct nm_flowop_report {
	const char *name; /* static */
	unsigned line;
	uint64_t operations, bytes_sent, bytes_received, errors;
	struct nm_outcomes outcomes; /* of one that asks; requests 0: of any other */
	double seconds;		     /* of the transaction */
	double cpu_s;		     /* with NM_STAT_FLOWOP_CPU */
	struct nm_latency time;	     /* times of executions; count 0: not kept */
};

/* One transaction of a group, on one host. */
struct nm_transaction_report {
	uint64_t operations;
	struct nm_window window; /* all of it */
	struct nm_flowop_report *flowops;
	size_t n_flowops;
};

/* One flow, on one host, in all transactions. */
struct nm_strand_report {
	uint64_t operations, bytes_sent, bytes_received, errors;
	double seconds; /* in flowops: without waits for other flows or for a rate */
};

/* The part of one host in a group, from start to end. */
struct nm_group_report {
	uint64_t operations;
	double seconds; /* the times of its transactions, added up */
	struct nm_transaction_report *transactions;
	size_t n_transactions; /* 0: the host had no part in the group */
	struct nm_strand_report *strands;
	size_t n_strands; /* 0: not kept */
};

/* A server that is not netmodel, and what it says that it is. */
#define NM_IDENTITY_TEXT 128
struct nm_result_server {
	char server[384];		/* as server= has it */
	uint32_t port;			/* 0: it has none */
	const char *app;		/* static */
	char version[NM_IDENTITY_TEXT]; /* without control characters; "": it does not say */
	const char *why;		/* it does not; static */
};

/* The details of one host; all owned. */
struct nm_host_report {
	double elapsed_s; /* from the first transaction's begin to the last one's end */
	uint64_t operations;
	struct nm_group_report *groups;
	size_t n_groups;
};

/* Accepts NULL, returns NULL. */
struct nm_host_report *nm_host_report_free(struct nm_host_report *report);

#endif
