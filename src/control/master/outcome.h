/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ends: what has interrupted it, and which of its failures tells most. Pure: no clock, no
 * I/O. */
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
	unsigned interrupts;	 /* 1: it ends gracefully, 2: at once */
	uint64_t interrupt_ns;	 /* when the first came */
	bool limited;		 /* the first one was the end of the longest duration */
	const char *limit_words; /* what that is called; NULL: the usual. Borrowed */
	enum nm_failure_rank failure;
	uint64_t failed_at_ns; /* when the first came */
	bool settled;	       /* the phases are over: what fails now is not what has ended them */
	char why[NM_WIRE_MAX_TEXT + 1]; /* "slave 10.0.0.7: reset the control connection" */
};

/* Takes an interrupt; `limited`: it stands for the end of the longest duration. */
void nm_outcome_interrupt(struct nm_outcome *outcome, bool limited, uint64_t now_ns);
/* Takes a failure of a host, and keeps the one that tells most about the cause: whether it is this
 * one. */
bool nm_outcome_fail(struct nm_outcome *outcome, enum nm_failure_rank rank, const char *host,
		     bool is_slave, const char *text, uint64_t now_ns);
/* Whether what is under way is to be left at once. Failures have a moment in which they may show
 * their cause. */
bool nm_outcome_leaves(const struct nm_outcome *outcome, uint64_t now_ns);
/* Whether no further phase begins. */
bool nm_outcome_ends(const struct nm_outcome *outcome);
/* What an interrupt is told as: "interrupted", or the time that has passed. Returns buf. */
const char *nm_outcome_cut_text(const struct nm_outcome *outcome, uint64_t max_duration_ns,
				char *buf, size_t size);

#endif
