/* SPDX-License-Identifier: Apache-2.0 */
/* Failures and totals of a host's own engine, as it reports them. */
#ifndef NM_CONTROL_SNAPSHOT_H
#define NM_CONTROL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/engine.h"
#include "engine/places.h"
#include "result/result.h"

/* "flowop connect at tcp.xml:12: Connection refused (3 flows)"; `plan` is the engine's. */
void nm_failure_text(const struct nm_engine_error *error, const struct nm_plan *plan,
		     const char *file, char *buf, size_t size);
/* "2 flows of group rr waiting for input in read at tcp.xml:12, and 3 elsewhere"; `plan` is that of
 * the host. */
void nm_places_text(const struct nm_flow_places *places, const struct nm_plan *plan,
		    const char *file, char *buf, size_t size);
/* Whether connections have sent bytes again and again that nothing acknowledges, in segments that
 * the path may drop for their size. */
bool nm_unacked_is_large(const struct nm_unacked *unacked);
/* True for the errors that flows see when it was their peer that failed first. */
bool nm_failure_is_secondary(const struct nm_engine_error *error);
/* The connections of each group as they were in the last measured phase that left any open; their
 * segments go to `cut` where they are smaller than was asked for. */
void nm_connections_read(const struct nm_engine *engine, const struct nm_plan *plan,
			 struct nm_conn_report *ret_report, struct nm_buffers *cut);
/* The counts of each group over all phases: ret_counts[n_groups]. */
void nm_counts_read(const struct nm_engine *engine, const struct nm_plan *plan,
		    struct nm_counts *ret_counts);

#endif
