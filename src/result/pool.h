/* SPDX-License-Identifier: Apache-2.0 */
/* Several runs as one that was as long as all of them: a percentile of its distributions rests on
 * the times of all, and may lie where no percentile of a single run does. */
#ifndef NM_RESULT_POOL_H
#define NM_RESULT_POOL_H

#include "result/result.h"

/* The last of n complete runs of one plan, but with the times, counts and failures of all of them
 * in the windows of the run, its groups, its transactions and their steps. Of the verbs it has
 * those of the last run. 0 or -ENOMEM; to be given to nm_pool_fini in any case, and to nothing else
 * that frees: what is not pooled is borrowed. */
int nm_pool_runs(struct nm_result *const *runs, size_t n, struct nm_result *ret_pool);
void nm_pool_fini(struct nm_result *pool);

#endif
