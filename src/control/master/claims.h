/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the figures of a slave against the master's knowledge of the run: rows belong to the phase
 * that the slave is in, there are no more than the grid has, and nothing lies before the begin or
 * in the future. Pure: time comes in. */
#ifndef NM_CONTROL_MASTER_CLAIMS_H
#define NM_CONTROL_MASTER_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/wire/codec.h"
#include "control/wire/rows.h"

/* All zero: no phase has begun, and there is no grid. All times by the master's clock. */
struct nm_claims {
	uint64_t interval_ns; /* between points of the grid; 0: there are no rows */
	bool began;	      /* the slave has told that it has begun: */
	uint32_t phase;
	uint64_t begin_ns;		 /* when it was told to */
	double row_s;			 /* where its last row has ended */
	uint64_t n_rows, n_flows, n_tcp; /* messages in the phase */
};

/* The slave has begun a phase that it was told to begin at begin_ns. */
void nm_claims_begin(struct nm_claims *claims, uint32_t phase, uint64_t begin_ns);

/* Each of these functions returns NULL, or a static phrase that says what is wrong. */
const char *nm_claims_row(struct nm_claims *claims, const struct nm_host_interval *row,
			  uint64_t now_ns);
/* rows->at_ns is by the master's clock already. */
const char *nm_claims_flows(struct nm_claims *claims, const struct nm_flow_rows *rows,
			    uint64_t now_ns);
/* The times of the rows are by the master's clock already. */
const char *nm_claims_tcp(struct nm_claims *claims, const struct nm_tcp_rows *rows,
			  uint64_t now_ns);
/* When the flows of a group were in the phase, by the master's clock; a begin of 0: never. */
const char *nm_claims_span(const struct nm_claims *claims, const struct nm_span *span,
			   uint64_t now_ns);
/* run_ns: how long the run has taken until now. The window is by the slave's clock. */
const char *nm_claims_result(const struct nm_msg_result *result, uint64_t run_ns);

/* How late the slave has begun its phase, by the master's clock: after since_ns, when the master
 * did. error_s: how far the clocks may be apart. NAN when the time is impossible: before the order
 * to begin, or in the future. */
double nm_claims_skew(const struct nm_claims *claims, uint64_t since_ns, uint64_t begun_ns,
		      uint64_t now_ns, double error_s);
/* The name of the first counter that is greater in the part than in the whole; NULL: none. */
const char *nm_claims_beyond(const struct nm_counts *part, const struct nm_counts *whole);

#endif
