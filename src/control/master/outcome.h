/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ends: its interrupts, and the failure that tells most about the cause. Pure: no clock,
 * no I/O. */
#ifndef NM_CONTROL_MASTER_OUTCOME_H
#define NM_CONTROL_MASTER_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/wire/codec.h"

/* How much a failure tells about the cause: a flow that was reset tells less than the loss of its
 * peer. */
enum nm_failure_rank { NM_FAILURE_NONE, NM_FAILURE_EFFECT, NM_FAILURE_CAUSE, NM_FAILURE_LOSS };

/* All zero: nothing has happened. */
struct nm_outcome {
	unsigned interrupts;	 /* 1: the run ends gracefully, 2: at once */
	uint64_t interrupt_ns;	 /* when the first came */
	bool limited;		 /* the first one was the end of the longest duration */
	const char *limit_words; /* the words for that; NULL: the usual ones. Borrowed */
	enum nm_failure_rank failure;
	uint64_t failed_at_ns; /* when the first came */
	bool settled;	       /* the phases are over: later failures are not what has ended them */
	char why[NM_WIRE_MAX_TEXT + 1]; /* "slave 10.0.0.7: no sign of life for 10 s" */
};

/* Takes an interrupt; `limited`: the longest duration has ended. */
void nm_outcome_interrupt(struct nm_outcome *outcome, bool limited, uint64_t now_ns);
/* Takes a failure of a host, and keeps the one that tells most about the cause. True when that is
 * this one. */
bool nm_outcome_fail(struct nm_outcome *outcome, enum nm_failure_rank rank, const char *host,
		     bool is_slave, const char *text, uint64_t now_ns);
/* Adds what may be the cause to a failure that is only an effect. */
void nm_outcome_explain(struct nm_outcome *outcome, const char *text);
/* Whether the present step is to be left at once. After a failure there is a moment in which its
 * cause may show. */
bool nm_outcome_leaves(const struct nm_outcome *outcome, uint64_t now_ns);
/* Whether no further phase begins. */
bool nm_outcome_ends(const struct nm_outcome *outcome);
/* The words for an interrupt: "interrupted", or the time that has passed. Returns buf. */
const char *nm_outcome_cut_text(const struct nm_outcome *outcome, uint64_t max_duration_ns,
				char *buf, size_t size);

#endif
