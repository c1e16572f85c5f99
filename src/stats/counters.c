/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/counters.h"

void nm_counts_collect(struct nm_counts *into, const struct nm_counters *from)
{
	const struct nm_counts now = {
		.iterations = nm_counter_read(&from->iterations),
		.bytes_sent = nm_counter_read(&from->bytes_sent),
		.bytes_received = nm_counter_read(&from->bytes_received),
		.connects = nm_counter_read(&from->connects),
		.accepts = nm_counter_read(&from->accepts),
		.errors = nm_counter_read(&from->errors),
	};

	nm_counts_add(into, &now);
}

void nm_counts_add(struct nm_counts *into, const struct nm_counts *from)
{
	into->iterations += from->iterations;
	into->bytes_sent += from->bytes_sent;
	into->bytes_received += from->bytes_received;
	into->connects += from->connects;
	into->accepts += from->accepts;
	into->errors += from->errors;
}

void nm_counts_subtract(struct nm_counts *into, const struct nm_counts *earlier)
{
	into->iterations -= earlier->iterations;
	into->bytes_sent -= earlier->bytes_sent;
	into->bytes_received -= earlier->bytes_received;
	into->connects -= earlier->connects;
	into->accepts -= earlier->accepts;
	into->errors -= earlier->errors;
}
