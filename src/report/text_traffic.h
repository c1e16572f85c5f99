/* SPDX-License-Identifier: Apache-2.0 */
/* What was sent and received, in the summary for people, and forms of rates that its tables
 * share. */
#ifndef NM_REPORT_TEXT_TRAFFIC_H
#define NM_REPORT_TEXT_TRAFFIC_H

#include <stdint.h>

#include "report/table.h"
#include "result/datagram_stats.h"
#include "result/result.h"

#define NM_TEXT_BYTES 32 /* room for one value */

/* So much in so many seconds, as a rate a second; "-" where there was no time. Returns buf, of
 * NM_TEXT_BYTES, or a constant. */
const char *nm_text_rate(uint64_t count, double seconds, char *buf);
/* Bits a second of a way that need not be used: "-" when nothing has gone there. As above. */
const char *nm_text_way(uint64_t bytes, double seconds, char *buf);

/* A cell for the name of each percentile. */
void nm_text_percentiles(struct nm_table *table, const struct nm_percentiles *percentiles);

/* The percentiles that a row of a table has room for, by their place in the result; fewer when it
 * has not both. */
size_t nm_text_row_percentiles(const struct nm_percentiles *percentiles, size_t ret_places[2]);

/* The throughput of a stream, by who sends and by who receives. */
void nm_text_stream(struct nm_table *table, const struct nm_result *result);
/* The throughput of the master; a direction without data is left out. */
void nm_text_throughput(struct nm_table *table, const struct nm_window *totals);
/* Where messages may be lost, those that arrive count. */
void nm_text_messages(struct nm_table *table, const struct nm_result *result,
		      const struct nm_datagram_stats *messages);
/* How many datagrams there were, where a packet or a transaction has several of them. */
void nm_text_datagrams(struct nm_table *table, const struct nm_datagram_stats *messages);

#endif
