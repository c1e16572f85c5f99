/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a run while it goes on: of intervals, flows, connections and passes, and as
 * histograms. */
#ifndef NM_LIB_SAMPLES_H
#define NM_LIB_SAMPLES_H

#include <stdint.h>
#include <stdio.h>

#include "control/options.h"

struct netmodel;

/* Asks the run for the samples that the object has callbacks for. */
void nm_samples_ask(const struct netmodel *nm, struct nm_run_options *options);

/* Writes times as lines of a log of HdrHistogram; *begin_ns is 0 before the first. 0 or -errno. */
int nm_samples_hdr(FILE *out, uint64_t *begin_ns, const struct nm_interval_times *times);

#endif
