/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the JSON document. All return a new reference, or NULL when out of memory. */
#ifndef NM_REPORT_JSON_PARTS_H
#define NM_REPORT_JSON_PARTS_H

#include <jansson.h>

#include "result/datagram_stats.h"

/* null for NULL; bytes that are not UTF-8 become question marks, so a document is always valid. */
json_t *nm_json_text(const char *text);
/* null for "": not known. */
json_t *nm_json_known(const char *text);
json_t *nm_json_real(double value); /* null unless finite */
json_t *nm_json_count(uint64_t value);
/* {"unavailable": why}. */
json_t *nm_json_unavailable(const char *why);
/* Puts all keys of `from` (a reference that is taken) into `into`, returned; NULL if either is. */
json_t *nm_json_join(json_t *into, json_t *from);
/* Appends `item` (taken) to `array`: 0 or -1. */
int nm_json_append(json_t *array, json_t *item);

/* {"messages": ...}; empty when there were none. */
json_t *nm_json_datagrams(const struct nm_datagram_stats *messages);
json_t *nm_json_direction(const struct nm_datagram_direction *way);
json_t *nm_json_window(const struct nm_window *window, const struct nm_percentiles *percentiles);
json_t *nm_json_latency(const struct nm_latency *latency, const struct nm_percentiles *percentiles);
/* json_statistics.c */
/* What a host did for a group in detail: "operations", "strands" where they were kept, and for a
 * slave its "phases". */
json_t *nm_json_group_report(const struct nm_result *result, const struct nm_result_host *host,
			     size_t group);
/* What it did in a transaction: "operations" and "flowops". */
json_t *nm_json_transaction_report(const struct nm_result *result,
				   const struct nm_transaction_report *transaction);
json_t *nm_json_counters(const struct nm_result_host *host);
json_t *nm_json_difference(const struct nm_result *result);
/* What the master knows about transaction k of a group, or NULL. */
const struct nm_transaction_report *nm_master_transaction(const struct nm_result *result,
							  size_t group, size_t k);
json_t *nm_json_host(const struct nm_result *result, const struct nm_result_host *host);

#endif
