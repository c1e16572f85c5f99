/* SPDX-License-Identifier: Apache-2.0 */
/* libnetmodel: run network traffic models from a program of your own.
 *
 *	struct netmodel *nm = netmodel_new();
 *	netmodel_load_file(nm, "profiles/tcp_rr.xml");
 *	netmodel_set_param(nm, "num_flows", "64");
 *	if (netmodel_run(nm) == NETMODEL_COMPLETE)
 *		printf("%.0f transactions/s\n", netmodel_transactions_per_s(nm));
 *	netmodel_free(nm);
 *
 * The library prints nothing, reads no environment, keeps no global state, and leaves the process
 * as it is: signal dispositions and masks, limits, locale. Its own threads take no signals. One
 * object is used by one thread at a time, netmodel_stop excepted; different objects are
 * independent, and may run at the same time.
 *
 * The slave of the host "local" is a thread. Processes are forked for groups with nprocs, and to
 * look up a host by its name: they end before the run does, and the program may reap them itself.
 *
 * Functions that return int give 0, or a negative errno value; the error in words is in the
 * diagnostics, and goes to the log callback. */
#ifndef NETMODEL_H
#define NETMODEL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NETMODEL_API __attribute__((visibility("default")))
#else
#define NETMODEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A profile, its parameters, the options of a run, and the result of the last one. */
struct netmodel;

/* How a run ended. */
enum netmodel_status {
	NETMODEL_COMPLETE = 0,
	NETMODEL_REFUSED = 1, /* the profile, a parameter or an option is wrong; nothing was sent */
	NETMODEL_FAILED = 2,  /* incomplete; there is a result, marked so */
	NETMODEL_INTERNAL = 3, /* out of memory or another failure inside */
	NETMODEL_BUSY = 4,     /* the object is in a run already, which goes on */
	NETMODEL_INTERRUPTED =
		130, /* stopped; there is a result so far (complete, if all traffic had ended) */
};

/* How much a line of the log matters. */
enum netmodel_level {
	NETMODEL_ERROR = 0,   /* why something failed */
	NETMODEL_WARNING = 1, /* something that the user may not have meant */
	NETMODEL_INFO = 2,    /* the present step of the run */
};

/* One interval of the time grid, all groups together, at the master. */
struct netmodel_interval {
	size_t size;	     /* of this structure as the library knows it: later versions append */
	double from_s, to_s; /* since the phase began */
	uint32_t phase;	     /* transaction of the profile, from 1 */
	int measured;	     /* not warm-up nor cool-down */
	uint64_t transactions, bytes_sent, bytes_received, errors;
	uint64_t latency_count; /* 0: the latencies mean nothing */
	/* of passes, without what the master has thought in them */
	double latency_min_s, latency_mean_s, latency_max_s;
};

/* Counts of one flow of one host between two samples, which come on the time grid, and at the end
 * of measured phases. */
struct netmodel_flow {
	size_t size;	   /* as above, and so on */
	const char *host;  /* as in the result: "master", or the slave's name */
	const char *group; /* its name, as in the result */
	uint32_t flow, worker, phase;
	double at_s;	/* by CLOCK_MONOTONIC of the master */
	double seconds; /* since the sample before */
	/* In the measured transactions so far, and since the sample before. */
	uint64_t transactions, bytes_sent, bytes_received, errors;
	uint64_t new_transactions, new_bytes_sent, new_bytes_received, new_errors;
	int has_latency; /* of the new transactions; only the master's flows have it */
	double latency_min_s, latency_mean_s, latency_max_s, latency_stddev_s;
};

/* The place of a connection: a part of other structures, so that later versions append nothing
 * here. */
struct netmodel_connection {
	const char *host, *group; /* as those of a flow */
	uint32_t flow, worker;
	uint32_t number; /* among those of its flow, from 0 */
};

/* A TCP connection as the kernel of its host reports it (TCP_INFO, tcp(7)), at the times of the
 * flows' samples. */
struct netmodel_tcp_info {
	size_t size;
	struct netmodel_connection connection;
	uint32_t phase;
	double at_s;
	uint64_t rtt_us, rttvar_us, min_rtt_us, rto_us;
	uint64_t snd_cwnd, snd_ssthresh, snd_mss, rcv_mss;
	uint64_t unacked, lost, reordering, retransmits;
	uint64_t bytes_sent, bytes_acked, bytes_received;
	uint64_t delivery_rate_bytes_per_s, pacing_rate_bytes_per_s;
	uint64_t busy_us, rwnd_limited_us, sndbuf_limited_us;
};

