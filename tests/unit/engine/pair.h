/* SPDX-License-Identifier: Apache-2.0 */
/* Two engines in this process, the master's and its only slave's, led through the phases of a
 * profile as the control room would lead them. The host of the slave is called "local". */
#ifndef NM_TESTS_UNIT_ENGINE_PAIR_H
#define NM_TESTS_UNIT_ENGINE_PAIR_H

#include "../plan/compiled.h"
#include "engine/engine.h"

struct pair {
	struct compiled compiled;
	struct nm_plan *plans[2]; /* of the master, of the slave */
	struct nm_engine *engines[2];
};

/* Compiles the profile, makes both engines, tells each where the other listens, and starts them.
 * details: enum nm_observe_flags, of the master. The test fails when any of that does. */
void pair_init(struct pair *pair, const char *text, unsigned details);
/* Makes both go through the phase; after so many milliseconds, unless 0, its leader is told to
 * stop. Answers when both have ended it; the test fails when that takes too long. */
void pair_run(struct pair *pair, uint32_t phase, unsigned stop_after_ms);
/* All phases, one after the other; those with a duration are told to stop. The counts of both ends
 * must agree, where nothing may be lost. */
void pair_run_all(struct pair *pair, unsigned stop_after_ms);
/* Waits until flows of either end have failed, and answers their error; the test fails when that
 * takes too long. */
struct nm_engine_error pair_await_failure(struct pair *pair);
struct nm_counts pair_counts(const struct pair *pair, unsigned end, uint32_t phase);
void pair_fini(struct pair *pair);

#endif
