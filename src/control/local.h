/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a run that this host does itself, alike on the master and in a session of a slave:
 * its engine, the samplers that read it, and the counters of its hardware. */
#ifndef NM_CONTROL_LOCAL_H
#define NM_CONTROL_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/ends.h"
#include "control/flows.h"
#include "control/sampler.h"
#include "control/usage.h"
#include "control/wire/codec.h"
#include "engine/engine.h"
#include "host/perf.h"

/* All zero: not open. */
struct nm_local {
	const struct nm_plan *plan; /* borrowed */
	struct nm_engine *engine;   /* owned */
	struct nm_samplers samplers;
	struct nm_usage_sampler *usage; /* owned */
	struct nm_flow_sampler *flows;	/* owned */
	struct nm_end_sampler ends;
	struct nm_perf *perf; /* owned; NULL: no counters */
	uint64_t *totals;     /* owned; room for the workers of the widest group */
	size_t n_totals;
	bool failed; /* its first failure has been taken */
};

struct nm_local_config {
	struct nm_engine_config engine;
	uint64_t interval_ns; /* of the grid */
	const char *counters; /* a list for host/perf.h; NULL: none */
	/* The percentiles in samples of single flows; NULL where the engine keeps no times of
	 * flows. */
	const struct nm_percentiles *percentiles;
	/* The functions that take the samples while phases run; see usage.h and flows.h. */
	void *arg;
	void (*row)(void *arg, const struct nm_host_interval *row);
	void (*flow_rows)(void *arg, const struct nm_flow_rows *rows);
	void (*tcp_rows)(void *arg, const struct nm_tcp_rows *rows);
};

/* Makes the engine and its samplers. 0 or -errno; nm_local_close may be called either way. The plan
 * is borrowed until then. The hardware's counters count the threads that are started after this. */
int nm_local_open(struct nm_local *local, const struct nm_local_config *config);
/* Ends the workers, and frees all. */
void nm_local_close(struct nm_local *local);
/* Prepares the engine and opens its listeners, once its hosts are known. On failure -errno and a
 * phrase in why. */
int nm_local_listen(struct nm_local *local, char *why, size_t why_size);
/* How many passes each worker of the group has done in the present phase: local->totals. */
const uint64_t *nm_local_totals(struct nm_local *local, uint32_t group);
/* True, once, when a flow has failed: with a text about the failure, of at most size bytes, and
 * whether flows fail in this way when their peer has failed. file: the profile's name. */
bool nm_local_take_failure(struct nm_local *local, const char *file, char *text, size_t size,
			   bool *ret_secondary);
/* This host's part of the result, at the end of the run. ret->groups has room for the groups of the
 * plan; ret->report is owned by the caller, and NULL where no details are kept. */
void nm_local_result(struct nm_local *local, uint64_t now_ns, struct nm_msg_result *ret);

#endif