/* One pass of one flow of the master. */
struct netmodel_pass {
	size_t size;
	const char *group, *transaction; /* the transaction may have no name: "" */
	uint32_t flow, worker, phase;
	double end_s; /* since its transaction began */
	double elapsed_s;
};

/* Traffic of the master since the last structure of this kind, all groups together. */
struct netmodel_traffic {
	size_t size;
	double at_s; /* since the run began */
	double seconds;
	uint64_t transactions, bytes_sent, bytes_received, errors;
};

/* Called on the thread that runs; the arguments are valid during the call only. A callback may call
 * netmodel_stop and no other function on the object; that of the result may also ask for the result
 * and the diagnostics. While it lasts no transaction ends and no other host is answered: it should
 * take milliseconds, and must take less than the timeout. */
typedef void (*netmodel_interval_fn)(void *arg, const struct netmodel_interval *interval);
typedef void (*netmodel_flow_fn)(void *arg, const struct netmodel_flow *flow);
typedef void (*netmodel_tcp_info_fn)(void *arg, const struct netmodel_tcp_info *info);
typedef void (*netmodel_pass_fn)(void *arg, const struct netmodel_pass *pass);
typedef void (*netmodel_traffic_fn)(void *arg, const struct netmodel_traffic *traffic);
/* One line without its end of a log that the tools of HdrHistogram read; those of a run are a whole
 * log. */
typedef void (*netmodel_hdr_fn)(void *arg, const char *line);
/* One line of text without its end. Errors and warnings are those of the diagnostics, as load, set,
 * check and run find them. */
typedef void (*netmodel_log_fn)(void *arg, enum netmodel_level level, const char *line);
/* The last call of every run, also of one that was refused and has no result. */
typedef void (*netmodel_result_fn)(void *arg, const struct netmodel *nm,
				   enum netmodel_status status);

/* The version of the library, static. Any thread. */
NETMODEL_API const char *netmodel_version(void);

/* A new object, owned by the caller; NULL when out of memory or file descriptors. */
NETMODEL_API struct netmodel *netmodel_new(void);
/* Releases the object and all that was got from it, except texts that the caller owns.
 * Accepts NULL. A run that was started is stopped at once and waited for; not during netmodel_run,
 * nor from a callback. */
NETMODEL_API void netmodel_free(struct netmodel *nm);

/* Takes a profile from a file, or from memory (copied; `name` names it in diagnostics). Parameters,
 * options and callbacks set before stay. */
NETMODEL_API int netmodel_load_file(struct netmodel *nm, const char *path);
NETMODEL_API int netmodel_load_text(struct netmodel *nm, const char *name, const char *text,
				    size_t length);

/* Sets a parameter of the profile, as -D does; both strings are copied. The value is checked by
 * netmodel_check and netmodel_run. -ENOMEM, or -EINVAL for an empty name. */
NETMODEL_API int netmodel_set_param(struct netmodel *nm, const char *name, const char *value);
/* Sets an option of the run, by the name and in the form of the command's option; libnetmodel(3)
 * lists them. -ENOENT for an unknown name, -EINVAL for a wrong value, which leaves the old one;
 * both with a diagnostic. */
NETMODEL_API int netmodel_set_option(struct netmodel *nm, const char *name, const char *value);

/* Sets the key that slaves of other hosts have, as NETMODEL_KEY of the command does; the option
 * "key-file" reads it from a file instead. The key that was set last counts; NULL: no key. Only
 * data derived from the text are kept. 0, or -EINVAL with a diagnostic, in which the text does not
 * stand, and the old key stays. */
NETMODEL_API int netmodel_set_key(struct netmodel *nm, const char *key);

/* Compiles the profile with the parameters set: 0, or -EINVAL with diagnostics. Sends nothing. */
NETMODEL_API int netmodel_check(struct netmodel *nm);

/* The errors and warnings of the last load, set, check or run, one line each. The text is valid
 * until the next such call; NULL beyond the last. */
NETMODEL_API size_t netmodel_n_diagnostics(const struct netmodel *nm);
NETMODEL_API const char *netmodel_diagnostic(const struct netmodel *nm, size_t index);

