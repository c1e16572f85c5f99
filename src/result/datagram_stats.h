/* SPDX-License-Identifier: Apache-2.0 */
/* How many messages arrived, were lost or came late over transports that may lose them. */
#ifndef NM_RESULT_DATAGRAM_STATS_H
#define NM_RESULT_DATAGRAM_STATS_H

#include "result/result.h"

/* The messages in one direction. The counts of an end that is lost are not known; to know how many
 * messages were lost takes the counts of both ends. */
struct nm_datagram_direction {
	bool sent_known, received_known;
	bool order_known; /* each that was received had a number: reordered, duplicates, late */
	bool lost_known;
	/* below 0: in an interval in which more came after all than were found missing */
	int64_t lost;
	uint64_t sent, received, reordered, duplicates, late;
	/* as the kernel has moved them: a train of messages (GSO, GRO) is one */
	uint64_t packets_sent, packets_received;
	double received_bits_per_s; /* NaN: not known */
	bool has_jitter;	    /* at least two were received that told when they were sent */
	double jitter_s;	    /* the mean of the estimates of RFC 3550 */
};

/* The messages in both directions, and how many waits were given up. */
struct nm_datagram_stats {
	bool any; /* false: all transports were reliable */
	struct nm_datagram_direction to_slaves, to_master;
	uint64_t timeouts;   /* the master's alone where slaves_known is false */
	uint64_t unanswered; /* passes of the master that have waited in vain: no transactions */
	bool slaves_known;
	double seconds; /* in which they were moved, nm_result_datagrams only */
};

/* The statistics of one phase, all of it. */
void nm_phase_datagrams(const struct nm_result_phase *phase, struct nm_datagram_stats *ret);
/* Of measured phases. */
void nm_result_datagrams(const struct nm_result *result, struct nm_datagram_stats *ret);
/* Whether those have any, for what asks in each row. */
bool nm_result_has_datagrams(const struct nm_result *result);
/* The statistics of one interval, result->intervals[number]. Lost messages are those that the
 * receiving end found missing in it, less those that came after all; not known for messages that
 * are too short for a number. Where a slave has no row for the interval, its counts are not
 * known. */
void nm_interval_datagrams(const struct nm_result *result, size_t number,
			   struct nm_datagram_stats *ret);
/* The messages that one host has received in one of its rows. */
void nm_host_interval_datagrams(const struct nm_host_interval *row,
				struct nm_datagram_direction *ret);

#endif
