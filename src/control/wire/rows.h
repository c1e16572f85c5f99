/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of single flows and connections, as one host tells them at one time. */
#ifndef NM_CONTROL_WIRE_ROWS_H
#define NM_CONTROL_WIRE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/tcp_sampler.h"
#include "host/usage.h"
#include "plan/plan.h"

/* With more flows than this no single flow is sampled. */
#define NM_FLOW_ROWS_MAX 100000u

/* The counts of one flow: in the measured transaction so far, and since the row before. */
struct nm_flow_counts {
	uint64_t passes, bytes_sent, bytes_received, errors;
};
struct nm_flow_row {
	uint32_t group, flow;
	struct nm_flow_counts total, delta;
	bool has_latency; /* of passes since the row before; only the master has it */
	double min_s, mean_s, max_s, stddev_s;
	const double *pct_s; /* with samples_percentiles, by those of the run; NULL: not known */
};

/* The flows of one host at one time. */
struct nm_flow_rows {
	const char *host; /* as in the result */
	const struct nm_plan *plan;
	uint32_t phase;
	uint64_t at_ns;		/* by the master's monotonic clock */
	double seconds;		/* since the row before */
	struct nm_rusage usage; /* of the process */
	const struct nm_flow_row *rows;
	size_t count;
};

/* TCP_INFO of the connections of one host; at_ns of each row is by the master's monotonic clock. */
struct nm_tcp_rows {
	const char *host;
	const struct nm_plan *plan;
	uint32_t phase;
	const struct nm_tcp_sample *rows;
	size_t count;
};

#endif
