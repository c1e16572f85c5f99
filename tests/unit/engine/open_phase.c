/* SPDX-License-Identifier: Apache-2.0 */
/* Phases with open arrivals that are driven by hand. */
#include "open_phase.h"

#include <stdlib.h>

#include "engine/loop/request.h"

#define DRAIN_NS (5 * S)

void begin(const char *arrivals, uint64_t duration_ns)
{
	const struct nm_backlog_rules rules = f.phase.arrivals.backlog;
	char why[512];

	ck_assert_int_eq(
		nm_arrivals_parse(arrivals, duration_ns, &f.phase.arrivals, why, sizeof why), 0);
	f.phase.duration_ns = duration_ns;
	f.phase.arrivals.backlog = rules;
	if (!rules.drain_ns)
		f.phase.arrivals.backlog.drain_ns = DRAIN_NS;
	f.worker.commands.begin_ns = S;
	f.worker.io.apps.due = &open_of->due;
	ck_assert_int_eq(nm_open_init(&f.worker), 0);
	nm_open_begin(&f.worker);
	for (unsigned t = 0; t < NM_TIME__COUNT; t++) {
		if (t == NM_TIME_PASS ||
		    (t >= NM_TIME__SIZED && !nm_phase_measures_flows(&f.phase)))
			continue;
		f.worker.run.times[t] = calloc(1, sizeof(struct nm_hist));
		ck_assert_ptr_nonnull(f.worker.run.times[t]);
		nm_hist_init_zeroed(f.worker.run.times[t]);
	}
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		f.flows[i].flow.request.sent_ns = S;
		nm_open_free(&f.worker, &f.flows[i].flow);
	}
}

void end(void)
{
	nm_open_end(&f.worker);
	nm_open_fini(open_of);
	for (unsigned t = 0; t < NM_TIME__COUNT; t++)
		free(f.worker.run.times[t]);
}

uint64_t count(const _Atomic uint64_t *counter)
{
	return nm_counter_read(counter);
}

void ck_adds_up(uint64_t begun, uint64_t queue, uint64_t late, uint64_t unsent)
{
	ck_assert_uint_eq(count(&counted->arrivals), begun);
	ck_assert_uint_eq(count(&counted->dropped_queue), queue);
	ck_assert_uint_eq(count(&counted->dropped_late), late);
	ck_assert_uint_eq(count(&counted->unsent), unsent);
}

void ck_outstanding(uint64_t sum, uint64_t most, uint64_t failed, uint64_t after)
{
	const uint64_t steps = MS / NM_DELAY_STEP_NS;

	ck_assert_uint_eq(count(&counted->outstanding), sum * steps);
	ck_assert_uint_eq(count(&counted->outstanding_most), most);
	ck_assert_uint_eq(count(&counted->outstanding_failed), failed * steps);
	ck_assert_uint_eq(count(&counted->outstanding_after), after * steps);
}

void pass(unsigned i, uint64_t begin_ns, uint64_t end_ns)
{
	nm_open_begin_pass(&f.worker, &f.flows[i].flow, begin_ns);
	nm_request_end(&f.worker, &f.flows[i].flow, end_ns);
}
