/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of the library tells while it goes: of intervals, flows, connections and passes, and
 * as histograms. */
#ifndef NM_LIB_SAMPLES_H
#define NM_LIB_SAMPLES_H

#include <stdint.h>
#include <stdio.h>

#include "control/options.h"

struct netmodel;

/* Asks for what the object has callbacks for. */
void nm_samples_ask(const struct netmodel *nm, struct nm_run_options *options);

/* Writes what is told as a log of HdrHistogram; *begin_ns is 0 before its first line. 0 or
 * -errno. */
int nm_samples_hdr(FILE *out, uint64_t *begin_ns, const struct nm_interval_times *times);

#endif