/* Sets the callbacks; NULL for none. Not during a run. */
NETMODEL_API void netmodel_on_interval(struct netmodel *nm, netmodel_interval_fn fn, void *arg);
NETMODEL_API void netmodel_on_log(struct netmodel *nm, netmodel_log_fn fn, void *arg);
NETMODEL_API void netmodel_on_result(struct netmodel *nm, netmodel_result_fn fn, void *arg);

/* Sets the callbacks of samples, which are only kept in runs that have the callback. Passes: the
 * first ones of each flow, as many as the option "log-rtt-entries" says. Traffic: each time that
 * the option "iostat" says, which has to be set. */
NETMODEL_API void netmodel_on_flow(struct netmodel *nm, netmodel_flow_fn fn, void *arg);
NETMODEL_API void netmodel_on_tcp_info(struct netmodel *nm, netmodel_tcp_info_fn fn, void *arg);
NETMODEL_API void netmodel_on_pass(struct netmodel *nm, netmodel_pass_fn fn, void *arg);
NETMODEL_API void netmodel_on_traffic(struct netmodel *nm, netmodel_traffic_fn fn, void *arg);
NETMODEL_API void netmodel_on_hdr(struct netmodel *nm, netmodel_hdr_fn fn, void *arg);

/* Runs the profile on the calling thread and returns at its end. The result of an earlier run is
 * gone. */
NETMODEL_API enum netmodel_status netmodel_run(struct netmodel *nm);
/* Runs the profile on a thread of its own and returns at once: 0, -EBUSY when a run goes on
 * already, or -EAGAIN when there can be no thread. Until netmodel_wait has returned 0 only
 * netmodel_stop, netmodel_wait, netmodel_done_fd and netmodel_free may be called. */
NETMODEL_API int netmodel_start(struct netmodel *nm);
/* Waits for the end of the run that was started, timeout_s at most (negative: as long as it takes).
 * 0 with its status in *ret_status (which may be NULL), -ETIMEDOUT, or -ESRCH when none was
 * started. */
NETMODEL_API int netmodel_wait(struct netmodel *nm, double timeout_s,
			       enum netmodel_status *ret_status);
/* A descriptor for poll(2): readable from the end of a run that was started until netmodel_wait has
 * taken it. Owned by the object; it is to be polled only. */
NETMODEL_API int netmodel_done_fd(const struct netmodel *nm);
/* Asks the run to end: the first call gracefully, with the result so far, the second at once. From
 * any thread and from a signal handler. Without a run it has no effect on the next one. */
NETMODEL_API void netmodel_stop(struct netmodel *nm);

/* The result of the last run. */

/* 1 when the last run was complete, 0 when it was not, -1 when there is no result. */
NETMODEL_API int netmodel_complete(const struct netmodel *nm);
/* Why it is not complete, in one line, valid as long as the result; NULL when it is, or there is
 * none. */
NETMODEL_API const char *netmodel_incomplete_why(const struct netmodel *nm);
/* The result document, schema netmodel.result/1. Owned by the caller, who frees it with free();
 * NULL without a result or memory. */
NETMODEL_API char *netmodel_result_json(const struct netmodel *nm);
/* Figures of the measured transactions. NaN when there is no result, or nothing was measured. */
NETMODEL_API double netmodel_seconds(const struct netmodel *nm);
NETMODEL_API double netmodel_transactions_per_s(const struct netmodel *nm);
NETMODEL_API double netmodel_bits_per_s(const struct netmodel *nm); /* both directions */
/* Of passes, without what the master has thought in them. */
NETMODEL_API double netmodel_latency_min_s(const struct netmodel *nm);
NETMODEL_API double netmodel_latency_mean_s(const struct netmodel *nm);
NETMODEL_API double netmodel_latency_max_s(const struct netmodel *nm);
/* One of the percentiles that were asked for ("percentiles", by default 50, 90, 95, 99 and 99.9);
 * NaN for others. */
NETMODEL_API double netmodel_latency_percentile_s(const struct netmodel *nm, double percentile);
/* Counts of the measured transactions, at the master; 0 without a result. */
NETMODEL_API uint64_t netmodel_transactions(const struct netmodel *nm);
NETMODEL_API uint64_t netmodel_bytes_sent(const struct netmodel *nm);
NETMODEL_API uint64_t netmodel_bytes_received(const struct netmodel *nm);
NETMODEL_API uint64_t netmodel_errors(const struct netmodel *nm);

#ifdef __cplusplus
}
#endif

#endif
