/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks failures and counts interrupts. */
#include "control/master/outcome.h"

#include <stdio.h>
#include <string.h>

#define FAILURE_GRACE_NS 200000000u /* in which a failure may show its cause */

void nm_outcome_interrupt(struct nm_outcome *outcome, bool limited, uint64_t now_ns)
{
	outcome->interrupts++;
	if (outcome->interrupts > 1)
		return;
	outcome->interrupt_ns = now_ns;
	outcome->limited = limited;
}

bool nm_outcome_fail(struct nm_outcome *outcome, enum nm_failure_rank rank, const char *host,
		     bool is_slave, const char *text, uint64_t now_ns)
{
	if (rank <= outcome->failure || (outcome->settled && outcome->failure))
		return false;
	if (!outcome->failure)
		outcome->failed_at_ns = now_ns;
	outcome->failure = rank;
	(void)snprintf(outcome->why, sizeof outcome->why, "%s%.255s: %.3800s",
		       is_slave ? "slave " : "", host, text);
	return true;
}

void nm_outcome_explain(struct nm_outcome *outcome, const char *text)
{
	size_t used = strlen(outcome->why);

	if (outcome->failure == NM_FAILURE_EFFECT)
		(void)snprintf(outcome->why + used, sizeof outcome->why - used, "; %s", text);
}

bool nm_outcome_leaves(const struct nm_outcome *outcome, uint64_t now_ns)
{
	if (outcome->interrupts >= 2 || outcome->failure == NM_FAILURE_LOSS)
		return true;
	return outcome->failure && now_ns >= outcome->failed_at_ns + FAILURE_GRACE_NS;
}

bool nm_outcome_ends(const struct nm_outcome *outcome)
{
	return outcome->interrupts || outcome->failure;
}

const char *nm_outcome_cut_text(const struct nm_outcome *outcome, uint64_t max_duration_ns,
				char *buf, size_t size)
{
	if (outcome->limited && outcome->limit_words)
		(void)snprintf(buf, size, "longer than %s", outcome->limit_words);
	else if (outcome->limited)
		(void)snprintf(buf, size, "longer than --max-duration %.6gs",
			       (double)max_duration_ns / 1e9);
	else
		(void)snprintf(buf, size, "interrupted");
	return buf;
}
