/* SPDX-License-Identifier: Apache-2.0 */
/* A run on the master: its own side, a link to each slave, the agreement about phases, and the
 * result that grows. Used by one thread, the one that called nm_run. */
#ifndef NM_CONTROL_MASTER_MASTER_H
#define NM_CONTROL_MASTER_MASTER_H

#include <poll.h>

#include "control/local.h"
#include "control/master/link.h"
#include "control/master/outcome.h"
#include "control/master/phases.h"
#include "control/master/run.h"
#include "control/plateaus.h"
#include "control/progress.h"
#include "control/responses.h"
#include "control/windows.h"
#include "host/cpus.h"

struct nm_master;

/* Handles one message of a slave, whose body stays the caller's: 0, or -EPROTO when it is wrong. */
typedef int (*nm_link_handler)(struct nm_master *master, struct nm_link *link, json_t *body);

struct nm_master {
	/* Borrowed. */
	const struct nm_job *job;
	const struct nm_run_options *options;
	const struct nm_plan *plan;
	struct nm_diags *diags;
	const char *file;		 /* the profile's name in messages */
	const nm_link_handler *handlers; /* by enum nm_message_type */
	/* Owned. */
	struct nm_result *result;
	struct nm_cpu_list cpus;
	struct nm_local local;
	struct nm_windows *windows;
	struct nm_progress_sampler *progress;
	struct nm_plateaus *plateaus;
	struct nm_response_sampler *responses; /* NULL: not asked for */
	struct nm_link *links;
	size_t n_links;
	struct pollfd *pollfds; /* n_links + 3 */
	struct nm_phases phases;
	struct nm_outcome outcome;
	unsigned char secret[NM_SECRET_BYTES]; /* of the run */
	uint64_t run_begin_ns;		       /* 0: no phase has begun */
	uint64_t run_end_ns;
	bool memory_failed;    /* rows of the result are missing */
	bool interrupt_closed; /* nothing comes from options->interrupt_fd any more */
	bool raised;	       /* the priority of this thread has been raised; before, it was: */
	int priority;
};

/* One line for --verbose. */
void nm_master_log(const struct nm_master *master, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Notes a failure, of a slave or (link NULL) of the master: in its host of the result, and in the
 * outcome. */
void nm_master_fail(struct nm_master *master, struct nm_link *link, enum nm_failure_rank rank,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
