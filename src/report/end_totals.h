/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of each end in the measured window, as the reports kv and neper print them. */
#ifndef NM_REPORT_END_TOTALS_H
#define NM_REPORT_END_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result/result.h"

/* The master, or slaves: one, or all of them together. */
struct nm_end_totals {
	bool known;
	double transactions_per_s, sent_bits_per_s, received_bits_per_s;
	uint64_t bytes_received, bytes_mapped;
	uint64_t after_bytes, late_bytes; /* see struct nm_way */
	double after_s, late_s;
};

/* Throughput is bits, not transactions: as the profile says, or else when all the data goes one
 * way. */
bool nm_is_stream(const struct nm_result *result);
struct nm_end_totals nm_master_totals(const struct nm_result *result);
/* Known only when all these slaves have delivered. */
struct nm_end_totals nm_slaves_totals(const struct nm_result *result);
struct nm_end_totals nm_slave_totals(const struct nm_result_host *host);

/* The data that goes one way, by who sends and by who receives it; NaN: not known. A rate is of the
 * bytes and of the time of the end that has counted it. */
struct nm_way {
	double sent_bits_per_s, received_bits_per_s;
	/* the part of what was received that came when the time of the transactions was over, and
	 * for how long it did */
	double after_bytes, after_s;
	/* what came when the window had closed, as the last flows had not yet left; in no rate */
	double late_bytes, late_s;
};
struct nm_ways {
	struct nm_way to_slaves, to_master;
};
void nm_ways_of(const struct nm_result *result, struct nm_ways *ret_ways);
/* Both ways together. */
double nm_ways_sent(const struct nm_ways *ways);
double nm_ways_received(const struct nm_ways *ways);

/* How straight the count of one end grows over the measured time. */
struct nm_linearity {
	size_t samples; /* rows of the grid within the window; without any, the window is one */
	bool known;
	double correlation; /* Pearson's coefficient: both means are taken off */
};
/* host NULL: the master, by its own rows. */
struct nm_linearity nm_linearity_of(const struct nm_result *result,
				    const struct nm_result_host *host);

#endif
