/* SPDX-License-Identifier: Apache-2.0 */
/* Phases with open arrivals that are driven by hand: what the tests of flows that make one pass at
 * a time, and of those that make several, share. */
#ifndef NM_TESTS_UNIT_ENGINE_OPEN_PHASE_H
#define NM_TESTS_UNIT_ENGINE_OPEN_PHASE_H

#include "one_worker.h"

#define MS 1000000u
#define S  UINT64_C(1000000000)

static struct nm_open *const open_of = &f.worker.run.open;
static const struct nm_counters *const counted = &f.stats.tally.counters;

/* A phase with open arrivals that begins at 1 s, in which both flows are free. */
void begin(const char *arrivals, uint64_t duration_ns);
void end(void);
uint64_t count(const _Atomic uint64_t *counter);
/* Each pass that was due has begun, or is in one class of those that have not. */
void ck_adds_up(uint64_t begun, uint64_t queue, uint64_t late, uint64_t unsent);
/* What was outstanding, in ms of passes: by the integral, those that failed, and after the time. */
void ck_outstanding(uint64_t sum, uint64_t most, uint64_t failed, uint64_t after);
/* Flow i makes the pass that is due. */
void pass(unsigned i, uint64_t begin_ns, uint64_t end_ns);

#endif
