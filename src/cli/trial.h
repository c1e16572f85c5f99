/* SPDX-License-Identifier: Apache-2.0 */
/* How a trial of a scan or a search went. */
#ifndef NM_CLI_TRIAL_H
#define NM_CLI_TRIAL_H

#include "cli/runner.h"
#include "report/sweep.h"
#include "search/search.h"

/* Static, or borrowed from the result. */
const char *nm_trial_why_incomplete(const struct nm_result *result);

/* Judges the requirements of the runner's profile by the runs of a trial with this value (NULL: it
 * has none, but a closed loop, in which nothing is required). per_value: open arrivals a second for
 * a value of 1; 0: there are none. 0 or -ENOMEM; the texts are the caller's in any case. */
int nm_trial_judge(const struct nm_runner *runner, const struct nm_search_trial *asked,
		   const char *value, double per_value, const struct nm_runs *series,
		   struct nm_trial *ret_trial);
/* What a search is told of a trial that was just run, and of one that has been decided. */
struct nm_search_verdict nm_trial_verdict(const struct nm_trial *trial, unsigned window);
struct nm_search_verdict nm_trial_decision(const struct nm_trial *trial);

#endif
